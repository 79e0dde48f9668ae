package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder writes files into a new directory and returns it. Text that begins with "-> " makes a
// symlink.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sample")
	fill(t, dir, files)
	return dir
}

func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			if err := os.Symlink(target, full); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRead checks that a plugin is read from its standard directories and its manifest, with
// either name of the manifest directory.
//
// Proves X-071.
func TestRead(t *testing.T) {
	dir := folder(t, map[string]string{
		".claude-plugin/plugin.json": `{"name": "ignored"}`,
		".adze-plugin/plugin.json": `{"name": "tidy", "version": "1.2.0", "description": "Tidies up.", "author": {"name": "A. Uthor"},
			"repository": {"url": "https://example.org/tidy"}, "keywords": ["a", "b"],
			"skills": "./more/", "commands": ["./cmd/one.md"], "hooks": ["./extra.json", {"Stop": [{"hooks": [{"type": "command", "command": "c"}]}]}],
			"mcpServers": {"inline": {"command": "x"}},
			"userConfig": {"token": {"type": "string", "title": "Token", "sensitive": true, "required": true}, "level": {"type": "number", "default": 3}}}`,
		"skills/a/SKILL.md":    "a",
		"more/b/SKILL.md":      "b",
		"commands/two.md":      "two",
		"cmd/one.md":           "one",
		"agents/x.md":          "x",
		"output-styles/y.md":   "y",
		"hooks/hooks.json":     `{"description": "d", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`,
		"extra.json":           `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}`,
		".mcp.json":            `{"mcpServers": {"main": {"command": "m"}}}`,
		".lsp.json":            `{"go": {"command": "gopls"}}`,
		".git/hooks/post-join": "not part of it",
		"node_modules/x":       "-> /usr",
	})
	p, problems, err := Read(dir, ID{})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	full := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		return all
	}
	hook := func(c string) string { return fmt.Sprintf(`{"hooks":[{"type":"command","command":%q}]}`, c) }
	want := &Plugin{
		ID: ID{Name: "tidy"}, Dir: dir, Hash: p.Hash,
		Manifest: Manifest{Version: "1.2.0", Description: "Tidies up.", Author: "A. Uthor", Repository: "https://example.org/tidy", Keywords: []string{"a", "b"},
			Options: []Option{{Name: "token", Title: "Token", Type: "string", Secret: true, Required: true}, {Name: "level", Type: "number", Default: []byte("3")}}},
		Parts: Parts{
			Skills: full("skills", "more"), Commands: full("cmd/one.md"), Agents: full("agents"), Styles: full("output-styles"),
			Hooks:   []byte(`{"Stop":[` + hook("a") + "," + hook("b") + "," + hook("c") + `]}`),
			Servers: []byte(`{"inline":{"command":"x"},"main":{"command":"m"}}`), Languages: []byte(`{"go":{"command":"gopls"}}`),
		},
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Error(d)
	}
}

// TestReadNames checks that a plugin without a manifest is named after its directory, and that
// a given id overrides both names.
func TestReadNames(t *testing.T) {
	dir := folder(t, map[string]string{"skills/a/SKILL.md": "a"})
	p, _, err := Read(dir, ID{})
	if err != nil || p.Name != "sample" {
		t.Errorf("the plugin is called %v, %v", p, err)
	}
	fill(t, dir, map[string]string{".claude-plugin/plugin.json": `{"name": "other"}`})
	p, problems, err := Read(dir, ID{"mine", "market"})
	if err != nil || p.ID.String() != "mine@market" || len(problems) != 1 {
		t.Errorf("the plugin is called %v, %v, %v", p.ID, problems, err)
	}
	for _, name := range []string{"../up", "a/b", "con", "COM1.x", "-a", "a.", "", "ä", "a b", "a\nb", strings.Repeat("a", 65), "a@b", ".hidden"} {
		if CheckName(name) == nil {
			t.Errorf("%q passes for a name", name)
		}
	}
	for _, name := range []string{"a", "Notion", "a-b_c.d", "1st", "console", "com", "command"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"a", "a@", "@b", "a@b@c", "../a@b"} {
		if id, err := ParseID(text); err == nil {
			t.Errorf("%q is the id %v", text, id)
		}
	}
}

// TestReadSelectedSkills checks that if a manifest names a single skill in the standard
// directory, only that skill is used.
func TestReadSelectedSkills(t *testing.T) {
	dir := folder(t, map[string]string{
		".claude-plugin/plugin.json": `{"name": "some", "skills": ["./skills/a"]}`, "skills/a/SKILL.md": "a", "skills/b/SKILL.md": "b",
	})
	p, _, err := Read(dir, ID{})
	if err != nil || !slices.Equal(p.Skills, []string{filepath.Join(dir, "skills/a/SKILL.md")}) {
		t.Errorf("skills are %v, %v", p, err)
	}
}

// TestReadRefusesEscapes checks that a plugin is refused if its manifest names something
// outside its directory by any route.
//
// Proves X-071.
func TestReadRefusesEscapes(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		field string
		files map[string]string
	}{
		{"parent", `"skills": "../x"`, nil},
		{"parent, back in", `"skills": "./a/../../sample"`, nil},
		{"parent in the middle", `"commands": "./a/../b.md"`, map[string]string{"b.md": "b"}},
		{"absolute", `"commands": ` + fmt.Sprintf("%q", outside), nil},
		{"home", `"agents": "~/x"`, nil},
		{"backslash", `"agents": ".\\..\\x"`, nil},
		{"control characters", `"agents": "./a\nb"`, nil},
		{"empty", `"agents": ""`, nil},
		{"link", `"commands": "./x.md"`, map[string]string{"x.md": "-> " + outside}},
		{"relative link", `"commands": "./x.md"`, map[string]string{"x.md": "-> ../../" + filepath.Base(outside)}},
		{"link to a link", `"commands": "./x.md"`, map[string]string{"x.md": "-> y.md", "y.md": "-> z/w.md", "z/w.md": "-> " + outside}},
		{"linked folder", `"skills": "./s/deep"`, map[string]string{"s": "-> " + filepath.Dir(outside)}},
		{"link in a circle", `"skills": "./s"`, map[string]string{"s": "-> r", "r": "-> s"}},
		{"hooks", `"hooks": "../h.json"`, nil},
		{"linked hooks", `"hooks": "./h.json"`, map[string]string{"h.json": "-> " + outside}},
		{"a server", `"mcpServers": ["./m.json", "/etc/m.json"]`, map[string]string{"m.json": "{}"}},
		{"language servers", `"lspServers": "./../m.json"`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, test.files)
			fill(t, dir, map[string]string{".claude-plugin/plugin.json": `{"name": "bad", ` + test.field + `}`})
			if p, problems, err := Read(dir, ID{}); err == nil {
				t.Errorf("it is read: %+v, %v", p, problems)
			}
		})
	}
}

// TestReadLeavesOutLinkedFolders checks that standard directories that lead out of a plugin, or
// contain a symlink that does, are omitted and reported.
func TestReadLeavesOutLinkedFolders(t *testing.T) {
	outside := t.TempDir()
	fill(t, outside, map[string]string{"SKILL.md": "secret", "hooks.json": `{"hooks": {"Stop": []}}`})
	dir := folder(t, map[string]string{
		"skills/a":         "-> " + outside,
		"commands":         "-> " + outside,
		"agents":           "-> real",
		"real/x.md":        "-> " + outside + "/SKILL.md",
		"output-styles/y":  "y",
		"hooks/hooks.json": "-> " + outside + "/hooks.json",
		".mcp.json":        "-> missing.json",
	})
	p, problems, err := Read(dir, ID{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Parts{Styles: []string{filepath.Join(dir, "output-styles")}}, p.Parts); d != "" {
		t.Errorf("parts that lead out are used:\n%s", d)
	}
	if len(problems) < 6 {
		t.Errorf("problems are %v", problems)
	}
	inside := folder(t, map[string]string{"skills": "-> real", "real/a/SKILL.md": "a", "real/b": "-> a"})
	if p, problems, err := Read(inside, ID{}); err != nil || len(problems) > 0 || len(p.Skills) != 1 {
		t.Errorf("links inside of the plugin are not followed: %+v, %v, %v", p, problems, err)
	}
}

// TestReadBounds checks that oversized files, files of the wrong kind and invalid JSON are
// refused, or omitted with a problem.
func TestReadBounds(t *testing.T) {
	large := strings.Repeat(" ", MaxFile) + "{}"
	for name, test := range map[string]struct {
		files    map[string]string
		problems int
		refused  bool
	}{
		"large manifest":       {map[string]string{".claude-plugin/plugin.json": strings.Repeat(" ", MaxManifest) + `{"name": "x"}`}, 0, true},
		"broken manifest":      {map[string]string{".claude-plugin/plugin.json": `{"name": `}, 0, true},
		"list for a manifest":  {map[string]string{".claude-plugin/plugin.json": `[]`}, 0, true},
		"null for a manifest":  {map[string]string{".claude-plugin/plugin.json": `null`}, 0, true},
		"bad name":             {map[string]string{".claude-plugin/plugin.json": `{"name": "../x"}`}, 0, true},
		"manifest is a folder": {map[string]string{".claude-plugin/plugin.json/x": ""}, 0, true},
		"manifest is a link":   {map[string]string{".claude-plugin/plugin.json": "-> /etc/hostname"}, 1, true},
		"deep manifest":        {map[string]string{".claude-plugin/plugin.json": `{"name": "x", "hooks": ` + strings.Repeat(`[`, 100_000) + `}`}, 0, true},
		"wrong types": {map[string]string{".claude-plugin/plugin.json": `{"name": "x", "version": 1, "skills": {}, "hooks": [1], "keywords": 2,
			"userConfig": {"a-b": {}, "c": 1, "d": {"type": "color"}, "D": {}}, "dependencies": ["y"]}`, "skills/a/SKILL.md": "a"}, 9, false},
		"large servers":     {map[string]string{".claude-plugin/plugin.json": `{"name": "x", "mcpServers": "./x.mcpb"}`, "x.mcpb": large}, 1, false},
		"large hooks":       {map[string]string{"hooks/hooks.json": large}, 1, false},
		"broken hooks":      {map[string]string{"hooks/hooks.json": `{"hooks": {"Stop": 1}}`}, 1, false},
		"broken servers":    {map[string]string{".mcp.json": `{"mcpServers": {"a": 1, "b": {}}}`}, 1, false},
		"plugin is a skill": {map[string]string{".claude-plugin/plugin.json": `{"name": "x", "skills": ["./"]}`, "SKILL.md": "x"}, 1, false},
		"missing folder":    {map[string]string{".claude-plugin/plugin.json": `{"name": "x", "skills": "./none"}`}, 1, false},
		"nested too deep":   {map[string]string{strings.Repeat("a/", maxDepth+2) + "b": ""}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, problems, err := Read(folder(t, test.files), ID{})
			if (err != nil) != test.refused || len(problems) != test.problems {
				t.Errorf("plugin %+v, problems %q, error %v", p, problems, err)
			}
		})
	}
}

// TestHash checks that the hash depends on content, name, executable bit and symlink target.
func TestHash(t *testing.T) {
	dir := folder(t, map[string]string{"a": "1", "b": "-> a"})
	hash := func() string {
		p, _, err := Read(dir, ID{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	seen := []string{hash()}
	for _, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(dir, "a"), []byte("2"), 0o644) },
		func() error { return os.Chmod(filepath.Join(dir, "a"), 0o755) },
		func() error { return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c")) },
		func() error { return os.Remove(filepath.Join(dir, "b")) },
		func() error { return os.Symlink("c", filepath.Join(dir, "b")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		h := hash()
		if slices.Contains(seen, h) {
			t.Errorf("the hash does not match the content: %v", h)
		}
		seen = append(seen, h)
	}
	if err := os.Chmod(filepath.Join(dir, "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if hash() != seen[len(seen)-1] {
		t.Error("the hash depends on who else may read a file")
	}
}

// FuzzManifest checks that for any manifest all paths of a plugin are inside its directory.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{`{"name": "a", "skills": "./skills", "hooks": {"Stop": [{}]}}`, `{"name": "a", "commands": {"x": {"source": "./x.md"}}}`,
		`{"name": "a", "mcpServers": ["../x", {}], "userConfig": {"a": {"type": "number"}}}`, `{"agents": ["/etc", "link/.."]}`, `{"skills": "./link/x"}`} {
		f.Add([]byte(seed))
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	for _, sub := range []string{"skills/a", ".claude-plugin"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, ".claude-plugin/plugin.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, problems, err := Read(dir, ID{Name: "x"})
		if err != nil {
			return
		}
		for _, name := range slices.Concat(p.Skills, p.Commands, p.Agents, p.Styles) {
			real, err := filepath.EvalSymlinks(name)
			if err != nil || real != dir && !strings.HasPrefix(real, dir+string(filepath.Separator)) {
				t.Errorf("%s is outside: %s, %v (%v)", name, real, err, problems)
			}
		}
	})
}

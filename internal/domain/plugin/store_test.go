package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/cachefile/cachefiletest"
)

// install installs files as a plugin.
func install(t *testing.T, s *Store, in Installed, files map[string]string) (*Plugin, error) {
	t.Helper()
	stage, err := s.Stage()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(stage)
	tree := filepath.Join(stage, "tree")
	fill(t, tree, files)
	p, _, err := Read(tree, in.ID)
	if err != nil {
		t.Fatal(err)
	}
	in.Hash, in.At = p.Hash, time.Now()
	if in.Version == "" {
		in.Version = p.Version
	}
	return s.Install(t.Context(), in, tree)
}

// names returns the files and directories in the store.
func names(t *testing.T, s *Store) (all []string) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(s.dir, name); err == nil && rel != "." {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// TestStore checks that a plugin is installed, updated and completely removed, except for its
// data, which is kept by default.
//
// Proves X-071.
func TestStore(t *testing.T) {
	s := OpenStore(t.TempDir())
	if len(names(t, s)) > 0 {
		t.Error("opening the store touches the disk")
	}
	id := ID{"tidy", "team"}
	one, err := install(t, s, Installed{ID: id, Commit: "c1"}, map[string]string{".claude-plugin/plugin.json": `{"name": "tidy", "version": "1"}`, "skills/a/SKILL.md": "a"})
	if err != nil || one.Version != "1" || one.Commit != "c1" || one.Data != s.Data(id) || len(one.Skills) != 1 {
		t.Fatal(one, err)
	}
	fill(t, one.Data, map[string]string{"kept": "by the plugin"})
	two, err := install(t, s, Installed{ID: id, Commit: "c2"}, map[string]string{".claude-plugin/plugin.json": `{"name": "tidy", "version": "2"}`})
	if err != nil || two.Version != "2" {
		t.Fatal(two, err)
	}
	if _, err := os.Stat(filepath.Join(one.Dir, "skills")); err != nil {
		t.Error("sessions that run lose the files of the version before:", err)
	}
	other := ID{"tidy", "other"}
	if _, err := install(t, s, Installed{ID: other}, map[string]string{"skills/a/SKILL.md": "other"}); err != nil {
		t.Fatal(err)
	}
	all := s.Load(other, id, ID{"none", "team"})
	if all[0].Plugin == nil || all[0].Plugin.Hash == two.Hash || all[1].Plugin.Hash != two.Hash || !errors.Is(all[2].Err, ErrNotInstalled) {
		t.Error("loaded are", all)
	}
	for _, id := range []ID{id, other} {
		if err := s.Verify(id); err != nil {
			t.Error(err)
		}
		if err := s.Uninstall(t.Context(), id, false); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, s); !slices.Equal(got, []string{"data", "data/team", "data/team/tidy", "data/team/tidy/kept", "plugins.json"}) {
		t.Error("left are", got)
	}
	if _, err := install(t, s, Installed{ID: id}, map[string]string{"a": "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Uninstall(t.Context(), id, true); err != nil {
		t.Error(err)
	}
	if got := names(t, s); !slices.Equal(got, []string{"plugins.json"}) {
		t.Error("left are", got)
	}
	if err := s.Uninstall(t.Context(), id, true); err == nil {
		t.Error("a plugin can be removed twice")
	}
}

// TestStorePins checks that different content under an installed version is refused, with both
// hashes in the error.
//
// Proves X-071.
func TestStorePins(t *testing.T) {
	s := OpenStore(t.TempDir())
	id := ID{"tidy", "team"}
	source := Source{Kind: Git, At: "https://example.org/x.git"}
	old, err := install(t, s, Installed{ID: id, Version: "1", Commit: "c1", Source: source}, map[string]string{"skills/a/SKILL.md": "good"})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]Installed{
		"version": {ID: id, Version: "1", Commit: "c2", Source: source},
		"commit":  {ID: id, Version: "2", Commit: "c1", Source: source},
	} {
		_, err = install(t, s, in, map[string]string{"skills/a/SKILL.md": "bad"})
		var pin *PinError
		if !errors.As(err, &pin) || pin.Old != old.Hash || !strings.Contains(err.Error(), pin.Old) || !strings.Contains(err.Error(), pin.New) {
			t.Errorf("the same %s with another content: %v", name, err)
		}
	}
	if l := s.Load(id)[0]; l.Err != nil || l.Plugin.Hash != old.Hash {
		t.Error("the old content is not there any more:", l)
	}
	if _, err := install(t, s, Installed{ID: id, Version: "1", Commit: "c3", Source: source}, map[string]string{"skills/a/SKILL.md": "good"}); err != nil {
		t.Error("the same content of another commit is refused:", err)
	}
}

// TestStoreNoticesChanges checks that changed files are detected on load, and added files on
// verification.
//
// Finding S12.
func TestStoreNoticesChanges(t *testing.T) {
	t.Run("read", func(t *testing.T) { testChanges(t, OpenStore(t.TempDir())) })
	s := OpenStore(t.TempDir())
	s.settled, s.few = 0, 0
	t.Run("indexed", func(t *testing.T) { testChanges(t, s) })
}

func testChanges(t *testing.T, s *Store) {
	id := ID{"tidy", "team"}
	files := map[string]string{".claude-plugin/plugin.json": `{"name": "tidy"}`, "hooks/hooks.json": `{"hooks": {"Stop": []}}`, "skills/a/SKILL.md": "a", "bin/run.sh": "good"}
	for name, test := range map[string]struct {
		file, text  string
		whenLoading bool
	}{
		"manifest":    {".claude-plugin/plugin.json", `{"name": "tidy", "mcpServers": {"x": {"command": "evil"}}}`, true},
		"hooks":       {"hooks/hooks.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "evil"}]}]}}`, true},
		"new servers": {".mcp.json", `{"mcpServers": {"x": {"command": "evil"}}}`, true},
		"other":       {".adze-plugin/plugin.json", `{"name": "tidy"}`, true},
		"skill":       {"skills/a/SKILL.md", "b", true},
		"program":     {"bin/run.sh", "evil", true},
		"new file":    {"new", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := install(t, s, Installed{ID: id}, files)
			if err != nil {
				t.Fatal(err)
			}
			s.Load(id)
			s.Close()
			if s.settled == 0 && s.loadIndex() == nil {
				t.Error("no index")
			}
			fill(t, p.Dir, map[string]string{test.file: test.text})
			var changed *ChangedError
			if err := s.Verify(id); !errors.As(err, &changed) {
				t.Error("verifying says", err)
			}
			l := s.Load(id)[0]
			if l.Err == nil && s.settled == 0 { // added files are not checked
				if d := cmp.Diff(p, l.Plugin); d != "" {
					t.Errorf("it is used as it is now:\n%s", d)
				}
			} else if errors.As(l.Err, &changed) != test.whenLoading {
				t.Error("loading says", l.Err)
			}
			if err := s.Uninstall(t.Context(), id, true); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestStoreRefuses checks that a tree is not installed if a symlink leads out of it, it changed
// since it was shown, or names differ only in case.
func TestStoreRefuses(t *testing.T) {
	s := OpenStore(t.TempDir())
	if _, err := install(t, s, Installed{ID: ID{"a", "m"}}, map[string]string{"x": "-> /etc/passwd"}); err == nil {
		t.Error("a link that leads out is installed")
	}
	if _, err := install(t, s, Installed{ID: ID{"a", "m"}}, map[string]string{"x": "-> nowhere"}); err == nil {
		t.Error("a link that leads nowhere is installed")
	}
	stage, err := s.Stage()
	if err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(stage, "tree"), map[string]string{"a": "a"})
	if _, err := s.Install(t.Context(), Installed{ID: ID{"../../a", "m"}, Hash: strings.Repeat("0", 64)}, filepath.Join(stage, "tree")); err == nil {
		t.Error("a name that is a path is installed")
	}
	if _, err := s.Install(t.Context(), Installed{ID: ID{"a", "m"}, Hash: strings.Repeat("0", 64)}, filepath.Join(stage, "tree")); err == nil {
		t.Error("a tree with another hash is installed")
	}
	if _, err := install(t, s, Installed{ID: ID{"a", "m"}}, map[string]string{"a": "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := install(t, s, Installed{ID: ID{"A", "m"}}, map[string]string{"a": "a"}); err == nil {
		t.Error("two names that some systems cannot tell apart are installed")
	}
}

// TestStoreMarkets checks that a marketplace's name can't be taken over by another source, not
// even in different case.
func TestStoreMarkets(t *testing.T) {
	s := OpenStore(t.TempDir())
	one := Market{Name: "team", Source: Source{Kind: Directory, At: "/one"}}
	if err := s.SetMarket(t.Context(), one, ""); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Market{{Name: "team", Source: Source{Kind: Directory, At: "/two"}}, {Name: "Team", Source: one.Source}, {Name: "../x"}} {
		if err := s.SetMarket(t.Context(), m, ""); err == nil {
			t.Errorf("%v takes the name of another", m)
		}
	}
	if _, err := install(t, s, Installed{ID: ID{"a", "team"}}, map[string]string{"a": "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveMarket(t.Context(), "team"); err == nil || !strings.Contains(err.Error(), "a@team") {
		t.Error("a marketplace with plugins is removed:", err)
	}
	if err := s.Uninstall(t.Context(), ID{"a", "team"}, true); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveMarket(t.Context(), "team"); err != nil {
		t.Error(err)
	}
	if all, err := s.Markets(); err != nil || len(all) > 0 {
		t.Error(all, err)
	}
}

// TestStoreCleans checks that the next change removes a killed process's partial stages and
// unused trees, but not a live process's.
func TestStoreCleans(t *testing.T) {
	s := OpenStore(t.TempDir())
	id := ID{"a", "m"}
	p, err := install(t, s, Installed{ID: id}, map[string]string{"a": "a"})
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(s.dir, "tmp", "999999999-X")
	orphan := s.pluginDir(id, strings.Repeat("0", 64))
	for _, dir := range []string{dead, orphan, filepath.Join(s.dir, "cache", "x", "y", "z"), filepath.Join(s.dir, "markets", "m", "t")} {
		fill(t, dir, map[string]string{"sub/file": "x"})
	}
	if err := os.Chmod(filepath.Join(dead, "sub"), 0o500); err != nil {
		t.Fatal(err)
	}
	stage, err := s.Stage()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetMarket(t.Context(), Market{Name: "other", Source: Source{Kind: Directory, At: "/x"}}, ""); err != nil {
		t.Fatal(err)
	}
	rel := func(name string) string { rel, _ := filepath.Rel(s.dir, name); return filepath.ToSlash(rel) }
	got := names(t, s)
	for _, name := range got {
		if strings.Contains(name, "999999999") || strings.HasPrefix(name, "markets") || strings.HasPrefix(name, "cache/x") || name == rel(orphan) {
			t.Error(name, "is still there")
		}
	}
	if !slices.Contains(got, rel(p.Dir)) || !slices.Contains(got, rel(stage)) {
		t.Error("something in use was removed; left are", got)
	}
}

// TestStoreDamaged checks that an unreadable state file is not overwritten and that no plugin
// is loaded.
func TestStoreDamaged(t *testing.T) {
	for _, text := range []string{"{", `{"format": 2}`, `{"format": 1, "installed": {"../x@y": {"hash": "0"}}}`, `{"format": 1, "installed": {"x@y": {"hash": "../../.."}}}`,
		`{"format": 1, "installed": {"x@y": null}}`, `{"format": 1, "marketplaces": {"x": {"tree": "../.."}}}`, `{"format": 1, "installed": {"x@y": {"hash": "0", "former": [{"hash": ".."}]}}}`} {
		s := OpenStore(t.TempDir())
		fill(t, s.dir, map[string]string{"plugins.json": text, "cache/x/y/z": "kept"})
		if l := s.Load(ID{"x", "y"})[0]; l.Err == nil || l.Plugin != nil {
			t.Errorf("%s: loaded is %v", text, l)
		}
		if err := s.SetMarket(t.Context(), Market{Name: "m"}, ""); err == nil {
			t.Errorf("%s: it is changed", text)
		}
		if data, err := os.ReadFile(s.File()); err != nil || string(data) != text {
			t.Errorf("%s: it is %q now, %v", text, data, err)
		}
		if _, err := os.Stat(filepath.Join(s.dir, "cache/x/y/z")); err != nil {
			t.Error(err)
		}
	}
}

// TestStoreConcurrently checks that no change is lost if several processes change the store
// concurrently.
func TestStoreConcurrently(t *testing.T) {
	home := t.TempDir()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			s := OpenStore(home)
			if _, err := install(t, s, Installed{ID: ID{fmt.Sprintf("p%d", n), "m"}}, map[string]string{"a": "a"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if in, err := OpenStore(home).Installed(); err != nil || len(in) != 8 {
		t.Error(in, err)
	}
}

// TestCompare checks that Compare lists additions and changes, and asks about anything that
// runs or is allowed, and about every file of a plugin that runs something.
func TestCompare(t *testing.T) {
	base := map[string]string{
		".claude-plugin/plugin.json": `{"name": "tidy", "version": "1"}`,
		"skills/a/SKILL.md":          "---\ndescription: A\nallowed-tools: Read, Bash(ls:*)\n---\nbody",
		"README.md":                  "read me",
	}
	with := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range []map[string]string{base, more} {
			for name, text := range m {
				all[name] = text
			}
		}
		return all
	}
	read := func(files map[string]string) *Plugin {
		p, _, err := Read(folder(t, files), ID{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	hooks := `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh"}]}]}}`
	for name, test := range map[string]struct {
		old, new map[string]string // nil means no plugin
		asks     string            // part and name that need approval, or empty
		changes  int
	}{
		"same":                  {base, base, "", 0},
		"first":                 {nil, base, "allowed-tools skills/a/SKILL.md", 3},
		"another version":       {base, with(map[string]string{".claude-plugin/plugin.json": `{"name": "tidy", "version": "2"}`}), "", 0},
		"hook":                  {base, with(map[string]string{"hooks/hooks.json": hooks}), `hook PreToolUse Bash: {"type":"command","command":"check.sh"}`, 1},
		"hook in the manifest":  {base, with(map[string]string{".claude-plugin/plugin.json": `{"name": "tidy", "hooks": ` + hooks + `}`}), `hook PreToolUse Bash: {"type":"command","command":"check.sh"}`, 1},
		"no hook any more":      {with(map[string]string{"hooks/hooks.json": hooks}), base, "", 1},
		"program of a hook":     {with(map[string]string{"hooks/hooks.json": hooks, "check.sh": "1"}), with(map[string]string{"hooks/hooks.json": hooks, "check.sh": "2"}), "file check.sh", 1},
		"server":                {base, with(map[string]string{".mcp.json": `{"mcpServers": {"db": {"command": "x"}}}`}), "MCP server db", 1},
		"changed server":        {with(map[string]string{".mcp.json": `{"db": {"command": "x"}}`}), with(map[string]string{".mcp.json": `{"db": {"command": "y"}}`}), "MCP server db", 1},
		"language server":       {base, with(map[string]string{".lsp.json": `{"go": {"command": "x"}}`}), "language server go", 1},
		"wider rules":           {base, with(map[string]string{"skills/a/SKILL.md": "---\ndescription: A\nallowed-tools: Read, Bash(ls:*), Write\n---\nbody"}), "allowed-tools skills/a/SKILL.md", 2},
		"narrower rules":        {base, with(map[string]string{"skills/a/SKILL.md": "---\ndescription: A\nallowed-tools: Read\n---\nbody"}), "skill skills/a/SKILL.md", 2},
		"other words":           {base, with(map[string]string{"skills/a/SKILL.md": "---\ndescription: A\nallowed-tools: Read, Bash(ls:*)\n---\nother"}), "skill skills/a/SKILL.md", 1},
		"embedded command":      {base, with(map[string]string{"skills/a/SKILL.md": "---\ndescription: A\nallowed-tools: Read, Bash(ls:*)\n---\n!`ls /`"}), "embedded commands skills/a/SKILL.md", 2},
		"hooks of a skill":      {base, with(map[string]string{"skills/b/SKILL.md": "---\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x\n---\nbody"}), "hooks of a skill skills/b/SKILL.md", 2},
		"new command":           {base, with(map[string]string{"commands/x.md": "do x"}), "command commands/x.md", 1},
		"new command with rule": {base, with(map[string]string{"commands/x.md": "---\nallowed-tools: Bash\n---\ndo x"}), "allowed-tools commands/x.md", 2},
		"option":                {base, with(map[string]string{".claude-plugin/plugin.json": `{"name": "tidy", "userConfig": {"a": {}}}`}), "option a", 1},
		"program alone":         {map[string]string{"a": "1"}, map[string]string{"a": "2"}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var old *Plugin
			if test.old != nil {
				old = read(test.old)
			}
			d := Compare(old, read(test.new))
			var asks []string
			for _, c := range d.Changes {
				if c.Asks && c.Name != "README.md" {
					asks = append(asks, string(c.Part)+" "+c.Name)
				}
			}
			if test.asks != "" && !slices.Contains(asks, test.asks) || d.Asks() != (test.asks != "") || len(d.Changes) != test.changes {
				t.Errorf("asks about %q, and the changes are %+v", asks, d.Changes)
			}
		})
	}
}

// TestIndex checks that an indexed plugin equals the one read from disk, and that an index with
// other content or for another store state is not used.
func TestIndex(t *testing.T) {
	s := OpenStore(t.TempDir())
	s.settled, s.few = 0, 0
	id := ID{"tidy", "team"}
	p, err := install(t, s, Installed{ID: id, Commit: "c"}, map[string]string{
		".claude-plugin/plugin.json": `{"name": "other", "version": "1", "description": "d", "author": "a", "homepage": "h", "repository": "r", "license": "l", "keywords": ["k"],
			"commands": ["./c.md"], "userConfig": {"o": {"default": [1]}}}`,
		"hooks/hooks.json": `{"hooks": {"Stop": [{}]}}`, ".mcp.json": `{"a": {}}`, ".lsp.json": `{"b": {}}`, "c.md": "", "skills/a/SKILL.md": "", "agents/x": "", "output-styles/y": ""})
	if err != nil {
		t.Fatal(err)
	}
	s.Load(id)
	s.Close()
	x := s.loadIndex()
	if x == nil {
		t.Fatal("no index")
	}
	got := x.plugins[id]
	if d := cmp.Diff(p, got.plugin); d != "" || len(got.problems) != 1 || len(got.stamps) != 8 || !got.holds() {
		t.Errorf("the index has %+v:\n%s", got, d)
	}
	data, err := os.ReadFile(s.IndexFile())
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(data)
	damaged[len(damaged)/2]++
	for _, wrong := range [][]byte{damaged, data[:len(data)-1], nil} {
		if err := os.WriteFile(s.IndexFile(), wrong, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.loadIndex() != nil {
			t.Error("a damaged index is used")
		}
		if l := s.Load(id)[0]; l.Err != nil || !cmp.Equal(l.Plugin, p) {
			t.Error("with a damaged index the files are not read:", l)
		}
		if s.Close(); s.loadIndex() == nil {
			t.Error("a damaged index is not written again")
		}
	}
	if err := s.SetMarket(t.Context(), Market{Name: "m", Source: Source{Kind: Directory, At: "/x"}}, ""); err != nil {
		t.Fatal(err)
	}
	if s.loadIndex() != nil {
		t.Error("an index of another state is used")
	}
	if err := s.Uninstall(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	if l := s.Load(id)[0]; !errors.Is(l.Err, ErrNotInstalled) {
		t.Error("a plugin that was removed is loaded:", l)
	}
}

// TestLateIndex checks that an index written after the store changed is not used.
func TestLateIndex(t *testing.T) {
	s := OpenStore(t.TempDir())
	s.settled, s.few = 0, 0
	id := ID{"tidy", "team"}
	if _, err := install(t, s, Installed{ID: id, Commit: "c"}, map[string]string{".claude-plugin/plugin.json": `{"name": "tidy"}`}); err != nil {
		t.Fatal(err)
	}
	s.Load(id)
	s.Close()
	late, err := os.ReadFile(s.IndexFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Uninstall(t.Context(), id, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.IndexFile(), late, 0o600); err != nil {
		t.Fatal(err)
	}
	if l := s.Load(id)[0]; !errors.Is(l.Err, ErrNotInstalled) {
		t.Error("a plugin that was removed is loaded:", l)
	}
}

// TestKnown checks that indexed plugins are available before their files are checked, and that
// the check before use rejects changed files and accepts files that were only touched.
func TestKnown(t *testing.T) {
	s := OpenStore(t.TempDir())
	defer s.Close()
	s.settled, s.few = 0, 0
	var ids []ID
	for _, name := range []string{"same", "touched", "changed", "gone"} {
		id := ID{name, "team"}
		ids = append(ids, id)
		if _, err := install(t, s, Installed{ID: id}, map[string]string{"hooks/hooks.json": `{"hooks": {"Stop": [{}]}}`}); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.Known(ids...); ok {
		t.Error("plugins are known without an index")
	}
	s.Load(ids...)
	s.Close()
	if _, ok := s.Known(append(ids, ID{"other", "team"})...); ok {
		t.Error("a plugin is known that is not installed")
	}
	known, ok := s.Known(ids...)
	if !ok {
		t.Fatal("the index does not know them")
	}
	file := func(i int) string { return filepath.Join(known[i].Plugin.Dir, "hooks", "hooks.json") }
	later := time.Now().Add(time.Hour)
	if err := errors.Join(os.Chtimes(file(1), later, later), os.WriteFile(file(2), []byte(`{"hooks": {"Stop": [{"type": "command"}]}}`), 0o644), os.RemoveAll(known[3].Plugin.Dir)); err != nil {
		t.Fatal(err)
	}
	wrong := func(i int, err error) bool {
		var changed *ChangedError
		switch i {
		case 2:
			return !errors.As(err, &changed)
		case 3:
			return err == nil || !strings.Contains(err.Error(), "its files are gone")
		}
		return err != nil
	}
	for i, l := range known {
		if l.Err != nil {
			t.Errorf("%s is looked at: %v", l.ID, l.Err)
		}
		if err := s.Check(l.Plugin); wrong(i, err) {
			t.Errorf("a check of %s says %v", l.ID, err)
		}
	}
	loaded := s.Load(ids...)
	for i, l := range loaded {
		if wrong(i, l.Err) {
			t.Errorf("%s is loaded with %v", l.ID, l.Err)
		}
		if err := s.Check(known[i].Plugin); wrong(i, err) {
			t.Errorf("a later check of %s says %v", l.ID, err)
		}
	}
	if loaded[0].Plugin != known[0].Plugin {
		t.Error("an unchanged plugin was loaded again")
	}
	if err := s.Uninstall(t.Context(), ids[1], true); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(known[1].Plugin); !errors.Is(err, ErrNotInstalled) {
		t.Error("Check of a removed plugin:", err)
	}
	if _, err := install(t, s, Installed{ID: ids[2]}, map[string]string{"skills/a/SKILL.md": ""}); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(known[2].Plugin); err == nil {
		t.Error("Check accepts an updated plugin")
	}
}

// BenchmarkLoad loads 300 plugins with hooks and servers: cold without an index, warm with one.
func BenchmarkLoad(b *testing.B) {
	s := OpenStore(b.TempDir())
	var ids []ID
	st := &state{Format: stateFormat, Markets: map[string]*Market{}, Installed: map[string]*Installed{}}
	for n := range 300 {
		id := ID{fmt.Sprintf("plugin-%03d", n), "market"}
		ids = append(ids, id)
		tmp := filepath.Join(b.TempDir(), "x")
		for name, text := range map[string]string{
			".claude-plugin/plugin.json": fmt.Sprintf(`{"name": %q, "version": "1.0.0", "description": "A plugin that does this and that.", "author": {"name": "A"}, "keywords": ["a", "b"]}`, id.Name),
			"hooks/hooks.json":           `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/check.sh"}]}]}}`,
			".mcp.json":                  `{"mcpServers": {"db": {"command": "npx", "args": ["-y", "server"], "env": {"A": "b"}}}}`,
			"skills/a/SKILL.md":          "---\ndescription: a\n---\na", "commands/b.md": "b",
		} {
			full := filepath.Join(tmp, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
				b.Fatal(err)
			}
		}
		hash, digest, err := inspect(tmp, id)
		if err != nil {
			b.Fatal(err)
		}
		to := s.pluginDir(id, hash)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(tmp, to)); err != nil {
			b.Fatal(err)
		}
		st.Installed[id.String()] = &Installed{ID: id, Version: "1.0.0", Hash: hash, Digest: digest, Commit: strings.Repeat("a", 40), Source: Source{Kind: Git, At: "https://example.org/x.git"}, At: time.Now()}
	}
	data, err := json.Marshal(st)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(s.File(), data, 0o600); err != nil {
		b.Fatal(err)
	}
	load := func(b *testing.B, s *Store) {
		for _, l := range s.Load(ids...) {
			if l.Err != nil {
				b.Fatal(l.Err)
			}
		}
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s.Close()
			_ = os.Remove(s.IndexFile()) // ok: it does not exist the first time
			b.StartTimer()
			load(b, s)
		}
	})
	for s.loadIndex() == nil { // wait until the files are old enough to trust their stamps
		load(b, s)
		s.Close()
	}
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			load(b, s)
		}
	})
}

// TestIndexOfAnotherProgram checks that an index written by another adze version is used, but
// that plugins are read again before anything runs. Saving keeps the format.
//
// Proves X-071.
func TestIndexOfAnotherProgram(t *testing.T) {
	s := OpenStore(t.TempDir())
	s.settled, s.few = 0, 0
	id := ID{"tidy", "team"}
	p, err := install(t, s, Installed{ID: id}, map[string]string{
		".claude-plugin/plugin.json": `{"name": "tidy"}`, "hooks/hooks.json": `{"hooks": {"Stop": [{}]}}`})
	if err != nil {
		t.Fatal(err)
	}
	s.Load(id)
	s.Close()
	for _, hooks := range []string{string(p.Hooks), `{"Stop":[{"other":1}]}`} {
		x := s.loadIndex()
		x.plugins[id].plugin.Hooks = json.RawMessage(hooks)
		if err := indexFormat.Save(s.IndexFile(), x.encode()); err != nil {
			t.Fatal(err)
		}
		cachefiletest.Forge(t, indexFormat, s.IndexFile())
		again := OpenStore(filepath.Dir(s.dir))
		again.settled, again.few = 0, 0
		known, ok := again.Known(id)
		if !ok || string(known[0].Plugin.Hooks) != hooks {
			t.Fatalf("it is known as %+v", known)
		}
		if err := again.Check(known[0].Plugin); (err == nil) != (hooks == string(p.Hooks)) {
			t.Errorf("hooks %s: %v", hooks, err)
		}
		if l := again.Load(id)[0]; l.Err != nil || string(l.Plugin.Hooks) != string(p.Hooks) {
			t.Errorf("it is loaded as %+v", l)
		}
		again.Close()
		if x := s.loadIndex(); x == nil || x.foreign {
			t.Error("it is not written again")
		}
	}
	x := &index{plugins: map[ID]indexEntry{id: {plugin: &Plugin{ID: id, Hash: "h", Commit: "c", Dir: "d"}, stamps: []fileStamp{{name: "f"}}, problems: []Problem{{"f", "g", "t"}}}}}
	full := x.plugins[id].plugin
	full.Manifest = Manifest{Version: "v", Description: "d", Author: "a", Homepage: "h", Repository: "r", License: "l", Keywords: []string{"k"}, Options: []Option{{Name: "o", Required: true}}}
	full.Hooks, full.Servers, full.Languages = json.RawMessage("1"), json.RawMessage("2"), json.RawMessage("3")
	full.Skills, full.Commands, full.Agents, full.Styles = []string{"s"}, []string{"c"}, []string{"a"}, []string{"y"}
	if err := indexFormat.Save(s.IndexFile(), x.encode()); err != nil {
		t.Fatal(err)
	}
	const want = "adze plugins 4\n69b5da64101d3e37"
	if got := cachefiletest.Written(t, indexFormat, s.IndexFile()); got != want {
		t.Errorf("the file format has changed: raise the version in the mark, and expect %q here", got)
	}
}

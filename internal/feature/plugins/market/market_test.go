package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/plugin"
	"adze/internal/platform/proc/osproc"
)

// A bench is a store in a new state home that fetches with real git.
type bench struct {
	*Markets
	t     *testing.T
	home  string
	store *plugin.Store
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, home: t.TempDir()}
	b.store = plugin.OpenStore(b.home)
	run := &osproc.Runner{}
	t.Cleanup(run.Close)
	b.Markets = New(Config{Store: b.store, Run: run, Environ: os.Environ, Transport: http.DefaultTransport})
	return b
}

// write writes files into a directory. Text that begins with "-> " makes a symlink, and with
// "#!" a program.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(full), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
			err = os.Symlink(target, full)
		} else if err == nil {
			mode := fs.FileMode(0o644)
			if strings.HasPrefix(text, "#!") {
				mode = 0o755
			}
			err = os.WriteFile(full, []byte(text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// gitIn runs git in a directory and returns its output.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRepository creates a repository with the files, and returns its directory and commit.
func newRepository(t *testing.T, files map[string]string) (dir, commit string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "repo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q")
	return dir, commitFiles(t, dir, files)
}

func commitFiles(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	write(t, dir, files)
	gitIn(t, dir, "add", "-A", "-f")
	gitIn(t, dir, "commit", "-q", "-m", "x", "--allow-empty")
	return gitIn(t, dir, "rev-parse", "HEAD")
}

// list returns the files of a marketplace listing.
func list(plugins ...string) map[string]string {
	return map[string]string{".claude-plugin/marketplace.json": `{"name": "team", "owner": {"name": "The Team"}, "plugins": [` + strings.Join(plugins, ", ") + `]}`}
}

// merge returns the files of all maps.
func merge(all ...map[string]string) map[string]string {
	files := map[string]string{}
	for _, m := range all {
		for name, text := range m {
			files[name] = text
		}
	}
	return files
}

// add adds the marketplace in a directory, as a repository if it is one.
func (b *bench) add(dir string) *Listing {
	b.t.Helper()
	src := plugin.Source{Kind: plugin.Directory, At: dir}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		src.Kind = plugin.Git
	}
	l, err := b.Add(b.t.Context(), src)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// install fetches a plugin from the marketplace team and installs it.
func (b *bench) install(name string) *plugin.Plugin {
	b.t.Helper()
	c, err := b.Fetch(b.t.Context(), plugin.ID{Name: name, Market: "team"})
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := c.Install(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// left returns the remaining staging directories.
func (b *bench) left() []string {
	all, _ := filepath.Glob(filepath.Join(b.home, "plugins", "tmp", "*"))
	return all
}

// TestInstall checks that a plugin is installed from a marketplace in a directory, in a
// repository, and from its own repository, that it is pinned to the commit, and that an update
// lists the changes.
//
// Proves X-071.
func TestInstall(t *testing.T) {
	own, ownCommit := newRepository(t, map[string]string{"sub/dir/.claude-plugin/plugin.json": `{"name": "own", "version": "3"}`, "sub/dir/run.sh": "#!/bin/sh", "sub/dir/link": "-> run.sh", "other": "x"})
	files := merge(list(`{"name": "near", "source": "./plugins/near", "version": "1"}`, fmt.Sprintf(`{"name": "own", "source": {"source": "git-subdir", "url": %q, "path": "sub/dir", "sha": %q}}`, own, ownCommit)),
		map[string]string{"plugins/near/skills/a/SKILL.md": "a"})
	repo, commit := newRepository(t, files)
	for name, dir := range map[string]string{"repository": repo, "directory": filepath.Join(t.TempDir(), "market")} {
		t.Run(name, func(t *testing.T) {
			b, commit := newBench(t), commit
			if name == "directory" {
				write(t, dir, files)
				commit = ""
			}
			l := b.add(dir)
			if l.Name != "team" || l.Owner != "The Team" || len(l.Plugins) != 2 || len(l.Problems) > 0 || l.Commit != commit {
				t.Errorf("the list is %+v", l)
			}
			near := b.install("near")
			if near.Commit != commit || near.Version != "1" || len(near.Skills) != 1 || !strings.HasPrefix(near.Dir, b.home) {
				t.Errorf("installed is %+v", near)
			}
			p := b.install("own")
			if p.Commit != ownCommit || p.Version != "3" {
				t.Errorf("installed is %+v", p)
			}
			info, err := os.Stat(filepath.Join(p.Dir, "link"))
			if err != nil || info.Mode()&0o111 == 0 {
				t.Error("the program is not one:", info, err)
			}
			if _, err := os.Lstat(filepath.Join(p.Dir, "other")); err == nil {
				t.Error("a file outside the plugin was installed")
			}
			if left := b.left(); len(left) > 0 {
				t.Error("left are", left)
			}
		})
	}
}

// TestUpdate checks that an update shows the changes, that a modified version is refused, and
// that installed plugins survive the loss of their marketplace.
//
// Proves X-071.
func TestUpdate(t *testing.T) {
	b := newBench(t)
	repo, _ := newRepository(t, merge(list(`{"name": "tidy", "source": "./tidy"}`), map[string]string{"tidy/.claude-plugin/plugin.json": `{"name": "tidy", "version": "1"}`, "tidy/commands/a.md": "a"}))
	b.add(repo)
	old := b.install("tidy")
	id := old.ID

	update := func() (*Candidate, error) {
		t.Helper()
		if _, err := b.Update(t.Context(), "team"); err != nil {
			t.Fatal(err)
		}
		return b.Fetch(t.Context(), id)
	}
	c, err := update()
	if err != nil || !c.Same || c.Difference.Asks() || len(c.Difference.Changes) > 0 {
		t.Fatalf("nothing changed, but %+v, %v", c, err)
	}
	c.Discard()

	commitFiles(t, repo, map[string]string{"tidy/hooks/hooks.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "evil"}]}]}}`})
	var pin *plugin.PinError
	if _, err := update(); !errors.As(err, &pin) || pin.Old != old.Hash {
		t.Error("another content of version 1:", err)
	}

	commit := commitFiles(t, repo, map[string]string{"tidy/.claude-plugin/plugin.json": `{"name": "tidy", "version": "2"}`})
	c, err = update()
	if err != nil || c.Same || !c.Difference.Asks() || c.Old.Hash != old.Hash || c.Plugin.Version != "2" {
		t.Fatalf("the update is %+v, %v", c, err)
	}
	if l := b.store.Load(id)[0]; l.Err != nil || l.Plugin.Hash != old.Hash {
		t.Error("it is installed before the user agrees:", l)
	}
	p, err := c.Install(t.Context())
	if err != nil || p.Commit != commit || p.Hooks == nil {
		t.Error(p, err)
	}
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Update(t.Context(), "team"); err == nil {
		t.Error("a repository that has gone is fetched")
	}
	if l := b.store.Load(id)[0]; l.Err != nil || l.Plugin.Version != "2" {
		t.Error(l)
	}
	if left := b.left(); len(left) > 0 {
		t.Error("left are", left)
	}
}

// TestPinnedSources checks sources with a branch, tag or commit; if it does not exist, nothing
// is installed.
func TestPinnedSources(t *testing.T) {
	repo, first := newRepository(t, map[string]string{"a": "1"})
	gitIn(t, repo, "tag", "v1")
	second := commitFiles(t, repo, map[string]string{"a": "2"})
	gitIn(t, repo, "branch", "side")
	commitFiles(t, repo, map[string]string{"a": "3"})
	entry := func(name, more string) string {
		return fmt.Sprintf(`{"name": %q, "source": {"source": "url", "url": %q, %s}}`, name, repo, more)
	}
	b := newBench(t)
	market := filepath.Join(t.TempDir(), "market")
	write(t, market, list(entry("tag", `"ref": "v1"`), entry("branch", `"ref": "side"`), entry("sha", `"sha": "`+first+`"`), entry("gone", `"sha": "`+strings.Repeat("0", 39)+`1"`),
		entry("short", `"sha": "`+first[:8]+`"`), entry("no-branch", `"ref": "none"`)))
	b.add(market)
	for name, want := range map[string]string{"tag": first, "branch": second, "sha": first} {
		if p := b.install(name); p.Commit != want {
			t.Errorf("%s is commit %s", name, p.Commit)
		}
	}
	for _, name := range []string{"gone", "short", "no-branch"} {
		if c, err := b.Fetch(t.Context(), plugin.ID{Name: name, Market: "team"}); err == nil {
			t.Errorf("%s is %+v", name, c.Plugin)
		}
	}
	if left := b.left(); len(left) > 0 {
		t.Error("left are", left)
	}
}

// TestEntryAsManifest checks that a marketplace entry replaces a missing manifest, and
// overrides the plugin's own if the entry is not strict.
func TestEntryAsManifest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "market")
	write(t, dir, merge(list(
		`{"name": "docs", "source": "./", "strict": false, "description": "Documents.", "skills": ["./skills/pdf"]}`,
		`{"name": "bare", "source": "./bare", "version": "7", "description": "Bare.", "mcpServers": {"x": {"command": "y"}}}`,
		`{"name": "full", "source": "./full", "version": "7", "mcpServers": {"x": {"command": "y"}}}`,
		`{"name": "out", "source": "./bare", "commands": "../x"}`),
		map[string]string{"skills/pdf/SKILL.md": "pdf", "skills/other/SKILL.md": "other", "bare/a": "a", "full/.claude-plugin/plugin.json": `{"name": "full", "version": "1"}`}))
	b := newBench(t)
	b.add(dir)
	if p := b.install("docs"); p.Description != "Documents." || len(p.Skills) != 1 || filepath.Base(filepath.Dir(p.Skills[0])) != "pdf" {
		t.Errorf("docs is %+v", p)
	}
	if p := b.install("bare"); p.Version != "7" || p.Servers == nil || p.Description != "Bare." {
		t.Errorf("bare is %+v", p)
	}
	if p := b.install("full"); p.Version != "1" || string(p.Servers) != `{"x":{"command":"y"}}` {
		t.Errorf("full is %+v", p)
	}
	write(t, dir, list(`{"name": "bare", "source": "./bare", "version": "7", "description": "Other words.", "keywords": ["x"], "mcpServers": {"x": {"command": "y"}}}`))
	if c, err := b.Fetch(t.Context(), plugin.ID{Name: "bare", Market: "team"}); err != nil || !c.Same {
		t.Errorf("other words of a marketplace are another plugin: %+v, %v", c, err)
	} else {
		c.Discard()
	}
	write(t, dir, list(`{"name": "bare", "source": "./bare", "version": "7", "mcpServers": {"x": {"command": "evil"}}}`, `{"name": "out", "source": "./bare", "commands": "../x"}`))
	var pin *plugin.PinError
	if _, err := b.Fetch(t.Context(), plugin.ID{Name: "bare", Market: "team"}); !errors.As(err, &pin) {
		t.Error("another server under the same version:", err)
	}
	if _, err := b.Fetch(t.Context(), plugin.ID{Name: "out", Market: "team"}); err == nil {
		t.Error("an entry leads out of its plugin")
	}
}

// TestEntryBesideManifest checks that an entry's components are added to the plugin's own, or
// replace them if the entry is not strict.
func TestEntryBesideManifest(t *testing.T) {
	const further = `"commands": ["./more/c.md"], "agents": "./more/a.md", "skills": ["./skills/two", "./more/three"], "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "entry"}]}]},
		"mcpServers": {"x": {"command": "entry"}}`
	files := map[string]string{"commands/own.md": "own", "agents/own.md": "own", "skills/one/SKILL.md": "one", "skills/two/SKILL.md": "two", "more/three/SKILL.md": "three",
		"more/c.md": "c", "more/a.md": "a", "output-styles/s.md": "s", "cmds/d.md": "d", "cmds/e.md": "e"}
	dir := filepath.Join(t.TempDir(), "market")
	write(t, dir, list(`{"name": "plain", "source": "./plain", `+further+`}`, `{"name": "named", "source": "./named", `+further+`}`,
		`{"name": "loose", "source": "./loose", "strict": false, "commands": "./more/c.md"}`, `{"name": "broken", "source": "./broken", `+further+`}`))
	for name, manifest := range map[string]string{
		"plain":  `{"name": "plain", "version": "1"}`,
		"named":  `{"name": "named", "version": "1", "commands": {"x": {"source": "./cmds/d.md"}, "y": {"content": "z"}}, "skills": "./skills/one", "hooks": "./h.json", "mcpServers": {"own": {"command": "own"}}}`,
		"loose":  `{"name": "loose", "version": "3", "commands": ["./cmds"], "userConfig": {"k": {"type": "string"}}, "hooks": "./h.json"}`,
		"broken": `{"name": `,
	} {
		write(t, filepath.Join(dir, name), merge(files, map[string]string{".claude-plugin/plugin.json": manifest, "h.json": `{"Stop": [{"hooks": [{"type": "command", "command": "own"}]}]}`}))
	}
	b := newBench(t)
	b.add(dir)
	shown := func(p *plugin.Plugin) map[string][]string {
		all := map[string][]string{"version": {p.Version}, "hooks": {string(p.Hooks)}, "servers": {string(p.Servers)}}
		for part, paths := range map[string][]string{"skills": p.Skills, "commands": p.Commands, "agents": p.Agents, "styles": p.Styles} {
			for _, path := range paths {
				name, err := filepath.Rel(p.Dir, path)
				if err != nil {
					t.Fatal(err)
				}
				all[part] = append(all[part], filepath.ToSlash(name))
			}
		}
		return all
	}
	const own, entry = `{"hooks":[{"type":"command","command":"own"}]}`, `{"hooks":[{"type":"command","command":"entry"}]}`
	for name, want := range map[string]map[string][]string{
		"plain": {"version": {"1"}, "skills": {"skills", "more/three/SKILL.md"}, "commands": {"commands", "more/c.md"}, "agents": {"agents", "more/a.md"}, "styles": {"output-styles"},
			"hooks": {`{"Stop":[` + entry + `]}`}, "servers": {`{"x":{"command":"entry"}}`}},
		"named": {"version": {"1"}, "skills": {"skills/one/SKILL.md", "skills/two/SKILL.md", "more/three/SKILL.md"}, "commands": {"cmds/d.md", "more/c.md"}, "agents": {"agents", "more/a.md"},
			"styles": {"output-styles"}, "hooks": {`{"Stop":[` + own + `,` + entry + `]}`}, "servers": {`{"own":{"command":"own"},"x":{"command":"entry"}}`}},
		"loose": {"version": {"3"}, "skills": {"skills"}, "commands": {"more/c.md"}, "agents": {"agents"}, "styles": {"output-styles"}, "hooks": {""}, "servers": {""}},
	} {
		p := b.install(name)
		if diff := cmp.Diff(want, shown(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "loose" && len(p.Options) != 1 {
			t.Errorf("the options of loose are %+v", p.Options)
		}
	}
	if _, err := b.Fetch(t.Context(), plugin.ID{Name: "broken", Market: "team"}); err == nil || !strings.Contains(err.Error(), "broken@team: "+filepath.FromSlash("broken/.claude-plugin/plugin.json")+": it is not JSON") {
		t.Error("a plugin whose manifest is broken:", err)
	}
}

// TestURL checks that a listing is fetched from a URL only from the host the user named, within
// limits.
func TestURL(t *testing.T) {
	answer := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	good := list(`{"name": "near", "source": "./near"}`, `{"name": "far", "source": {"source": "github", "repo": "a/b"}}`)[".claude-plugin/marketplace.json"]
	other := httptest.NewServer(answer(good))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/good.json", answer(good))
	mux.HandleFunc("/marked.json", answer("\ufeff"+good))
	mux.Handle("/moved.json", http.RedirectHandler("/good.json", http.StatusFound))
	mux.Handle("/away.json", http.RedirectHandler(other.URL+"/good.json", http.StatusFound))
	mux.Handle("/circle.json", http.RedirectHandler("/circle.json", http.StatusFound))
	mux.HandleFunc("/large.json", answer(`{"name": "team", "plugins": [`+strings.Repeat(" ", maxListing)+`]}`))
	mux.HandleFunc("/deep.json", answer(`{"name": "team", "plugins": `+strings.Repeat("[", 1<<20)))
	mux.HandleFunc("/html.json", answer(`<html>`))
	server := httptest.NewServer(mux)
	defer server.Close()
	for name, works := range map[string]bool{"good": true, "marked": true, "moved": true, "away": false, "circle": false, "large": false, "deep": false, "html": false, "missing": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			src, err := ParseSource(server.URL+"/"+name+".json", "/", "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Add(t.Context(), src); (err == nil) != works {
				t.Error(err)
			} else if err != nil && strings.Contains(err.Error(), b.home) {
				t.Error("the error names a folder that is gone:", err)
			}
			if left := b.left(); len(left) > 0 {
				t.Error("left are", left)
			}
			if !works {
				if all, _ := b.store.Markets(); len(all) > 0 {
					t.Error("known are", all)
				}
				return
			}
			if _, err := b.Listing("team"); err != nil {
				t.Error(err)
			}
			if _, err := b.Fetch(t.Context(), plugin.ID{Name: "near", Market: "team"}); err == nil || !strings.Contains(err.Error(), "only the list") {
				t.Error("a plugin whose files are missing:", err)
			}
			if _, err := b.Update(t.Context(), "team"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestParseSource checks sources as users write them; sources that would make git run something
// else are refused.
//
// Proves X-071.
func TestParseSource(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, merge(map[string]string{"bare/HEAD": "", "empty/x": "", "file": ""}))
	write(t, filepath.Join(dir, "market"), list())
	for text, want := range map[string]plugin.Source{
		"owner/repo":                               {Kind: plugin.Git, At: "https://github.com/owner/repo.git"},
		"owner/repo#v1":                            {Kind: plugin.Git, At: "https://github.com/owner/repo.git", Ref: "v1"},
		"owner/.github":                            {Kind: plugin.Git, At: "https://github.com/owner/.github.git"},
		"https://example.org/x.git":                {Kind: plugin.Git, At: "https://example.org/x.git"},
		"https://example.org/x.git#b":              {Kind: plugin.Git, At: "https://example.org/x.git", Ref: "b"},
		"ssh://git@example.org/x":                  {Kind: plugin.Git, At: "ssh://git@example.org/x"},
		"git@example.org:a/b.git":                  {Kind: plugin.Git, At: "git@example.org:a/b.git"},
		"https://example.org/m.json":               {Kind: plugin.URL, At: "https://example.org/m.json"},
		"http://127.0.0.1:8/m.json":                {Kind: plugin.URL, At: "http://127.0.0.1:8/m.json"},
		"./market":                                 {Kind: plugin.Directory, At: filepath.Join(dir, "market")},
		"~/market":                                 {Kind: plugin.Directory, At: filepath.Join(dir, "market")},
		"./market/.claude-plugin/marketplace.json": {Kind: plugin.Directory, At: filepath.Join(dir, "market")},
		dir + "/bare":                              {Kind: plugin.Git, At: filepath.Join(dir, "bare")},
		"file:///srv/a.git#v1":                     {Kind: plugin.Git, At: filepath.FromSlash("/srv/a.git"), Ref: "v1"},
		"./bare#v1":                                {Kind: plugin.Git, At: filepath.Join(dir, "bare"), Ref: "v1"},
	} {
		if got, err := ParseSource(text, dir, dir); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "--upload-pack=evil", "-x/y", "owner/-x", "owner", "ext::sh -c evil", "fd::17", "git://example.org/x", "http://example.org/x.git", "http://example.org/m.json",
		"file://host/etc", "file://", "file:x", "file:///a?x", "file:///a%0ab", "ftp://example.org/x", "https://user:secret@example.org/x", "https://user@example.org/m.json", "https://-oProxyCommand=evil/x", "ssh://-oProxyCommand=evil/x", "ssh://git@-oProxyCommand=evil/x",
		"ssh://-x@example.org/y", "git@-oProxyCommand=evil:x", "-x@example.org:y", "git@example.org:-x", "ssh://example.org/-x", "https://example.org/x\ny", "a/b#--upload-pack=evil", "a/b#x:y", "a/b#..", "a/b#x y",
		"a/b#+x", "a/b/c", "a/..", "../..", "./empty", "./file", "./none", "./market#v1", "https://", "ssh://", "https:///x", "owner/repo\x00"} {
		if got, err := ParseSource(text, filepath.Join(dir, "empty"), ""); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
		if got, err := ParseSource(text, dir, dir); err == nil && text != "../.." {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestDecodeSource checks sources given as objects in settings and listings; anything beyond
// fetching a repository is refused with a reason.
func TestDecodeSource(t *testing.T) {
	for text, want := range map[string]plugin.Source{
		`{"source": "github", "repo": "a/b", "ref": "v1"}`:               {Kind: plugin.Git, At: "https://github.com/a/b.git", Ref: "v1"},
		`{"source": "git", "url": "https://example.org/x", "path": "p"}`: {Kind: plugin.Git, At: "https://example.org/x", Path: "p"},
		`{"source": "url", "url": "https://example.org/m.json"}`:         {Kind: plugin.URL, At: "https://example.org/m.json"},
		`{"source": "directory", "path": "/srv/market"}`:                 {Kind: plugin.Directory, At: "/srv/market"},
	} {
		if got, err := DecodeSource(json.RawMessage(text), ""); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "project")
	if got, err := DecodeSource(json.RawMessage(`{"source": "directory", "path": "./market"}`), dir); err != nil || got.At != filepath.Join(dir, "market") {
		t.Errorf("a folder of the project is %+v, %v", got, err)
	}
	for _, text := range []string{``, `null`, `1`, `"./x"`, `{}`, `{"source": "npm", "package": "x"}`, `{"source": "archive", "url": "https://example.org/x.zip"}`, `{"source": "command", "command": "evil"}`,
		`{"source": "github", "repo": "../x"}`, `{"source": "url", "url": "ext::sh"}`, `{"source": "url", "url": "--upload-pack=x"}`, `{"source": "directory", "path": "relative"}`,
		`{"source": "git-subdir", "url": "https://example.org/x", "path": "../.."}`, `{"source": "git", "url": "https://example.org/x", "ref": "-x"}`, `{"source": "git", "url": "https://example.org/x", "sha": "abc"}`} {
		if got, err := DecodeSource(json.RawMessage(text), ""); err == nil {
			t.Errorf("%s is %+v", text, got)
		}
	}
}

// TestListing checks that a listing reports plugins that can't be installed, and that an
// unreliable listing is refused.
func TestListing(t *testing.T) {
	l, err := parseListing("m.json", []byte(`{"name": "team", "metadata": {"description": "d", "pluginRoot": "./plugins"}, "plugins": [
		{"name": "a", "source": "x"}, {"name": "A", "source": "./y"}, {"name": "../up", "source": "./y"}, {"name": "b", "source": "../y"}, {"name": "c", "source": {"source": "npm", "package": "c"}},
		{"name": "d", "source": {"source": "url", "url": "file:///etc"}}, {"name": "e", "source": {"source": "directory", "path": "/etc"}}, 1, {"name": "f"}, {"name": "gй", "source": "./x"}]}`), false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range l.Plugins {
		got = append(got, fmt.Sprintf("%s %v", e.Name, e.Refused == nil))
	}
	if want := []string{"a true", "b false", "c false", "d false", "e false", "f false"}; !slices.Equal(got, want) || len(l.Problems) != 4 || l.Find("a").Source() != "./plugins/x" {
		t.Errorf("plugins are %v, problems %v", got, l.Problems)
	}
	for _, text := range []string{``, `[]`, `null`, `{"plugins": []}`, `{"name": "../x", "plugins": []}`, `{"name": "adze-official", "plugins": []}`, `{"name": "Local", "plugins": []}`,
		`{"name": "x"}`, `{"name": "x", "plugins": {}}`, `{"name": "x", "plugins": [` + strings.Repeat(`{"name":"a"},`, maxPlugins) + strings.Repeat(`{"name":"a"},`, 10) + `1]`} {
		if l, err := parseListing("m.json", []byte(text), false); err == nil {
			t.Errorf("%.50s is %+v", text, l)
		}
	}
}

// TestMarketInFolder checks a marketplace in a subdirectory of its repository, and a listing
// with another name.
func TestMarketInFolder(t *testing.T) {
	repo, _ := newRepository(t, map[string]string{
		"tools/.claude-plugin/marketplace.json": list(`{"name": "a", "source": "./a"}`)[".claude-plugin/marketplace.json"],
		"other.json":                            `{"name": "other", "plugins": [{"name": "a", "source": "./tools/a"}]}`,
		"tools/a/x":                             "x",
	})
	b := newBench(t)
	for path, name := range map[string]string{"tools": "team", "tools/.claude-plugin/marketplace.json": "team", "other.json": "other"} {
		src, err := DecodeSource(json.RawMessage(fmt.Sprintf(`{"source": "git", "url": %q, "path": %q}`, repo, path)), "")
		if err != nil {
			t.Fatal(err)
		}
		l, err := b.Add(t.Context(), src)
		if err != nil || l.Name != name {
			t.Fatal(path, l, err)
		}
		c, err := b.Fetch(t.Context(), plugin.ID{Name: "a", Market: name})
		if err != nil {
			t.Fatal(path, err)
		}
		c.Discard()
		if err := b.Remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: repo, Path: "none"}); err == nil {
		t.Error("a folder that is not there is a marketplace")
	}
}

// TestRepositoryTooLarge checks that an oversized repository is refused with its size.
func TestRepositoryTooLarge(t *testing.T) {
	b := newBench(t)
	repo, _ := newRepository(t, list())
	g := b.git()
	g.max = 1
	if _, err := g.fetch(t.Context(), plugin.Source{Kind: plugin.Git, At: repo}, filepath.Join(t.TempDir(), "git")); err == nil || !strings.Contains(err.Error(), "the repository has more than") {
		t.Error(err)
	}
}

// TestCancel checks that a canceled fetch leaves nothing behind.
func TestCancel(t *testing.T) {
	b := newBench(t)
	repo, _ := newRepository(t, list())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Add(ctx, plugin.Source{Kind: plugin.Git, At: repo}); err == nil {
		t.Error("it is added")
	}
	if left := b.left(); len(left) > 0 {
		t.Error("left are", left)
	}
}

// FuzzListing checks that a plugin from any listing has a valid name and a source that is safe
// to pass to git.
func FuzzListing(f *testing.F) {
	f.Add([]byte(list(`{"name": "a", "source": "./x"}`, `{"name": "b", "source": {"source": "url", "url": "https://example.org/x", "ref": "v1"}}`)[".claude-plugin/marketplace.json"]))
	f.Add([]byte(`{"name": "x", "metadata": {"pluginRoot": "../"}, "plugins": [{"name": "a", "source": "b"}, {"name": "c", "source": {"source": "git-subdir", "url": "git@h:p", "path": "./p"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseListing("m.json", data, false)
		if err != nil {
			return
		}
		for _, e := range l.Plugins {
			if err := plugin.CheckName(e.Name); err != nil {
				t.Error(err)
			}
			if e.Refused != nil {
				continue
			}
			if e.relative != "" && !filepath.IsLocal(e.relative) || strings.HasPrefix(e.source.At, "-") || strings.Contains(e.source.At, "::") || strings.HasPrefix(e.source.Ref, "-") || filepath.IsAbs(e.source.At) {
				t.Errorf("%q can be installed: %+v", e.Name, e)
			}
		}
	})
}

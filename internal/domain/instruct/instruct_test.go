//go:build unix

package instruct

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A world is a directory with a project, a user and an administrator.
type world struct {
	t   *testing.T
	top string
}

func newWorld(t *testing.T, files map[string]string) world {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t, top}
	w.write("repo/work/here", "")
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w world) path(name string) string { return filepath.Join(w.top, filepath.FromSlash(name)) }

func (w world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) config() Config {
	return Config{
		Managed: w.path("etc"), User: w.path("home/.adze"), Other: w.path("home/.claude"), Home: w.path("home"),
		Dir: w.path("repo/work"), Root: w.path("repo"),
	}
}

// told formats files as "Kind path reason: text".
func (w world) told(files []File) []string {
	var all []string
	for _, f := range files {
		rel, _ := filepath.Rel(w.top, f.Path)
		all = append(all, f.Kind.String()+" "+filepath.ToSlash(rel)+" "+string(f.Reason)+": "+f.Text)
	}
	return all
}

func (w world) problems(s *Set) string {
	var all []string
	for _, p := range s.Problems() {
		all = append(all, strings.TrimPrefix(p.Path, w.top+"/")+" "+p.Text)
	}
	return strings.Join(all, "\n")
}

// Proves CTX-22.
func TestHierarchy(t *testing.T) {
	w := newWorld(t, map[string]string{
		"etc/ADZE.md": "administrator", "etc/CLAUDE.md": "administrator too",
		"home/.adze/ADZE.md": "user", "home/.claude/CLAUDE.md": "not read",
		"ADZE.md":             "above the repository",
		"repo/AGENTS.md":      "agents",
		"repo/CLAUDE.md":      "claude",
		"repo/ADZE.md":        "adze",
		"repo/ADZE.local.md":  "private above",
		"repo/.adze/ADZE.md":  "adze", // same content as ADZE.md
		"repo/work/CLAUDE.md": "same", "repo/work/AGENTS.md": "same",
		"repo/work/.claude/CLAUDE.md":   "hidden",
		"repo/work/.adze/rules/b.md":    "rule b",
		"repo/work/.adze/rules/a.md":    "rule a",
		"repo/work/.claude/rules/c.md":  "rule c",
		"repo/work/.claude/rules/d.txt": "no rule",
		"repo/work/CLAUDE.local.md":     "private",
		"repo/work/below/CLAUDE.md":     "below",
	})
	var loaded []File
	c := w.config()
	c.Loaded = func(f File) { loaded = append(loaded, f) }
	got := New(c).Load()
	want := []string{
		"Managed etc/ADZE.md session_start: administrator",
		"Managed etc/CLAUDE.md session_start: administrator too",
		"User home/.adze/ADZE.md session_start: user",
		"Project ADZE.md session_start: above the repository",
		"Project repo/ADZE.md session_start: adze",
		"Project repo/CLAUDE.md session_start: claude",
		"Project repo/AGENTS.md session_start: agents",
		"Project repo/work/CLAUDE.md session_start: same",
		"Project repo/work/.claude/CLAUDE.md session_start: hidden",
		"Project repo/work/.adze/rules/a.md session_start: rule a",
		"Project repo/work/.adze/rules/b.md session_start: rule b",
		"Project repo/work/.claude/rules/c.md session_start: rule c",
		"Local repo/ADZE.local.md session_start: private above",
		"Local repo/work/CLAUDE.local.md session_start: private",
	}
	if diff := cmp.Diff(want, w.told(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got, loaded); diff != "" {
		t.Error(diff)
	}

	for _, link := range []string{"repo/work/ADZE.md", "repo/work/AGENTS.md"} {
		os.Remove(w.path(link))
		if err := os.Symlink("CLAUDE.md", w.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, f := range New(w.config()).Load() {
		if f.Text == "same" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("a file and two links to it were read %d times", n)
	}
	if err := os.Remove(w.path("home/.adze/ADZE.md")); err != nil {
		t.Fatal(err)
	}
	if got := w.told(New(w.config()).Load())[2]; got != "User home/.claude/CLAUDE.md session_start: not read" {
		t.Error(got)
	}
}

// TestAboveTheRepository checks that files above the repository are used only if no other user
// can have written them.
func TestAboveTheRepository(t *testing.T) {
	w := newWorld(t, map[string]string{"ADZE.md": "from above"})
	if err := os.Chmod(w.top, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := New(w.config()).Load(); len(got) > 0 {
		t.Errorf("the directory is open to all: %v", w.told(got))
	}
	if err := os.Chmod(w.top, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.path("ADZE.md"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := New(w.config()).Load(); len(got) > 0 {
		t.Errorf("the file is open to all: %v", w.told(got))
	}
}

// Proves CTX-25.
func TestLeftOut(t *testing.T) {
	files := map[string]string{
		"etc/ADZE.md": "administrator", "home/.adze/ADZE.md": "user",
		"repo/ADZE.md": "project", "repo/ADZE.local.md": "private", "repo/work/below/ADZE.md": "below",
		"more/ADZE.md": "more", "more/CLAUDE.local.md": "more private",
	}
	w := newWorld(t, files)
	texts := func(change func(*Config)) string {
		c := w.config()
		c.Extra = []string{w.path("more")}
		change(&c)
		s := New(c)
		all := append(s.Load(), s.Touch(w.path("repo/work/below/f.go"))...)
		var texts []string
		for _, f := range all {
			texts = append(texts, f.Text)
		}
		return strings.Join(texts, ", ")
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"all", func(*Config) {}, "administrator, user, project, private, below"},
		{"withheld", func(c *Config) { c.Withheld = true }, "administrator, user"},
		{"bare", func(c *Config) { c.Bare = true }, "more, more private"},
		{"bare, nothing asked for", func(c *Config) { c.Bare, c.Extra = true, nil }, ""},
		{"excluded", func(c *Config) {
			c.Excludes = []string{"**/repo/ADZE.md", "ADZE.local.md", "[", w.path("home") + "/**"}
		}, "administrator, below"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := texts(tt.change); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Proves CTX-23.
func TestIncludes(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/work/CLAUDE.md": "See @docs/a.md, (@docs/a.md) and @missing.md. Mail me@docs/b.md or @someone.\n`@docs/code.md`\n```\n@docs/code.md\n```\n@picture.png @../../secret @~/notes.md @docs",
		"repo/work/docs/a.md": "a includes @b.md", "repo/work/docs/b.md": "b includes @a.md and @../CLAUDE.md",
		"repo/work/docs/code.md": "code", "repo/work/picture.png": "\x89PNG\x00", "secret": "secret", "home/notes.md": "notes",
		"home/.adze/ADZE.md": "user includes @~/notes.md",
	})
	s := New(w.config())
	want := []string{
		"User home/.adze/ADZE.md", "User home/notes.md", "Project repo/work/CLAUDE.md", "Project repo/work/docs/a.md", "Project repo/work/docs/b.md",
	}
	var got []string
	for _, f := range s.Load() {
		rel, _ := filepath.Rel(w.top, f.Path)
		got = append(got, f.Kind.String()+" "+rel)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantProblems := `repo/work/CLAUDE.md includes missing.md, which cannot be read: no such file or directory
repo/work/picture.png is not a text in UTF-8
repo/work/CLAUDE.md includes ../../secret, which is outside the project and was not approved`
	if diff := cmp.Diff(wantProblems, w.problems(s)); diff != "" {
		t.Error(diff)
	}

	var asked []string
	c := w.config()
	c.Approve = func(path string) bool { asked = append(asked, path); return true }
	files := New(c).Load()
	if !slices.ContainsFunc(files, func(f File) bool { return f.Text == "secret" && f.Parent == w.path("repo/work/CLAUDE.md") }) {
		t.Errorf("%q", w.told(files))
	}
	if diff := cmp.Diff([]string{w.path("secret")}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestIncludesThroughLinks checks that a symlink in the project to a file outside needs the
// same consent as the file.
//
// Proves CTX-23.
func TestIncludesThroughLinks(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/work/CLAUDE.md": "@link.md @inner.md", "secret": "secret", "repo/docs/a.md": "inner"})
	for link, target := range map[string]string{"link.md": "secret", "inner.md": "repo/docs/a.md"} {
		if err := os.Symlink(w.path(target), w.path("repo/work/"+link)); err != nil {
			t.Fatal(err)
		}
	}
	s := New(w.config())
	var texts []string
	for _, f := range s.Load() {
		texts = append(texts, f.Text)
	}
	if diff := cmp.Diff([]string{"@link.md @inner.md", "inner"}, texts); diff != "" {
		t.Error(diff)
	}
	want := []Problem{{
		Path: w.path("repo/work/CLAUDE.md"), Text: "includes link.md, which is outside the project and was not approved", Outside: w.path("secret"),
	}}
	if diff := cmp.Diff(want, s.Problems()); diff != "" {
		t.Error(diff)
	}
}

func TestIncludesEndSomewhere(t *testing.T) {
	files := map[string]string{"repo/work/CLAUDE.md": "@1.md"}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		files["repo/work/"+n+".md"] = "@" + string(n[0]+1) + ".md"
	}
	w := newWorld(t, files)
	s := New(w.config())
	if got := s.Load(); len(got) != 1+maxDepth {
		t.Errorf("%q", w.told(got))
	}
	if !strings.Contains(w.problems(s), "more than 5 files away") {
		t.Error(w.problems(s))
	}
}

// Proves CTX-24.
func TestConditionalRules(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/.adze/rules/go.md":    "---\npaths: \"*.go, work/*.mod\"\nother: x\n---\nGo rule",
		"repo/.adze/rules/list.md":  "---\npaths:\n  - work/ui/**\n  - '!*.css'\n---\nlist rule",
		"repo/.adze/rules/flow.md":  "---\npaths: [\"*.{ts,tsx}\"]\n---\nflow rule",
		"repo/.adze/rules/bad.md":   "---\npaths: [\"[z-a]\"]\n---\nnever",
		"repo/.adze/rules/none.md":  "---\npaths:\n---\nnever either",
		"repo/.adze/rules/open.md":  "---\npaths: x\nnever closed",
		"repo/.adze/rules/plain.md": "---\ndescription: x\n---\nalways",
		"repo/work/ui/a.tsx":        "", "repo/work/ui/a.css": "", "repo/work/m.go": "", "repo/work/x.mod": "",
	})
	s := New(w.config())
	want := []string{
		"Project repo/.adze/rules/open.md session_start: ---\npaths: x\nnever closed",
		"Project repo/.adze/rules/plain.md session_start: always",
	}
	if diff := cmp.Diff(want, w.told(s.Load())); diff != "" {
		t.Error(diff)
	}
	for _, problem := range []string{"rules/bad.md pattern", "rules/none.md paths in the front matter", "rules/open.md the front matter is not closed"} {
		if !strings.Contains(w.problems(s), problem) {
			t.Errorf("%q is not among\n%s", problem, w.problems(s))
		}
	}
	for _, step := range []struct {
		touch string
		want  []string
	}{
		{"repo/work/ui/a.css", nil},
		{"elsewhere/m.go", nil},
		{"repo/work/m.go", []string{"Project repo/.adze/rules/go.md path_glob_match: Go rule"}},
		{"repo/work/x.mod", nil}, // already active
		{"repo/work/ui/a.tsx", []string{
			"Project repo/.adze/rules/flow.md path_glob_match: flow rule",
			"Project repo/.adze/rules/list.md path_glob_match: list rule",
		}},
	} {
		if diff := cmp.Diff(step.want, w.told(s.Touch(w.path(step.touch)))); diff != "" {
			t.Errorf("%s: %s", step.touch, diff)
		}
	}
	if got := s.Load(); len(got) != 2 || len(s.Touch(w.path("repo/work/m.go"))) != 1 {
		t.Errorf("after another start: %q", w.told(got))
	}
}

func TestNestedDirectories(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/work/a/CLAUDE.md": "a", "repo/work/a/b/c/AGENTS.md": "c", "repo/work/a/b/c/CLAUDE.local.md": "c, private",
		"repo/work/a/b/c/.claude/rules/x.md": "---\npaths: '*.x'\n---\nx", "repo/work/a/b/c/f.x": "",
		"repo/work/sub/.git/HEAD": "", "repo/work/sub/CLAUDE.md": "of another repository", "repo/work/sub/deep/CLAUDE.md": "deep in it",
		"outside/CLAUDE.md": "outside", "repo/other/CLAUDE.md": "beside",
	})
	if err := os.Symlink(w.path("outside"), w.path("repo/work/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.path("outside/CLAUDE.md"), w.path("repo/work/a/b/ADZE.md")); err != nil {
		t.Fatal(err)
	}
	s := New(w.config())
	s.Load()
	for _, step := range []struct {
		touch string
		want  []string
	}{
		{"repo/work/here", nil},
		{"repo/work/sub/deep/f", nil},
		{"repo/work/link/f", nil},
		{"repo/other/f", nil},
		{"repo/work/a/b/c/f.x", []string{
			"Project repo/work/a/CLAUDE.md nested_traversal: a",
			"Project repo/work/a/b/c/AGENTS.md nested_traversal: c",
			"Local repo/work/a/b/c/CLAUDE.local.md nested_traversal: c, private",
			"Project repo/work/a/b/c/.claude/rules/x.md path_glob_match: x",
		}},
		{"repo/work/a/b/c/f.x", nil},
	} {
		if diff := cmp.Diff(step.want, w.told(s.Touch(w.path(step.touch)))); diff != "" {
			t.Errorf("%s: %s", step.touch, diff)
		}
	}
	if !strings.Contains(w.problems(s), "leads out of the project") {
		t.Error(w.problems(s))
	}
}

func TestBadFiles(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	w := newWorld(t, map[string]string{
		"repo/work/ADZE.md":          strings.Repeat(line, 10<<20/len(line)),
		"repo/work/CLAUDE.md":        strings.Repeat(line, 500),
		"repo/work/AGENTS.md":        "text \x00 binary",
		"repo/work/.adze/ADZE.md":    "latin \xe9\xe8 text",
		"repo/work/.adze/rules/e.md": " \n",
	})
	if err := os.Mkdir(w.path("repo/work/ADZE.local.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(w.path("repo/work/CLAUDE.local.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.write("repo/work/.claude", "a file where a directory is looked for")
	s := New(w.config())
	got := s.Load()
	if len(got) != 2 {
		t.Fatalf("%d files", len(got))
	}
	if n := len(got[0].Text); n > maxSize+len(cutMark) || n < maxSize-200 || !strings.HasSuffix(got[0].Text, "x"+cutMark) {
		t.Errorf("%d bytes, ending in %q", n, got[0].Text[n-60:])
	}
	want := `repo/work/ADZE.md is longer than 200000 characters; the rest is left out
repo/work/CLAUDE.md has 50000 characters, all of which are sent with every request
repo/work/AGENTS.md is not a text in UTF-8
repo/work/.adze/ADZE.md is not a text in UTF-8
repo/work/CLAUDE.local.md is not a regular file`
	if diff := cmp.Diff(want, w.problems(s)); diff != "" {
		t.Error(diff)
	}
}

func TestChanges(t *testing.T) {
	w := newWorld(t, map[string]string{
		"repo/CLAUDE.md": "one", "repo/work/ADZE.local.md": "private", "repo/work/a/CLAUDE.md": "nested", "repo/work/a/f": "",
		"repo/.adze/rules/f.md": "---\npaths: f\n---\nrule", "repo/.adze/rules/g.md": "---\npaths: g\n---\nwaits",
	})
	s := New(w.config())
	s.Load()
	s.Touch(w.path("repo/work/a/f"))
	if got := s.Changes(); got != nil {
		t.Errorf("nothing changed: %v", got)
	}
	w.write("repo/CLAUDE.md", "two")
	w.write("repo/work/a/CLAUDE.md", "nested two")
	w.write("repo/.adze/rules/f.md", "---\npaths: f\n---\nrule two")
	w.write("repo/.adze/rules/g.md", "---\npaths: g\n---\nwaits still")
	w.write("repo/work/AGENTS.md", "new")
	if err := os.Remove(w.path("repo/work/ADZE.local.md")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.Changes() {
		line := w.told([]File{c.File})[0]
		if c.Gone {
			line += " (gone)"
		}
		got = append(got, line)
	}
	want := []string{
		"Project repo/CLAUDE.md changed: two",
		"Local repo/work/ADZE.local.md session_start: private (gone)",
		"Project repo/work/a/CLAUDE.md changed: nested two",
		"Project repo/.adze/rules/f.md changed: rule two",
		"Project repo/work/AGENTS.md session_start: new",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := s.Changes(); got != nil {
		t.Errorf("nothing changed since: %v", got)
	}
	if got := w.told(s.Touch(w.path("repo/work/g"))); len(got) != 1 || !strings.HasSuffix(got[0], "waits still") {
		t.Errorf("%q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("---\npaths: [a, \"b\"]\n---\n@x `@y`\n```\n@z\n```")
	f.Add("---\npaths:\n- {a,b}\n")
	f.Fuzz(func(t *testing.T, text string) {
		front, body, err := splitFront(text)
		if err == nil && len(body) > len(text) || front.paths != nil && !front.conditional {
			t.Errorf("%+v %q", front, body)
		}
		for _, name := range references(text) {
			if name == "" || !strings.Contains(text, "@"+name) {
				t.Errorf("%q", name)
			}
		}
	})
}

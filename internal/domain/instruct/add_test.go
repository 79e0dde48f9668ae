//go:build unix

package instruct

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/fs/replace"
)

// offered lists places as "Kind path", with notes about new ones.
func (w world) offered(s *Set) []string {
	var all []string
	for _, p := range s.Places() {
		rel, _ := filepath.Rel(w.top, p.Path)
		text := p.Kind.String() + " " + filepath.ToSlash(rel)
		if p.New {
			text += " new"
		}
		if p.Keeps != "" {
			rel, _ := filepath.Rel(w.top, p.Keeps)
			text += " keeps " + rel
		}
		all = append(all, text)
	}
	return all
}

func (w world) link(to, name string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(w.path(to), w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// Proves CTX-26.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		files  map[string]string
		links  map[string]string // keyed by name
		change func(*Config)
		want   []string
	}{
		{"nothing yet", nil, nil, nil, []string{"Project repo/AGENTS.md new", "User home/.adze/ADZE.md new"}},
		{
			"one of each",
			map[string]string{
				"repo/CLAUDE.md": "a", "repo/work/AGENTS.md": "b", "repo/.adze/ADZE.md": "c", "repo/.adze/rules/style.md": "d",
				"home/.adze/ADZE.md": "e", "repo/work/CLAUDE.local.md": "f", "etc/ADZE.md": "g",
			}, nil, nil,
			[]string{"Project repo/CLAUDE.md", "Project repo/.adze/ADZE.md", "Project repo/work/AGENTS.md", "User home/.adze/ADZE.md", "Local repo/work/CLAUDE.local.md"},
		},
		{
			"files of other programs stay unchanged", map[string]string{"repo/.claude/CLAUDE.md": "a", "home/.claude/CLAUDE.md": "b"}, nil, nil,
			[]string{"Project repo/AGENTS.md new", "User home/.adze/ADZE.md new keeps home/.claude/CLAUDE.md"},
		},
		{
			"also through links", map[string]string{"repo/.claude/x.md": "a", "home/.claude/CLAUDE.md": "b"},
			map[string]string{"repo/AGENTS.md": "repo/.claude/x.md", "home/.adze/ADZE.md": "home/.claude/CLAUDE.md"}, nil, nil,
		},
		{
			"also through the folder", map[string]string{"home/.claude/x": ""}, map[string]string{"home/.adze": "home/.claude"}, nil,
			[]string{"Project repo/AGENTS.md new"},
		},
		{
			"a link in the project", map[string]string{"repo/docs/rules.md": "a"}, map[string]string{"repo/AGENTS.md": "repo/docs/rules.md"}, nil,
			[]string{"Project repo/AGENTS.md", "User home/.adze/ADZE.md new"},
		},
		{
			"a link out of the project", map[string]string{"else/rules.md": "a"}, map[string]string{"repo/AGENTS.md": "else/rules.md"}, nil,
			[]string{"User home/.adze/ADZE.md new"},
		},
		{
			"empty and excluded", map[string]string{"repo/AGENTS.md": "", "home/.adze/ADZE.md": "x"}, nil,
			func(c *Config) { c.Excludes = []string{"**/ADZE.md"} }, []string{"Project repo/AGENTS.md"},
		},
		{
			"not to be written as an include", map[string]string{"home/.claude of me/CLAUDE.md": "a"}, nil,
			func(c *Config) { c.Other += " of me" }, []string{"Project repo/AGENTS.md new"},
		},
		{"withheld", map[string]string{"repo/AGENTS.md": "a"}, nil, func(c *Config) { c.Withheld = true }, []string{"User home/.adze/ADZE.md new"}},
		{"bare", map[string]string{"repo/AGENTS.md": "a"}, nil, func(c *Config) { c.Bare = true }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.files)
			for name, to := range tt.links {
				w.link(to, name)
			}
			c := w.config()
			if tt.change != nil {
				tt.change(&c)
			}
			if diff := cmp.Diff(tt.want, w.offered(New(c))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlacesOfAWorktree checks that a project inside another program's directory is still a
// project.
func TestPlacesOfAWorktree(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/.claude/worktrees/one/AGENTS.md": "a"})
	c := w.config()
	c.Root = w.path("repo/.claude/worktrees/one")
	c.Dir, c.User = c.Root, ""
	if diff := cmp.Diff([]string{"Project repo/.claude/worktrees/one/AGENTS.md"}, w.offered(New(c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves CTX-26, CTX-21.
func TestAdd(t *testing.T) {
	for _, tt := range []struct{ name, file, before, want string }{
		{"new", "repo/AGENTS.md", "", "use tabs\n"},
		{"with an end of line", "repo/AGENTS.md", "one\n", "one\nuse tabs\n"},
		{"without", "repo/AGENTS.md", "one", "one\nuse tabs\n"},
		{"of Windows", "repo/AGENTS.md", "one\r\ntwo", "one\r\ntwo\r\nuse tabs\r\n"},
		{"of the user", "home/.adze/ADZE.md", "", "@~/.claude/CLAUDE.md\n\nuse tabs\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"home/.claude/CLAUDE.md": "theirs"})
			if tt.before != "" {
				w.write(tt.file, tt.before)
			}
			s := New(w.config())
			s.Load()
			if err := s.Add(t.Context(), replace.New(w.path("locks")), w.path(tt.file), "use tabs"); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(tt.want, "~", w.path("home"))
			if got, err := os.ReadFile(w.path(tt.file)); err != nil || string(got) != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
			if changes := s.Changes(); len(changes) != 1 || changes[0].Path != w.path(tt.file) || !strings.HasSuffix(changes[0].Text, "use tabs") {
				t.Errorf("changes %v", changes)
			}
		})
	}
}

// TestAddThroughALink checks that a symlink is preserved, and its target keeps its permissions.
func TestAddThroughALink(t *testing.T) {
	w := newWorld(t, map[string]string{"repo/docs/rules.md": "a\n"})
	w.link("repo/docs/rules.md", "repo/AGENTS.md")
	if err := os.Chmod(w.path("repo/docs/rules.md"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := New(w.config()).Add(t.Context(), replace.New(w.path("locks")), w.path("repo/AGENTS.md"), "b"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(w.path("repo/AGENTS.md")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link: %v, %v", info.Mode(), err)
	}
	info, err := os.Stat(w.path("repo/docs/rules.md"))
	text, _ := os.ReadFile(w.path("repo/docs/rules.md"))
	if err != nil || info.Mode().Perm() != 0o640 || string(text) != "a\nb\n" {
		t.Errorf("%v, %v, %q", info.Mode(), err, text)
	}
}

func TestAddRefuses(t *testing.T) {
	full := strings.Repeat("x", maxSize-3)
	w := newWorld(t, map[string]string{"repo/AGENTS.md": full, "home/.claude/CLAUDE.md": "theirs"})
	s, files := New(w.config()), replace.New(w.path("locks"))
	for name, want := range map[string]string{
		"home/.claude/CLAUDE.md": "is not a file of instructions that can be added to",
		"repo/README.md":         "is not a file of instructions that can be added to",
		"repo/AGENTS.md":         "it would have 200003 characters, but only the first 200000 are read",
	} {
		if err := s.Add(t.Context(), files, w.path(name), "line"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, _ := os.ReadFile(w.path("home/.claude/CLAUDE.md")); string(text) != "theirs" {
		t.Errorf("%q", text)
	}
}

package agentdef

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A tree is a directory of test files.
type tree struct {
	t   testing.TB
	dir string
}

func newTree(t testing.TB) tree {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree{t, dir}
}

func (w tree) path(name string) string { return filepath.Join(w.dir, name) }

func (w tree) write(name, text string) string {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w tree) agent(path, name, description string) string {
	return w.write(path, "---\nname: "+name+"\ndescription: "+description+"\n---\nDo it.")
}

func (w tree) library(roots ...Root) *Library {
	return NewLibrary(Config{Roots: func() []Root { return roots }})
}

func describe(s *Set) (lines []string) {
	for _, d := range s.Definitions {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", d.Name, d.Description, d.Source))
	}
	return lines
}

// TestFolders checks that subdirectories of an agents directory hold agents too, except for
// symlinks, hidden and very deep ones.
//
// Proves AGENT-20.
func TestFolders(t *testing.T) {
	w := newTree(t)
	for _, path := range []string{"agents/a.md", "agents/team/b.md", "agents/team/web/c.md", "agents/.hidden/d.md", "agents/1/2/3/4/5/6/e.md", "elsewhere/f.md"} {
		w.agent(path, strings.TrimSuffix(filepath.Base(path), ".md"), "x")
	}
	for link, to := range map[string]string{"agents/linked": "elsewhere", "agents/team/back": "agents"} {
		if err := os.Symlink(w.path(to), w.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	root := Root{Path: w.path("agents"), Source: Source{Kind: User}}
	l := NewLibrary(Config{Roots: func() []Root { return WithFolders(root) }})
	if diff := cmp.Diff([]string{"a", "b", "c"}, l.Set().Names()); diff != "" {
		t.Error(diff)
	}
	w.agent("agents/team/late.md", "late", "x")
	if diff := cmp.Diff([]string{"a", "b", "c", "late"}, l.Refresh().Names()); diff != "" {
		t.Error(diff)
	}
	if roots := WithFolders(Root{Path: w.path("missing")}); len(roots) != 1 {
		t.Errorf("of a folder that is missing: %v", roots)
	}
}

// Proves AGENT-20.
func TestLibraryOrder(t *testing.T) {
	w := newTree(t)
	roots := []Root{
		{Path: w.path("managed"), Source: Source{Kind: Managed}}, {Path: w.path("user"), Source: Source{Kind: User}},
		{Path: w.path("near"), Source: Source{Kind: Project}}, {Path: w.path("far"), Source: Source{Kind: Project}},
		{Path: w.path("plugin"), Source: Source{Plugin, "p@m"}, Prefix: "p:"},
	}
	extra := []*Definition{{Name: "a", Description: "built in"}}
	for i, dir := range []string{"plugin", "user", "far", "near", "flag", "managed"} {
		if dir == "flag" {
			extra = append(extra, &Definition{Name: "a", Description: dir, Source: Source{Kind: Flag}})
		} else {
			w.agent(dir+"/file.md", "a", dir)
		}
		l := NewLibrary(Config{Roots: func() []Root { return roots }, Extra: func() []*Definition { return extra }})
		got := l.Set().Get("a")
		if dir == "plugin" {
			if got.Description != "built in" || l.Set().Get("p:a").Description != "plugin" {
				t.Errorf("got %v", describe(l.Set()))
			}
			continue
		}
		if got.Description != dir || len(l.Set().Shadowed) != i {
			t.Errorf("%s: got %v and %d others", dir, describe(l.Set()), len(l.Set().Shadowed))
		}
	}
}

// TestLibraryProblems checks that problems with a file are reported and do not affect other
// files.
//
// Proves AGENT-20.
func TestLibraryProblems(t *testing.T) {
	w := newTree(t)
	outside := newTree(t)
	w.agent("project/.adze/agents/good.md", "good", "is good")
	w.write("project/.adze/agents/README.md", "What these are.")
	w.write("project/.adze/agents/notes.txt", "not looked at")
	w.write("project/.adze/agents/large.md", strings.Repeat("x", MaxFile+1))
	w.agent("project/shared/linked.md", "linked", "is inside")
	for link, target := range map[string]string{
		"inside.md": w.path("project/shared/linked.md"), "outside.md": outside.agent("x.md", "outside", "is outside"),
		"secret.md": outside.write("key", "secret"), "nothing.md": w.path("nowhere"),
	} {
		if err := os.Symlink(target, w.path("project/.adze/agents/"+link)); err != nil {
			t.Fatal(err)
		}
	}
	outside.agent("agents/y.md", "y", "is outside")
	if err := os.MkdirAll(w.path("project/.claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside.path("agents"), w.path("project/.claude/agents")); err != nil {
		t.Fatal(err)
	}
	in := func(dir string) Root {
		return Root{Path: w.path("project/" + dir + "/agents"), Source: Source{Kind: Project}, Within: w.path("project")}
	}
	set := w.library(in(".adze"), in(".claude")).Set()
	want := []string{"good: is good, the project", "linked: is inside, the project"}
	if diff := cmp.Diff(want, describe(set)); diff != "" {
		t.Error(diff)
	}
	var problems []string
	for _, p := range set.Problems {
		problems = append(problems, strings.ReplaceAll(p.Error(), w.dir+"/", ""))
	}
	want = []string{
		"project/.adze/agents/README.md: not an agent: it has no front matter with name and description",
		"project/.adze/agents/large.md: it cannot be read: it is larger than 1048576 bytes",
		"project/.adze/agents/outside.md: it is a link that leads out of project; it is not used",
		"project/.adze/agents/secret.md: it is a link that leads out of project; it is not used",
		"project/.claude/agents: it is a link that leads out of project; it is not used",
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
}

// TestLibraryChange checks that a changed file is noticed, and that unchanged definitions stay
// the same value.
func TestLibraryChange(t *testing.T) {
	w := newTree(t)
	w.agent("agents/a.md", "a", "first")
	file := w.agent("agents/b.md", "b", "first")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	l := w.library(Root{Path: w.path("agents"), Source: Source{Kind: User}})
	first := l.Set()
	if l.Refresh() != first {
		t.Error("the set changed although nothing did")
	}
	w.agent("agents/b.md", "b", "second")
	if l.Set().Get("b").Description != "first" {
		t.Error("the disk was looked at twice within a second")
	}
	second := l.Refresh()
	if second.Get("b").Description != "second" || second.Get("a") != first.Get("a") {
		t.Errorf("got %v", describe(second))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if l.Refresh().Get("b") != nil {
		t.Error("it is still there")
	}
}

func TestLibraryLooksAgain(t *testing.T) {
	w := newTree(t)
	synctest.Test(t, func(t *testing.T) {
		l := w.library(Root{Path: w.path("agents"), Source: Source{Kind: User}})
		if len(l.All()) != 0 {
			t.Fatal("there are agents")
		}
		w.agent("agents/a.md", "a", "new")
		time.Sleep(pollEvery)
		if l.Set().Get("a") == nil {
			t.Error("it was not found")
		}
	})
}

func TestUnknown(t *testing.T) {
	s := &Set{Definitions: []*Definition{{Name: "Explore"}, {Name: "Plan"}}}
	want := `unknown agent "explor"; there are Explore, Plan; did you mean Explore?`
	if got := s.Unknown("explor").Error(); got != want {
		t.Errorf("got %s", got)
	}
}

// BenchmarkLibrary reads 1,000 files, and rescans them.
func BenchmarkLibrary(b *testing.B) {
	w := newTree(b)
	old := time.Now().Add(-time.Hour)
	for i := range 1000 {
		path := w.write(fmt.Sprintf("agents/a%d.md", i), fmt.Sprintf("---\nname: a%d\ndescription: does what it is told\ntools: Read, Grep\n---\n%s", i, strings.Repeat("Do it well. ", 100)))
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	root := Root{Path: w.path("agents"), Source: Source{Kind: User}}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if n := len(w.library(root).All()); n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		l := w.library(root)
		for b.Loop() {
			l.Refresh()
		}
	})
}

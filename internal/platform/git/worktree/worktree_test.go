package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Proves AGENT-30.
func TestEnds(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, tree *Tree)
		kept string // part of the note; empty means removed
	}{
		{"nothing", func(*world, *Tree) {}, ""},
		{"an ignored file", func(w *world, tree *Tree) { w.write("r/.adze/worktrees/one/x.env", "1") }, ""},
		{"an untracked file", func(w *world, tree *Tree) { w.write("r/.adze/worktrees/one/new", "1") }, "1 uncommitted change"},
		{"a changed file", func(w *world, tree *Tree) { w.write("r/.adze/worktrees/one/f", "1") }, "1 uncommitted change"},
		{"a removed file", func(w *world, tree *Tree) { os.Remove(filepath.Join(tree.Path, "f")) }, "1 uncommitted change"},
		{"a commit", func(w *world, tree *Tree) { w.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "x") }, "1 new commit"},
		{"a commit on another branch", func(w *world, tree *Tree) {
			w.git(tree.Path, "checkout", "-q", "-b", "other")
			w.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "x")
		}, "1 new commit"},
		{"a commit on no branch, and back", func(w *world, tree *Tree) {
			w.git(tree.Path, "checkout", "-q", "--detach")
			w.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "x")
			w.git(tree.Path, "checkout", "-q", tree.Branch)
		}, "1 new commit"},
		{"a commit that was taken back", func(w *world, tree *Tree) {
			w.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "x")
			w.git(tree.Path, "reset", "-q", "--hard", "HEAD~1")
		}, "1 new commit"},
		{"a status that hides files", func(w *world, tree *Tree) {
			w.git("r", "config", "status.showUntrackedFiles", "no")
			w.write("r/.adze/worktrees/one/new", "1")
		}, "1 uncommitted change"},
		{"locked", func(w *world, tree *Tree) { w.git("r", "worktree", "lock", "--reason", "on\x1b[1m a stick", tree.Path) }, "locked: on [1m a stick"},
		{"removed under the agent", func(w *world, tree *Tree) { os.RemoveAll(tree.Path) }, ""},
		{"removed under the agent, with commits", func(w *world, tree *Tree) {
			w.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "x")
			os.RemoveAll(tree.Path)
		}, "its commits are on branch worktree-one"},
		{"its .git removed", func(w *world, tree *Tree) { os.Remove(filepath.Join(tree.Path, ".git")) }, "is kept"},
		{"a program in the settings", func(w *world, tree *Tree) { w.git("r", "config", "core.fsmonitor", "touch /tmp/never") }, "is kept"},
		{"a back step", func(w *world, tree *Tree) {
			w.git("r", "commit", "-q", "--allow-empty", "-m", "x")
			w.git(tree.Path, "merge", "-q", "main")
			w.git(tree.Path, "reset", "-q", "--hard", tree.Base)
		}, "1 new commit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.repository("r")
			tree := w.create(w.trees(), Options{Name: "one", For: Agent})
			if tree.Path != w.path("r/.adze/worktrees/one") || tree.Branch != "worktree-one" || w.read("r/.adze/worktrees/one/f") != "a\n" {
				t.Fatalf("%+v", tree)
			}
			if s := w.git("r", "status", "--porcelain"); s != "" {
				t.Errorf("the main copy has %q", s)
			}
			tt.do(w, tree)
			kept, note, err := tree.Finish(t.Context())
			if tt.name == "its .git removed" || tt.name == "a program in the settings" {
				if err == nil {
					t.Error("no error for an unknown state")
				}
			} else if err != nil {
				t.Error(err)
			}
			if kept != (tt.kept != "") || !strings.Contains(note, tt.kept) {
				t.Errorf("kept %v, note %q, want %q", kept, note, tt.kept)
			}
			if strings.ContainsAny(note, "\x1b") {
				t.Errorf("the note steers a terminal: %q", note)
			}
			if !kept {
				w.none("r")
			} else if tt.name != "removed under the agent, with commits" && !exists(tree.Path) {
				t.Error("it is gone")
			}
		})
	}
}

// Proves AGENT-30.
func TestHookMakesIt(t *testing.T) {
	w := newWorld(t)
	w.write("plain/x", "")
	w.write("made/x", "")
	answer, removed := w.path("made"), ""
	trees := w.trees(func(c *Config) {
		c.Make = func(_ context.Context, name string) (string, error) { return answer, nil }
		c.BeforeRemove = func(_ context.Context, path string) error { removed = path; return os.RemoveAll(path) }
	})
	tree := w.create(trees, Options{Dir: "plain", Name: "one", For: Agent})
	if !tree.ByHook || tree.Path != w.path("made") {
		t.Errorf("%+v", tree)
	}
	if kept, note, err := tree.Finish(t.Context()); !kept || err != nil || !strings.Contains(note, w.path("made")) {
		t.Errorf("kept %v, %q, %v", kept, note, err)
	}
	if _, err := tree.Remove(t.Context(), Keep); err != nil || removed != w.path("made") {
		t.Errorf("removed %q, %v", removed, err)
	}
	for _, answer = range []string{"relative", w.path("nowhere"), w.path("plain/x"), w.path("plain") + "\n" + w.path("plain")} {
		if _, err := trees.Create(t.Context(), Options{Dir: w.path("plain"), Name: "two"}); err == nil {
			t.Errorf("%q was taken", answer)
		}
	}
	trees.cfg.Make = func(context.Context, string) (string, error) { return "", errors.New("no room") }
	if _, err := trees.Create(t.Context(), Options{Dir: w.path("plain"), Name: "two"}); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Error(err)
	}
}

// Proves AGENT-30.
func TestFiveAtOnce(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		all.Go(func() {
			tree, err := trees.Create(t.Context(), Options{Dir: w.path("r"), Name: name, For: Agent, Sparse: []string{"sub"}})
			if err != nil {
				t.Error(err)
				return
			}
			if w.read("r/.adze/worktrees/"+name+"/sub/g") != "b\n" {
				t.Errorf("%s is not whole", name)
			}
			if kept, note, err := tree.Finish(t.Context()); kept || err != nil {
				t.Errorf("%s: kept %v, %q, %v", name, kept, note, err)
			}
		})
	}
	all.Wait()
	w.none("r")
	if n := strings.Count(w.read("r/.git/info/exclude"), "/.adze/worktrees\n"); n != 1 {
		t.Errorf("it is excluded %d times", n)
	}
}

// TestMerged checks that commits that another branch has do not count as lost, except if that
// is another worktree's branch.
//
// Proves AGENT-30, AGENT-32.
func TestMerged(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	one, two := w.create(trees, Options{Name: "one"}), w.create(trees, Options{Name: "two"})
	w.write("r/.adze/worktrees/one/new", "")
	w.git(one.Path, "add", "new")
	w.git(one.Path, "commit", "-qm", "work")
	w.git(two.Path, "merge", "-q", "worktree-one")
	for _, tree := range []*Tree{one, two} {
		if s, err := tree.State(t.Context()); err != nil || s.String() != "1 new commit" {
			t.Errorf("%s: %v, %v", tree.Name, s, err)
		}
		if _, err := tree.Remove(t.Context(), Keep); err == nil {
			t.Errorf("%s was removed with unsaved work", tree.Name)
		}
	}
	w.git("r", "merge", "-q", "worktree-one")
	for _, tree := range []*Tree{one, two} {
		if s, err := tree.State(t.Context()); err != nil || s.String() != "merged, 1 new commit" || !s.Clean() {
			t.Errorf("%s: %v, %v", tree.Name, s, err)
		}
		if _, err := tree.Remove(t.Context(), Keep); err != nil {
			t.Error(err)
		}
	}
	w.none("r")
}

func TestOneNameAtOnce(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	var all sync.WaitGroup
	made := make(chan *Tree, 5)
	for range 5 {
		all.Go(func() {
			if tree, err := trees.Create(t.Context(), Options{Dir: w.path("r"), Name: "one"}); err == nil {
				made <- tree
			}
		})
	}
	all.Wait()
	if len(made) != 1 {
		t.Fatalf("%d were made", len(made))
	}
	if kept, note, err := (<-made).Finish(t.Context()); kept || err != nil {
		t.Errorf("kept %v, %q, %v", kept, note, err)
	}
	w.none("r")
}

// Proves AGENT-30.
func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "agent-0123abcd", "A.b_c-d", strings.Repeat("x", 64), randomName()} {
		if err := CheckName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "a..b", "../x", "/etc", "a/b", `a\b`, "-x", ".x", "x.", "x.lock", "x.LOCK", "a b", "a\nb", "é", "a\x00", "C:x", strings.Repeat("x", 65), "a~1", "a@{0}"} {
		if CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
		w := newWorld(t)
		if _, err := w.trees().Create(t.Context(), Options{Dir: w.base, Name: name}); name != "" && (err == nil || !strings.Contains(err.Error(), "name")) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Proves AGENT-30.
func TestRepositories(t *testing.T) {
	tests := []struct {
		name string
		dir  string // start directory; empty means r
		make func(w *world)
		want string // part of the error; empty means success
	}{
		{"dirty", "", func(w *world) { w.write("r/f", "changed"); w.write("r/new", ""); w.git("r", "add", "new") }, ""},
		{"detached", "", func(w *world) { w.git("r", "checkout", "-q", "--detach") }, ""},
		{"below", "r/sub", func(w *world) {}, ""},
		{"another worktree", "tree/sub", func(w *world) { w.git("r", "worktree", "add", "-q", "../tree") }, ""},
		{"shallow", "r", func(w *world) {
			w.rename("r", "whole")
			w.git(".", "clone", "-q", "--depth=1", "file://"+w.path("whole"), "r")
		}, ""},
		{"submodules", "", func(w *world) {
			w.repository("lib")
			w.git("r", "submodule", "add", "-q", w.path("lib"), "lib")
			w.git("r", "commit", "-qm", "lib")
		}, ""},
		{"a name with spaces", "r s/ü", func(w *world) { w.rename("r", "r s"); w.write("r s/ü/x", "") }, ""},
		{"a checkout hook", "", func(w *world) {
			w.write("r/.git/hooks/post-checkout", "#!/bin/sh\ntouch "+w.path("ran"))
			os.Chmod(w.path("r/.git/hooks/post-checkout"), 0o755)
		}, ""},

		{"none", "plain", func(w *world) { w.write("plain/x", "") }, "not in a git repository"},
		{"no commit", "empty", func(w *world) { w.write("empty/x", ""); w.git("empty", "init", "-q") }, "no commit yet"},
		{"bare", "r.git", func(w *world) { w.git(".", "clone", "-q", "--bare", "r", "r.git") }, "bare"},
		{"a worktree of a bare one", "tree", func(w *world) {
			w.rename("r", "whole")
			w.git(".", "clone", "-q", "--bare", "whole", "r.git")
			w.git("r.git", "worktree", "add", "-q", "../tree")
		}, "core.bare"},
		{"in a submodule", "r/lib", func(w *world) {
			w.repository("lib")
			w.git("r", "submodule", "add", "-q", w.path("lib"), "lib")
		}, "is a submodule"},
		{"a filter", "", func(w *world) { w.git("r", "config", "filter.x.smudge", "touch "+w.path("ran")) }, "filter.x.smudge"},
		{"a monitor", "", func(w *world) { w.git("r", "config", "core.fsmonitor", "touch "+w.path("ran")) }, "core.fsmonitor"},
		{"a partial clone", "", func(w *world) { w.git("r", "config", "remote.x.promisor", "true") }, "promisor"},
		{"the folder is a link", "", func(w *world) { w.link("home", "r/.adze/worktrees") }, "is not a directory"},
		{"the folder above is a link", "", func(w *world) { w.link("home", "r/.adze") }, "is not a directory"},
		{"the folder is a file", "", func(w *world) { w.write("r/.adze/worktrees", "") }, "is not a directory"},
		{"the place is taken", "", func(w *world) { w.write("r/.adze/worktrees/one/x", "") }, "exists already"},
		{"the branch is taken", "", func(w *world) { w.git("r", "branch", "worktree-one") }, "a branch worktree-one already"},
		{"a branch is in the way", "", func(w *world) { w.git("r", "branch", "worktree-one/x") }, "worktree-one"},
		{"a newline", "r\ns", func(w *world) { w.rename("r", "r\ns") }, "git"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.repository("r")
			tt.make(w)
			dir := tt.dir
			if dir == "" {
				dir = "r"
			}
			head := ""
			if tt.want == "" {
				head = w.git(dir, "rev-parse", "HEAD")
			}
			before := w.tree()
			tree, err := w.trees().Create(t.Context(), Options{Dir: w.path(dir), Name: "one", For: Agent})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				if diff := cmp.Diff(before, w.tree()); diff != "" {
					t.Errorf("something is left: %s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tree.Base != head || w.git(tree.Path, "status", "--porcelain") != "" {
				t.Errorf("%+v", tree)
			}
			if kept, note, err := tree.Finish(t.Context()); kept || err != nil {
				t.Errorf("kept %v, %q, %v", kept, note, err)
			}
			if exists(w.path("ran")) {
				t.Error("a program of the repository ran")
			}
			if diff := cmp.Diff(before, w.tree()); diff != "" {
				t.Errorf("something is left: %s", diff)
			}
		})
	}
}

// tree returns the names of all files, except files that are created once and kept.
func (w *world) tree() (all []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.base, func(path string, d os.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, w.base)
		switch {
		case err != nil:
			return err
		case rel == "/state", d.IsDir() && d.Name() == "logs", d.IsDir() && d.Name() == "worktrees" && strings.Contains(rel, ".git/"):
			return filepath.SkipDir
		}
		all = append(all, rel)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) rename(from, to string) {
	w.t.Helper()
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(target, name string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink(w.path(target), w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// Proves AGENT-30.
func TestReadOnlyDisk(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may write everywhere: a file stands in the way instead")
	}
	w := newWorld(t)
	w.repository("r")
	w.write("r/.git/worktrees", "") // git cannot create its entry
	before := w.tree()
	_, err := w.trees().Create(t.Context(), Options{Dir: w.path("r"), Name: "one"})
	if err == nil || !strings.Contains(err.Error(), "git worktree") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestRemove(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	tree := w.create(trees, Options{Name: "one"})
	w.write("r/.adze/worktrees/one/new\x1b", "")
	w.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "work")
	_, err := tree.Remove(t.Context(), Keep)
	var c *ChangedError
	if !errors.As(err, &c) || c.State.FileCount != 1 || c.State.CommitCount != 1 || !strings.Contains(err.Error(), "work") || !strings.Contains(err.Error(), `?? "new\x1b"`) || strings.Contains(err.Error(), "\x1b") {
		t.Fatalf("%q", err)
	}
	if note, err := tree.Remove(t.Context(), Discard); err != nil || note != "" {
		t.Errorf("%q, %v", note, err)
	}
	w.none("r")
	if _, err := tree.Remove(t.Context(), Discard); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	tree := w.create(trees, Options{Name: "one"})
	if _, err := trees.Open(t.Context(), w.path("r"), "one"); err == nil || !strings.Contains(err.Error(), "in use by this process") {
		t.Error(err)
	}
	if got := trees.List(t.Context(), tree.Path); len(got) != 1 || got[0].User != "this process" || got[0].Path != tree.Path || got[0].Err != nil {
		t.Errorf("%+v", got)
	}
	if err := tree.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := w.trees().Open(t.Context(), w.path("r/sub"), "one")
	if err != nil || again.Path != tree.Path || again.Base != tree.Base {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := again.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(tree.Path); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if _, err := trees.Open(t.Context(), w.path("r"), name); !errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.git("r", "worktree", "prune")
	w.git("r", "worktree", "add", "-q", ".adze/worktrees/other")
	if got := trees.List(t.Context(), w.path("r")); len(got) != 2 || !got[0].State.Gone || got[1].Name != "other" || got[1].Err == nil || got[1].Branch != "other" {
		t.Errorf("%+v", got)
	}
}

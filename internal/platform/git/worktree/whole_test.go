package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
)

// killed simulates the death of the process.
type killed struct{}

// runUntil calls f and stops it at a step, with an error or as kill -9 would. It returns the
// number of steps.
func runUntil(trees *Manager, at int, kill bool, f func() error) (steps int, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			err = errors.New("killed")
		}
		trees.step = nil
	}()
	stopped := false
	trees.step = func(name string) error {
		if steps++; steps <= at || stopped && !kill {
			return nil
		}
		if stopped = true; kill {
			panic(killed{})
		}
		return fmt.Errorf("no luck with %s", name)
	}
	return steps, f()
}

// maxChecks limits the number of cases, each of which runs git several dozen times.
const maxChecks = 25

// TestWholeOrNothing checks that after any failure, or if the process is killed anywhere, there
// is a complete worktree or nothing.
//
// Proves AGENT-30.
func TestWholeOrNothing(t *testing.T) {
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		if checks++; checks > maxChecks {
			return
		}
		w := newWorld(t)
		w.repository("r")
		if rapid.Bool().Draw(rt, "dirty") {
			w.write("r/f", "changed")
			w.git("r", "add", "f")
		}
		if rapid.Bool().Draw(rt, "detached") {
			w.git("r", "checkout", "-q", "--detach")
		}
		w.write("r/node_modules/x", "")
		w.write("r/x.env", "")
		o := Options{Dir: w.path("r"), Name: "one", For: Agent}
		if rapid.Bool().Draw(rt, "links") {
			o.Links = []string{"node_modules"}
		}
		if rapid.Bool().Draw(rt, "sparse") {
			o.Sparse = []string{"sub"}
		}
		if rapid.Bool().Draw(rt, "include") {
			w.write("r/.worktreeinclude", "*.env\n")
		}
		if rapid.Bool().Draw(rt, "submodule") {
			w.repository("lib")
			w.git("r", "submodule", "add", "-q", w.path("lib"), "lib")
			w.git("r", "commit", "-qm", "lib")
		}
		before := w.tree()
		kill := rapid.Bool().Draw(rt, "kill")
		trees := w.trees()
		var tree *Tree
		_, err := runUntil(trees, rapid.IntRange(0, 14).Draw(rt, "step"), kill, func() (err error) {
			tree, err = trees.Create(t.Context(), o)
			return err
		})
		trees.alive = func(owner) bool { return false }
		if err != nil && kill {
			if _, err := trees.Sweep(t.Context(), o.Dir); err != nil {
				rt.Fatal(err)
			}
		}
		if err != nil {
			w.none("r")
			if diff := cmp.Diff(before, w.tree()); diff != "" {
				rt.Fatalf("something is left: %s", diff)
			}
			return
		}
		if w.git(tree.Path, "fsck", "--no-dangling") != "" || w.git(tree.Path, "rev-parse", "HEAD") != tree.Base {
			rt.Fatal("it is not whole")
		}
		kill = rapid.Bool().Draw(rt, "kill removal")
		_, err = runUntil(trees, rapid.IntRange(0, 20).Draw(rt, "step of removal"), kill, func() error {
			_, err := tree.Remove(t.Context(), Keep)
			return err
		})
		if _, err := trees.Sweep(t.Context(), o.Dir); err != nil {
			rt.Fatal(err)
		}
		if exists(tree.Path) {
			if err == nil {
				rt.Fatal("it was not removed")
			}
			if got := w.git(tree.Path, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD"); got != tree.Base+"\nrefs/heads/worktree-one" {
				rt.Fatalf("it is not whole: %s", got)
			}
			if _, err := tree.Remove(t.Context(), Keep); err != nil {
				rt.Fatal(err)
			}
		}
		w.none("r")
		if diff := cmp.Diff(before, w.tree()); diff != "" {
			rt.Fatalf("something is left: %s", diff)
		}
	})
}

// TestBranchIsNotForgotten checks that a branch that git fails to delete is deleted by the next
// process.
//
// Proves AGENT-30.
func TestBranchIsNotForgotten(t *testing.T) {
	for _, command := range []string{"git rev-parse --verify --quiet refs/heads", "git update-ref"} {
		w := newWorld(t)
		w.repository("r")
		trees := w.trees()
		tree := w.create(trees, Options{Name: "one", For: Agent})
		trees.step = func(name string) error {
			if strings.HasPrefix(name, command) && !exists(tree.Path) {
				return errors.New("no luck")
			}
			return nil
		}
		if _, err := tree.Remove(t.Context(), Keep); err == nil {
			t.Errorf("%s failed without an error", command)
		}
		trees.step, trees.alive = nil, func(owner) bool { return false }
		if _, err := trees.Sweep(t.Context(), w.path("r")); err != nil {
			t.Error(err)
		}
		w.none("r")
	}
}

// TestKilled checks that the next process cleans up after a process that is killed while git
// creates a worktree.
//
// Proves AGENT-30.
func TestKilled(t *testing.T) {
	for _, at := range []string{"checkout", "beginning"} {
		t.Run(at, func(t *testing.T) {
			w := newWorld(t)
			w.repository("r")
			w.write("r/.gitattributes", "f filter=slow\n")
			w.git("r", "add", ".")
			w.git("r", "commit", "-qm", "attributes")
			before := w.tree()
			if at == "checkout" { // a user's filter that never ends
				w.write("home/.gitconfig", w.read("home/.gitconfig")+"[filter \"slow\"]\n\tsmudge = \"echo $$ > "+w.path("pid")+"; exec sleep 1000\"\n")
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ADZE_TEST_MAKE="+w.base, "ADZE_TEST_AT="+at)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for n := 0; !strings.HasSuffix(w.read("pid"), "\n") && n < 6000; n++ {
				time.Sleep(10 * time.Millisecond)
			}
			cmd.Process.Kill()
			cmd.Wait()
			w.killFilter()
			if left := w.traces("r"); len(left) < 3 {
				t.Fatalf("it was not begun: %q", left)
			}
			trees := w.trees()
			tree := w.create(trees, Options{Name: "one"})
			if w.read("r/.adze/worktrees/one/f") != "a\n" {
				t.Error("it is not whole")
			}
			if _, err := tree.Remove(t.Context(), Keep); err != nil {
				t.Error(err)
			}
			w.none("r")
			if diff := cmp.Diff(before, w.tree()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// killFilter kills a leftover filter and the git that runs it, as the reaper does, and removes
// the filter.
func (w *world) killFilter() {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.read("pid")))
	if err != nil {
		w.t.Fatal(err)
	}
	if pid > 0 {
		if group, err := exec.Command("ps", "-o", "pgid=", "-p", strconv.Itoa(pid)).Output(); err == nil { // may already have exited
			exec.Command("sh", "-c", "kill -KILL -"+strings.TrimSpace(string(group))).Run() // ok: as above
		}
	}
	os.Remove(w.path("pid"))
	text, _, _ := strings.Cut(w.read("home/.gitconfig"), "[filter")
	w.write("home/.gitconfig", text)
}

// makeUntilKilled starts to create a worktree and never finishes.
func makeUntilKilled(base, at string) {
	environ := []string{"HOME=" + filepath.Join(base, "home"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	trees := New(Config{Run: &osproc.Runner{}, Records: filepath.Join(base, "state"), Judge: gitrepo.New(gitrepo.Config{Environ: func() []string { return environ }})})
	trees.step = func(name string) error {
		if at == "beginning" && strings.HasPrefix(name, "git worktree add") {
			halfMade(base)
			time.Sleep(time.Hour)
		}
		return nil
	}
	trees.Create(context.Background(), Options{Dir: filepath.Join(base, "r"), Name: "one", For: Agent})
}

// halfMade creates the state left by a git that is killed before it has written the worktree's
// path.
func halfMade(base string) {
	dir := filepath.Join(base, "r/.git/worktrees/one")
	os.MkdirAll(dir, 0o755)
	os.WriteFile(filepath.Join(dir, "locked"), []byte("initializing"), 0o644)
	exec.Command("git", "-C", filepath.Join(base, "r"), "branch", "worktree-one").Run()
	os.WriteFile(filepath.Join(base, "pid"), []byte("0\n"), 0o644)
}

package worktree

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Proves AGENT-32.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	age := func(name string, days int) {
		t.Helper()
		err := trees.change(t.Context(), w.path("r"), name, func(r *record) error {
			r.Used, r.Owner = time.Now().AddDate(0, 0, -days), owner{}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"old", "young", "edited", "committed", "locked", "gone", "used", "unpushed", "merged", "remade"} {
		w.create(trees, Options{Name: name, For: Agent})
		age(name, 31)
	}
	age("young", 29)
	age("merged", 0)
	age("remade", 0)
	w.create(trees, Options{Name: "session", For: Session})
	age("session", 300)
	at := func(name string) string { return w.path("r/.adze/worktrees/" + name) }
	w.write("r/.adze/worktrees/edited/f", "x")
	w.git(at("committed"), "commit", "-q", "--allow-empty", "-m", "x")
	for _, name := range []string{"merged", "remade"} {
		w.write("r/.adze/worktrees/"+name+"/"+name, "x")
		w.git(at(name), "add", name)
		w.git(at(name), "commit", "-q", "-m", name)
		w.git("r", "merge", "-q", "-m", "merge", "worktree-"+name)
	}
	w.write("r/.adze/worktrees/remade/more", "x")
	w.git("r", "worktree", "lock", at("locked"))
	if err := os.RemoveAll(at("gone")); err != nil {
		t.Fatal(err)
	}
	used, err := trees.Open(t.Context(), w.path("r"), "used")
	if err != nil {
		t.Fatal(err)
	}
	err = trees.change(t.Context(), w.path("r"), "used", func(r *record) error { r.Used = time.Now().AddDate(-1, 0, 0); return nil })
	if err != nil {
		t.Fatal(err)
	}
	// No other branch has the worktree's first commit any more.
	w.git(at("unpushed"), "commit", "-q", "--allow-empty", "-m", "alone")
	tip := w.git(at("unpushed"), "rev-parse", "HEAD")
	err = trees.change(t.Context(), w.path("r"), "unpushed", func(r *record) error { r.Base = tip; return nil })
	if err != nil {
		t.Fatal(err)
	}

	removed, err := w.trees().Sweep(t.Context(), w.path("r/sub"))
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"gone", "merged", "old"}, removed); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]bool{"old": false, "young": true, "edited": true, "committed": true, "locked": true, "gone": false, "used": true, "session": true, "unpushed": true, "merged": false, "remade": true} {
		if exists(at(name)) != want {
			t.Errorf("%s: it should be there: %v", name, want)
		}
		if branch, err := w.command("r", "rev-parse", "--verify", "--quiet", "worktree-"+name).Output(); (err == nil) != want {
			t.Errorf("%s: its branch should be there: %v, and is %q", name, want, branch)
		}
	}
	if err := used.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOwner checks that a process with a reused PID does not own the worktrees of the previous
// process.
func TestOwner(t *testing.T) {
	if me := self(); !me.alive() {
		t.Errorf("%+v does not live", me)
	}
	for _, o := range []owner{{}, {PID: -1}, {PID: os.Getpid(), Start: "before/1"}, {PID: 1 << 30}} {
		if o.alive() {
			t.Errorf("%+v lives", o)
		}
	}
}

// TestBrokenRecord checks that files that are not records are not modified.
func TestBrokenRecord(t *testing.T) {
	w := newWorld(t)
	w.repository("r")
	trees := w.trees()
	w.create(trees, Options{Name: "one", For: Agent})
	w.write("state/"+trees.folder(w.path("r"))[len(w.path("state/")):]+"/one.json", "{")
	if removed, err := trees.Sweep(t.Context(), w.path("r")); err != nil || len(removed) > 0 {
		t.Errorf("%q, %v", removed, err)
	}
	if _, err := trees.Create(t.Context(), Options{Dir: w.path("r"), Name: "one"}); err == nil {
		t.Error("it was made again")
	}
	if !exists(w.path("r/.adze/worktrees/one/f")) {
		t.Error("it is gone")
	}
}

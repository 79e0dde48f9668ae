package library

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/domain/skill"
)

// TestWatch checks that an added, changed or removed skill is noticed within two seconds once
// the disk is quiet, and that the set is the same value until then.
//
// Proves SKILL-07.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/SKILL.md": "---\nname: one\n---\nx"})
	synctest.Test(t, func(t *testing.T) {
		var calls, lateCalls atomic.Int32
		l := Open(Config{Roots: fixed(user(dir), commands(filepath.Join(dir, "commands")))})
		defer l.Close()
		stop := l.Watch(func() { calls.Add(1) })
		first := l.Set(t.Context())
		step := func(what string, change func(), want string, told int32) {
			t.Helper()
			before := calls.Load()
			change()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := names(l.Set(t.Context())); got != want || calls.Load()-before != told {
				t.Errorf("%s: %s, told %d times", what, got, calls.Load()-before)
			}
		}
		step("nothing", func() {}, "a", 0)
		if l.Set(t.Context()) != first {
			t.Error("another set without a change")
		}
		step("added", func() { write(t, dir, map[string]string{"b/SKILL.md": "x"}) }, "a b", 1)
		step("a folder of its own", func() { write(t, dir, map[string]string{"commands/c.md": "x"}) }, "a b c", 1)
		step("changed", func() { write(t, dir, map[string]string{"a/SKILL.md": "---\nname: two\n---\nx"}) }, "a b c", 1)
		if l.Find(t.Context(), "a").Title != "two" {
			t.Error("not read again")
		}
		before := l.Set(t.Context())
		step("changed in the text alone", func() {
			write(t, dir, map[string]string{"a/SKILL.md": "---\nname: two\ndescription: x\n---\nsomething else"})
		}, "a b c", 0)
		if text, err := l.Find(t.Context(), "a").Text(t.Context()); text != "something else" || err != nil || l.Set(t.Context()) != before {
			t.Errorf("%q, %v", text, err)
		}
		step("broken", func() { write(t, dir, map[string]string{"b/SKILL.md": "---\nx\n---\n"}) }, "a c", 1)
		step("removed", func() { os.RemoveAll(filepath.Join(dir, "a")) }, "c", 1)

		other := l.Watch(func() { lateCalls.Add(1) })
		stop()
		step("first watcher stopped", func() { write(t, dir, map[string]string{"d/SKILL.md": "x"}) }, "c d", 0)
		other()
		other()
		step("both stopped", func() { write(t, dir, map[string]string{"e/SKILL.md": "x"}) }, "c d", 0)
		if lateCalls.Load() != 1 {
			t.Errorf("told %d times", lateCalls.Load())
		}
		if got := names(l.Refresh(t.Context())); got != "c d e" {
			t.Errorf("refreshed: %s", got)
		}
		defer l.Watch(func() { lateCalls.Add(1) })()
		step("watched again", func() { write(t, dir, map[string]string{"f/SKILL.md": "x"}) }, "c d e f", 0)
		if lateCalls.Load() != 2 {
			t.Errorf("told %d times", lateCalls.Load())
		}
	})
}

// TestFindLooksAgain checks that a newly added skill can be called although nothing watches the
// disk.
//
// Proves SKILL-07.
func TestFindLooksAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := Open(Config{Roots: fixed(user(dir))})
		defer l.Close()
		if l.Find(t.Context(), "x") != nil {
			t.Error("found before it is there")
		}
		write(t, dir, map[string]string{"x/SKILL.md": "x"})
		if l.Find(t.Context(), "x") != nil {
			t.Error("looked again at once")
		}
		time.Sleep(pollEvery)
		if l.Find(t.Context(), "x") == nil {
			t.Error("not found")
		}
	})
}

// TestWatchWaitsForQuiet checks that files written in quick succession count as one change.
//
// Proves SKILL-07.
func TestWatchWaitsForQuiet(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		l := Open(Config{Roots: fixed(user(dir))})
		defer l.Close()
		l.Set(t.Context())
		defer l.Watch(func() { calls.Add(1) })()
		time.Sleep(900 * time.Millisecond)
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			write(t, dir, map[string]string{name + "/SKILL.md": "x"})
			time.Sleep(200 * time.Millisecond)
			if name < "g" && calls.Load() > 0 {
				t.Fatalf("told before the end, at %s", name)
			}
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := names(l.Set(t.Context())); got != "a b c d e f g" || calls.Load() != 1 {
			t.Errorf("%s, told %d times", got, calls.Load())
		}
		// A change that never settles is eventually reported.
		for range 40 {
			write(t, dir, map[string]string{time.Now().Format("s-150405.000") + "/SKILL.md": "x"})
			time.Sleep(200 * time.Millisecond)
		}
		if calls.Load() < 2 {
			t.Error("not told")
		}
	})
}

// TestRootsChange checks that roots and skills outside the disk are queried again.
func TestRootsChange(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/x/SKILL.md": "x", "b/y/SKILL.md": "y"})
	roots := []Root{user(filepath.Join(dir, "a"))}
	var extra []*skill.Skill
	l := open(t, Config{Roots: func() []Root { return roots }, Extra: func() []*skill.Skill { return extra }})
	first := l.Set(t.Context())
	if l.Refresh(t.Context()) != first {
		t.Error("another set without a change")
	}
	roots = append(roots[:1:1], user(filepath.Join(dir, "b")))
	extra = []*skill.Skill{{Name: "z", Origin: skill.Origin{Kind: skill.Bundled}}}
	if got := names(l.Refresh(t.Context())); got != "x y z" {
		t.Error(got)
	}
	roots = roots[1:]
	if got := names(l.Refresh(t.Context())); got != "y z" {
		t.Error(got)
	}
}

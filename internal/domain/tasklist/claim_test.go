package tasklist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/platform/fs/replace"
)

// TestClaim checks every outcome of a claim.
//
// Proves TEAM-04.
func TestClaim(t *testing.T) {
	f := newList(t)
	f.add("free", "taken", "done", "waiting", "second")
	f.must(f.update("2", Change{Owner: ptr("bob")}))
	f.must(f.update("3", Change{Status: ptr(Completed), Owner: ptr("bob")}))
	f.must(f.update("4", Change{BlockedBy: []string{"1", "3"}}))
	for _, c := range []struct{ id, want string }{
		{"1", "in_progress"},
		{"1", "in_progress"}, // again
		{"2", "already_claimed: task 2 belongs to bob"},
		{"3", "already_resolved: task 3 is completed"},
		{"4", "blocked: task 4 waits for 1"},
		{"9", "task_not_found: no task 9"},
		{"../1", "task_not_found: no task ../1"},
	} {
		task, err := f.Claim(t.Context(), c.id, "ada")
		got := string(task.Status)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.id, got, c.want)
		}
	}
	if _, err := f.ClaimAlone(t.Context(), "5", "ada"); err == nil || err.Error() != "agent_busy: finish task 1 first" {
		t.Error(err)
	}
	if _, err := f.ClaimAlone(t.Context(), "2", "ada"); err == nil || !strings.HasPrefix(err.Error(), "already_claimed") {
		t.Error(err)
	}
	if _, err := f.ClaimAlone(t.Context(), "1", "ada"); err != nil {
		t.Error(err)
	}
	if _, err := f.Claim(t.Context(), "5", " "); err == nil {
		t.Error("claimed by no one")
	}
	f.must(f.update("1", Change{Status: ptr(Completed)}))
	if task, err := f.ClaimAlone(t.Context(), "4", "ada"); err != nil || task.Owner != "ada" {
		t.Error(task, err)
	}
	f.expect("1 completed ada before 4; 2 pending bob; 3 completed bob before 4; 4 in_progress ada after 1,3; 5 pending")
}

// TestNextAndRelease checks that the next task is the first free one, and that a lost
// teammate's tasks are released.
//
// Proves TEAM-05, TEAM-06.
func TestNextAndRelease(t *testing.T) {
	f := newList(t)
	f.add("a", "b", "c", "d")
	f.must(f.update("1", Change{BlockedBy: []string{"3"}}))
	f.must(f.update("4", Change{Metadata: map[string]json.RawMessage{"_internal": json.RawMessage("true")}}))
	for _, want := range []string{"2", "3", ""} {
		task, ok, err := f.Next(t.Context(), "ada")
		if task.ID != want || ok != (want != "") || err != nil {
			t.Errorf("%q, %v, %v; not %q", task.ID, ok, err, want)
		}
	}
	f.must(f.update("3", Change{Status: ptr(Completed)}))
	if task, ok, err := f.Next(t.Context(), "bob"); task.ID != "1" || !ok || err != nil {
		t.Error(task, ok, err)
	}
	released, err := f.Release(t.Context(), "ada")
	if len(released) != 1 || released[0].ID != "2" || err != nil {
		t.Error(released, err)
	}
	if none, err := f.Release(t.Context(), ""); none != nil || err != nil {
		t.Error(none, err)
	}
	f.expect("1 in_progress bob after 3; 2 pending; 3 completed ada before 1; 4 pending")
}

// TestLockTimeout checks that waiting for a list locked by another process times out, and that
// nothing is changed.
//
// Proves TEAM-04.
func TestLockTimeout(t *testing.T) {
	f := newList(t)
	f.add("a")
	dir, err := os.Open(f.cfg.Dir)
	f.must(err)
	defer dir.Close()
	held, err := replace.New(f.cfg.Locks).Lock(t.Context(), dir, lockName) // simulates another process
	f.must(err)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := f.Claim(t.Context(), "1", "ada")
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Reason != LockTimeout || !strings.HasPrefix(err.Error(), "lock_timeout: ") {
			t.Error(err)
		}
		if took := time.Since(start); took < 10*time.Second || took > 11*time.Second {
			t.Error(took)
		}
		if _, ok, err := f.Next(t.Context(), "ada"); ok || !errors.As(err, &refused) {
			t.Error(ok, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.Claim(ctx, "1", "ada"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	held.Unlock()
	f.expect("1 pending")
	if _, err := f.Claim(t.Context(), "1", "ada"); err != nil {
		t.Error(err)
	}
}

// TestWatch checks that changes by others are reported until the context is done.
//
// Proves TASK-01.
func TestWatch(t *testing.T) {
	for _, how := range []string{"notices", "polls"} {
		t.Run(how, func(t *testing.T) {
			f := newList(t)
			f.add("a")
			ctx, cancel := context.WithCancel(t.Context())
			told, ended := make(chan []Task, 100), make(chan error, 1)
			var next func() bool
			if how == "polls" {
				next = polls(ctx, f.cfg.Dir)
			} else if next = notices(ctx, f.cfg.Dir); next == nil {
				next = polls(ctx, f.cfg.Dir)
			}
			go func() { ended <- Open(f.cfg).follow(ctx, next, func(all []Task) { told <- all }) }()
			for i := 0; len(told) == 0; i++ { // the first changes may precede reading the list
				if i > 1000 {
					t.Fatal("no changes reported")
				}
				f.must(f.update("1", Change{Owner: ptr(fmt.Sprint(i))}))
				time.Sleep(quiet)
			}
			if all := <-told; len(all) != 1 || all[0].Owner == "" {
				t.Error(all)
			}
			f.must(os.WriteFile(filepath.Join(f.cfg.Dir, "other.txt"), nil, 0o600)) // no task
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

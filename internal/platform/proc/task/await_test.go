package task

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Proves SHBG-07.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l listener
		table := New(t.TempDir(), l.hear)
		heard := func(n int) func() bool {
			return func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return len(l.notices) >= n
			}
		}
		if table.Await(t.Context(), heard(1)) {
			t.Error("nothing runs, and there is more to come")
		}
		quick, server := begin(t, table), begin(t, table)
		server.Limit = time.Minute
		for _, task := range []*Task{quick, server} {
			if err := task.ToBackground(); err != nil {
				t.Fatal(err)
			}
		}
		time.AfterFunc(time.Second, func() { quick.End(Completed, "exit code 0") })
		began := time.Now()
		if !table.Await(t.Context(), heard(1)) || time.Since(began) != time.Second {
			t.Errorf("after %v: %+v", time.Since(began), l.notices)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if !table.Await(ctx, heard(2)) || server.Stopped() {
			t.Error("the end of the context did not end the wait alone")
		}
		go func() {
			<-server.Context().Done()
			server.End(Failed, "signal: killed")
		}()
		table.Await(t.Context(), heard(2))
		if took := time.Since(began); took != time.Minute || len(l.notices) != 2 || l.notices[1].Status != Killed || !strings.Contains(l.notices[1].Remark, "had run for 1m0s") {
			t.Errorf("after %v: %+v", took, l.notices)
		}
		if table.Await(t.Context(), heard(3)) {
			t.Error("everything was announced, and there is more to come")
		}
	})
}

// TestNotAwaited checks that Await neither waits for nor stops a task with NotAwaited, and that
// its end is announced as usual.
//
// Proves AGENT-39.
func TestNotAwaited(t *testing.T) {
	var l listener
	table := New(t.TempDir(), l.hear)
	server := begin(t, table)
	server.Limit = NotAwaited
	if err := server.ToBackground(); err != nil {
		t.Fatal(err)
	}
	if table.Await(t.Context(), func() bool { return false }) || server.Stopped() {
		t.Error("it was waited for")
	}
	server.End(Completed, "")
	if table.Await(t.Context(), func() bool { return false }) || len(l.notices) != 1 {
		t.Errorf("when it has ended: %+v", l.notices)
	}
	other := begin(t, table)
	if err := other.ToBackground(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if !table.Await(ctx, func() bool { return false }) {
		t.Error("another one is not waited for")
	}
}

// TestAwaitHearsEveryEnd checks that Await only returns once every end has been announced,
// however fast tasks end. A task can end before its caller returns.
//
// Proves SHBG-07, LOOP-44.
func TestAwaitHearsEveryEnd(t *testing.T) {
	for round := range 300 {
		var l listener
		table := New(t.TempDir(), func(n Notice) {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
			l.hear(n)
		})
		const tasks = 3
		for range tasks {
			task := begin(t, table)
			if err := task.ToBackground(); err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
				task.End(Failed, "it did not begin")
			}()
		}
		heard, seen := 0, 0
		count := func() int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return len(l.notices)
		}
		for table.Await(t.Context(), func() bool { seen = count(); return seen > heard }) {
			heard = seen
		}
		if n := count(); n != tasks {
			t.Fatalf("round %d: %d end notifications", round, n)
		}
	}
}

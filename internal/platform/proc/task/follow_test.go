package task

import (
	"slices"
	"sync"
	"testing"
)

// TestFollow checks that followers are notified that a task has moved to the background and
// then that it has ended, in this order even if both happen concurrently, and that they are not
// notified of foreground tasks.
func TestFollow(t *testing.T) {
	for range 200 {
		var mu sync.Mutex
		var heard []bool
		table := New(t.TempDir(), nil)
		table.Follow(func(_ *Task, ended bool) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, ended)
		})
		begin(t, table).End(Completed, "")
		task := begin(t, table)
		var wg sync.WaitGroup
		moved := false
		wg.Go(func() { moved = task.ToBackground() == nil })
		wg.Go(func() { task.End(Completed, "") })
		wg.Wait()
		var want []bool
		if moved {
			want = []bool{false, true}
		}
		if !slices.Equal(heard, want) {
			t.Fatalf("heard %v, want %v", heard, want)
		}
	}
}

// TestDetachCall checks that only the given call's task is detached.
func TestDetachCall(t *testing.T) {
	table := New(t.TempDir(), nil)
	one, other := begin(t, table), begin(t, table)
	RunsFor(one, "toolu_1")
	RunsFor(other, "toolu_2")
	if table.DetachCall("toolu_3") || !table.DetachCall("toolu_2") {
		t.Error("a call was taken for another one")
	}
	select {
	case <-one.Detached():
		t.Error("the wrong one was detached")
	case <-other.Detached():
	}
	if err := other.ToBackground(); err != nil {
		t.Fatal(err)
	}
	if table.DetachCall("toolu_2") {
		t.Error("a task that is in the background was detached")
	}
	one.End(Completed, "")
	other.End(Completed, "")
}

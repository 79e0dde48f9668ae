package session_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"adze/internal/agent"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// Whenever an interrupt comes, also between two turns, what it says of the prompts that wait is true: it
// stops none of them, and none of the others waits.
func TestInterruptKnowsWhatWaits(t *testing.T) {
	const prompts = 200
	stopped := map[int]int{} // the number of the interrupt that stopped a prompt's turn
	turn := 0
	b := newBench(t, "forever\nsay ok", func(_ *bench, c *session.Config) {
		c.Listeners.Ended = func(ctx context.Context, _ agent.Ended) {
			if by, ok := context.Cause(ctx).(tool.Abort); ok {
				stopped[turn], _ = strconv.Atoi(string(by)) // ok: they are numbers
			}
			turn++
		}
	})
	var ids []string
	for i := range prompts {
		ids = append(ids, fmt.Sprint("p", i))
		b.submit(prompt(ids[i], "go"))
	}
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		b.Close()
	}()
	began := []int{} // by interrupt: how many prompts did not wait any more
	for done := false; !done; {
		waiting := b.Interrupt(session.Interrupt{Cause: tool.Abort(strconv.Itoa(len(began)))})
		if !slices.Equal(waiting, ids[prompts-len(waiting):]) {
			t.Fatalf("%v wait", waiting)
		}
		began = append(began, prompts-len(waiting))
		select {
		case <-idle:
			done = true
		default:
		}
	}
	if turn != prompts || !slices.IsSorted(began) {
		t.Errorf("%d turns, %v", turn, began)
	}
	for prompt, by := range stopped {
		if prompt != began[by]-1 {
			t.Errorf("an interrupt after which %d of %d prompts waited stopped the turn of number %d", prompts-began[by], prompts, prompt+1)
		}
	}
	if len(stopped) == 0 {
		t.Error("nothing was stopped")
	}
}

// A compaction that waits is among what waits, and can be taken back.
func TestCompactionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "delay 1h\nsay never", func(_ *bench, c *session.Config) { numbered(c) })
		b.submit(prompt("a", "first"))
		synctest.Wait()
		b.submit(session.Compact{ID: "c"})
		b.submit(session.Compact{ID: "d"})
		b.submit(session.Withdraw{ID: "c"})
		if got := b.Waiting(); !slices.Equal(got, []string{"d"}) {
			t.Errorf("%v wait", got)
		}
		if got := b.Interrupt(session.Interrupt{Queued: true}); !slices.Equal(got, []string{"d"}) {
			t.Errorf("%v were taken back", got)
		}
		b.Close()
		for _, n := range b.log.notes {
			if q, ok := n.(store.Queue); ok && q.Op == store.Discard {
				t.Error("the log was told of what it does not keep")
			}
		}
	})
}

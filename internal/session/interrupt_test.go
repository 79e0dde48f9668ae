package session_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// TestInterruptKnowsWhatWaits checks that an interrupt at any time, even between two turns,
// reports exactly the waiting prompts: it stops none of them, and no other prompt waits.
func TestInterruptKnowsWhatWaits(t *testing.T) {
	const prompts = 200
	stopped := map[int]int{} // interrupt number by prompt whose turn it stopped
	turn := 0
	b := newBench(t, "forever\nsay ok", func(_ *bench, c *session.Config) {
		c.Listeners.Ended = func(ctx context.Context, _ agent.Ended) {
			if by, ok := context.Cause(ctx).(tool.Abort); ok {
				stopped[turn], _ = strconv.Atoi(string(by)) // ok: always a number
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
	began := []int{} // prompts that had started, by interrupt
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

// TestCompactionWaits checks that a waiting compaction is listed as waiting and can be
// withdrawn.
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
				t.Error("the log received an unsaved entry")
			}
		}
	})
}

// TestSaidIsTakenBack checks that input for the running turn can be withdrawn until the model
// gets it, even while prompt hooks are still running.
//
// Proves SESS-62.
func TestSaidIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "delay 5s\nsay One\n---\nexpect last \"second\"\nsay Two", func(_ *bench, c *session.Config) {
			c.PromptHooks = append(c.PromptHooks, session.PromptHook{Name: "slow", Run: func(_ context.Context, p session.Prompt) session.HookResult {
				if p.ID == "slow" {
					time.Sleep(time.Second)
				}
				if p.ID == "blocked" {
					return session.HookResult{Blocked: "no"}
				}
				return session.HookResult{}
			}})
		})
		b.submit(prompt("a", "start"))
		synctest.Wait()
		for _, id := range []string{"first", "second", "slow", "blocked"} {
			b.submit(session.Steer(prompt(id, id)))
		}
		b.submit(session.Withdraw{ID: "slow"})
		synctest.Wait()
		b.submit(session.Withdraw{ID: "first"})
		for _, id := range []string{"first", "slow", "blocked", ""} {
			if err := b.Submit(t.Context(), session.Withdraw{ID: id}); err == nil {
				t.Errorf("%q was taken back, though it does not wait", id)
			}
		}
		if err := b.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Submit(t.Context(), session.Withdraw{ID: "second"}); err == nil {
			t.Error("a delivered message was withdrawn")
		}
		for _, m := range b.Conversation() {
			if text := m.Message.Text(); text == "first" || text == "slow" {
				t.Errorf("%q was sent to the model", text)
			}
		}
		b.played()
	})
}

// TestPromptIsTakenBack checks that a prompt withdrawn by an interrupt before the model started
// to answer is removed from the conversation. The log keeps the prompt and the removal. Pending
// notifications for the model come with the next prompt.
//
// Proves X-120.
func TestPromptIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rewound, unseen int
		b := newBench(t, "say Hello.\n---\ndelay 1h\nsay never\n---\nexpect last \"a task has ended\"\nexpect last \"second, better\"\nsay Good.", func(_ *bench, c *session.Config) {
			c.Listeners.Rewound, c.Listeners.Unseen = func() { rewound++ }, func() { unseen++ }
		})
		b.completed("first")
		kept := len(b.Conversation())
		b.submit(session.Notify{Text: "a task has ended"})
		b.submit(prompt("b", "second"))
		synctest.Wait()
		b.Interrupt(session.Interrupt{WithdrawPrompt: "b"})
		b.Interrupt(session.Interrupt{}) // pressed twice
		end := b.finished()
		if !end.Withdrawn || !end.Reason.Aborted() || len(b.Conversation()) != kept || rewound != 1 || unseen != 1 {
			t.Errorf("%+v, %d of %d entries, %d, %d", end, len(b.Conversation()), kept, rewound, unseen)
		}
		if n := len(b.log.entries); b.log.entries[n-2].ID != "b" {
			t.Errorf("the log does not have it: %v", b.log.entries)
		}
		if !slices.Contains(b.log.notes, store.Note(store.Rewind(b.Conversation()[kept-1].ID))) {
			t.Errorf("not logged: %v", b.log.notes)
		}
		b.completed("second, better")
		for _, e := range b.Conversation() {
			if e.ID == "b" {
				t.Error("it came back")
			}
		}
		b.played()
	})
}

// TestPromptStays checks that the prompt stays once part of the answer has arrived, or if the
// interrupt names another prompt.
func TestPromptStays(t *testing.T) {
	for script, unsay := range map[string]string{"say Hel\ndelay 1h\nsay lo": "a", "delay 1h\nsay never": "other"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, script, nil)
			b.submit(prompt("a", "start"))
			synctest.Wait()
			b.Interrupt(session.Interrupt{WithdrawPrompt: unsay})
			if end := b.finished(); end.Withdrawn || len(b.Conversation()) == 0 {
				t.Errorf("%s: %+v, %d entries", script, end, len(b.Conversation()))
			}
		})
	}
}

// finished waits until nothing runs, and returns the outcome of the last turn.
func (b *bench) finished() (end session.Finished) {
	b.t.Helper()
	if err := b.Idle(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	for e := range b.Entries(b.t.Context(), 0, session.Every) {
		if f, ok := e.Event.(session.Finished); ok {
			end = f
		}
		if e.Seq == b.Last() {
			break
		}
	}
	return end
}

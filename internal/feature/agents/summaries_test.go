package agents

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/session"
	"adze/internal/settings"
)

// TestSummaries checks that a summary is requested every 30 seconds if wanted and if there were
// new steps, and that its input is bounded.
//
// Proves AGENT-40.
func TestSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := session.Open(t.Context(), session.Config{ID: "s"})
		defer s.Close()
		var wanted atomic.Bool
		asked := 0
		a := New(Config{
			Session: func() *session.Session { return s }, Settings: func() settings.Agents { return settings.Agents{Summaries: wanted.Load()} },
			Summaries: &Summaries{Tell: func(_ context.Context, task string, steps []string) string {
				asked++
				if task != "look around" || len(steps) > maxSteps {
					t.Errorf("%s, %d steps", task, len(steps))
				}
				return fmt.Sprintf("Looking %d", asked)
			}},
		})
		x := &run{agents: a, spec: Spec{ID: "a1", Title: "look around"}, kind: "scout", began: time.Now()}
		a.runs["a1"] = x
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { x.summarise(ctx); close(done) }()
		step := func(n int) {
			x.mu.Lock()
			defer x.mu.Unlock()
			for range n {
				x.activity.step("Read a.go")
			}
		}
		wait := func(want int) {
			t.Helper()
			time.Sleep(31 * time.Second)
			synctest.Wait()
			if asked != want {
				t.Errorf("asked %d times, want %d", asked, want)
			}
		}
		step(1)
		wait(0) // summaries are off
		wanted.Store(true)
		wait(1)
		wait(1) // nothing has happened
		step(100)
		wait(2)
		if at := a.Working(); len(at) != 1 || at[0].Last != "Looking 2" {
			t.Errorf("at work: %+v", at)
		}
		wanted.Store(false)
		a.cfg.Summaries.Want(true)
		step(1)
		wait(3)
		stop()
		<-done
	})
}

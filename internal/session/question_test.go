package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
)

// Proves PERM-16.
func TestQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "say never", nil)
		ask := func(ctx context.Context) chan error {
			done := make(chan error, 1)
			go func() {
				a, err := b.Ask(ctx, permission.Question{ID: "use", Tool: "Bash"})
				if err == nil && a.Behavior != permission.Allow {
					err = errors.New("denied")
				}
				done <- err
			}()
			synctest.Wait()
			return done
		}
		open := func() string {
			for id, q := range b.Questions() {
				if q.Tool != "Bash" {
					t.Errorf("question %+v", q)
				}
				return id
			}
			return ""
		}

		done := ask(t.Context())
		id := open()
		b.submit(session.Answer{ID: id, Answer: permission.Answer{Behavior: permission.Allow}})
		if err := b.Submit(t.Context(), session.Answer{ID: id, Answer: permission.Answer{Behavior: permission.Deny}}); err == nil {
			t.Error("a second answer was taken")
		}
		if err := <-done; err != nil {
			t.Errorf("the first answer did not count: %v", err)
		}

		ctx, interrupt := context.WithCancelCause(t.Context())
		done = ask(ctx)
		id = open()
		interrupt(tool.AbortUser)
		if err := <-done; !errors.Is(err, tool.AbortUser) {
			t.Errorf("withdrawn with %v", err)
		}
		if err := b.Submit(t.Context(), session.Answer{ID: id}); err == nil || open() != "" {
			t.Error("a question that was withdrawn is still open")
		}

		b.Close()
		var settled []bool
		for e := range b.Entries(t.Context(), 0, session.Latest) {
			if s, ok := e.Event.(session.Settled); ok {
				settled = append(settled, s.Answer != nil)
			}
		}
		if len(settled) != 2 || !settled[0] || settled[1] {
			t.Errorf("settled: %v", settled)
		}
	})
}

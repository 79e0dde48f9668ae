package tui

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/replay"
	"adze/internal/session"
	"adze/internal/ui/controller"
	"adze/internal/ui/controller/controllertest"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen/screentest"
)

// TestEnded checks that the program may leave after a turn, unless another one follows, and then
// shows no summary.
//
// Proves X-196.
func TestEnded(t *testing.T) {
	for _, leave := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var reasons []string
			c := newConsole(t, 60, 24, "delay 1s\nsay First.\n---\nsay Second.", func(s *setup) {
				s.Ended = func(ev session.Finished) (string, bool) {
					reasons = append(reasons, string(ev.Reason))
					return "That was a turn.", leave
				}
			})
			c.Enter("hello\r")
			c.Enter("and then\t") // a turn of its own
			time.Sleep(2 * time.Second)
			synctest.Wait()
			c.Shows("Second.\n\nThat was a turn.")
			if got := strings.Join(reasons, " "); got != "completed completed" {
				t.Errorf("the turns ended: %s", got)
			}
			if leave {
				if err := <-c.Done; err != nil {
					t.Error(err)
				}
				c.Done <- nil
			}
			c.Hides("tokens in")
			c.End()
			c.Hides("To continue")
		})
	}
}

// TestUnsaved checks that a session without a transcript is not offered for later.
//
// Proves SESS-14.
func TestUnsaved(t *testing.T) {
	for _, unsaved := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, 60, 24, "say Hello.", func(s *setup) {
				open := s.Config.Open
				s.Config.Open = func(ctx context.Context, resume string) (*controller.Conversation, error) {
					conv, err := open(ctx, resume)
					conv.Unsaved = unsaved
					return conv, err
				}
			})
			c.Enter("hello\r")
			c.End()
			if got := strings.Contains(c.Text(), "To continue this session"); got == unsaved {
				t.Errorf("unsaved %t:\n%s", unsaved, c.Text())
			}
		})
	}
}

// TestDrawn checks that a recorder sees every entry on the screen before the next one, and can
// change entries.
//
// Proves X-197.
func TestDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parsed, err := replay.Parse("script", []byte("fragments 5\nsay one two three four five"))
		if err != nil {
			t.Fatal(err)
		}
		c, more := controllertest.New(t, replay.NewPlayer(parsed).Provider())
		c.ByKey, c.Screen = true, screentest.New(60, 24)
		ctx, stop := context.WithCancel(t.Context())
		var f *Front
		cfg := Config{Terminal: Terminal{In: c.In, Out: c, Width: func() int { return 60 }, Height: func() int { return 24 }}, Glyphs: draw.Unicode()}
		cfg.Open = more.Open
		var mu sync.Mutex
		var shown []string
		cfg.Follow = func(entries iter.Seq[session.Entry]) iter.Seq[session.Entry] {
			return func(yield func(session.Entry) bool) {
				for e := range entries {
					if !yield(e) || !f.Drawn(ctx) {
						return
					}
					l, _ := e.Event.(session.Loop)
					d, _ := l.Event.(agent.Delta)
					if _, ok := d.Event.(model.TextDelta); ok {
						text := c.Text()
						mu.Lock()
						shown = append(shown, text[strings.LastIndex(text, "one"):])
						mu.Unlock()
					}
				}
			}
		}
		f = New(cfg)
		c.Start(f)
		c.Enter("hello\r")
		var seen []string
		for deadline := time.Now().Add(time.Minute); len(seen) < 5 && time.Now().Before(deadline); time.Sleep(time.Second) {
			mu.Lock()
			seen = slices.Clone(shown)
			mu.Unlock()
		}
		for i, text := range seen {
			line, _, _ := strings.Cut(text, "\n")
			if seen[i] = line; i > 0 && len(line) <= len(seen[i-1]) {
				t.Errorf("piece %d is not on the screen", i)
			}
		}
		if len(seen) != 5 || seen[4] != "one two three four five" {
			t.Errorf("the pieces are %q", seen)
		}
		stop()
		if f.Drawn(ctx) {
			t.Error("it waits for a front end although it must not")
		}
		c.End()
	})
}

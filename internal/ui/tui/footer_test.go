package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/commands"
	"adze/internal/ui/draw"
	"adze/internal/ui/tui/attention"
)

// TestStatus checks that the status row follows the session.
//
// Proves X-191, SESS-46, PERM-21.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "say Done.", func(s *setup) {
			s.Commands.Permission.Allowed = func(mode string) bool { return mode == "auto" }
		})
		c.Shows("  ● ask ∙ haiku 5.5 ∙ ▱▱▱▱▱▱▱▱▱▱ 0% ∙ $0.00")
		c.Enter("hello\r")
		c.Shows("Done.")
		c.Hides("∙ $0.00")
		for _, mode := range []string{"accept edits ∙", "plan ∙", "auto ∙", "ask ∙"} {
			c.Enter("\x1b[Z")
			c.Shows("  ● " + mode + " haiku 5.5")
		}
		c.End()
	})
}

// TestCustomStatus checks that the user's status line command runs in the background after a
// pause without changes, never twice concurrently, and that its line replaces the default one
// unless it fails.
//
// Proves X-125.
func TestCustomStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, at, most atomic.Int32
		line, failed := "\x1b[32mmine\x1b[0m", error(nil)
		c := newConsole(t, 80, 24, "forever\nsay Done.", func(s *setup) {
			s.Commands.Env.StatusLine = func(ctx context.Context, _ *commands.Registry) (string, error) {
				runs.Add(1)
				most.Store(max(most.Load(), at.Add(1)))
				defer at.Add(-1)
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
				return line, failed
			}
		})
		c.Hides("mine")
		c.Enter("hello\r") // the input is usable while it runs
		c.Shows("Done.")
		time.Sleep(4 * time.Second)
		c.Shows("\n  mine")
		c.Hides("haiku")
		if n := runs.Load(); n < 1 || n > 3 || most.Load() != 1 {
			t.Errorf("%d runs, %d at once", n, most.Load())
		}
		before := runs.Load()
		time.Sleep(time.Hour)
		if runs.Load() != before {
			t.Error("it runs though nothing happens")
		}
		failed = errors.New("broken")
		c.Enter("\x1b[Z")
		time.Sleep(3 * time.Second)
		c.Shows("  ● accept edits ∙ haiku 5.5")
		c.End()
	})
}

// TestNotify checks that a user in another window is notified once when a question waits and
// once when a long turn ends, but not while typing.
//
// Proves X-126.
func TestNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(chan string, 10)
		called := func(want ...string) {
			t.Helper()
			synctest.Wait()
			for _, text := range want {
				select {
				case got := <-calls:
					if got != text {
						t.Errorf("called for %q, not %q", got, text)
					}
				default:
					t.Errorf("not called for %q", text)
				}
			}
			if len(calls) > 0 {
				t.Errorf("called for %q", <-calls)
			}
		}
		c := newConsole(t, 80, 24, "use Do {}\n---\nsay Done.\n---\nsay Again.", func(s *setup) {
			s.Notify = func(c attention.Cause) string { calls <- c.String(); return "\a" }
		})
		c.Enter("hello\r")
		called()
		c.Enter("\x1b[O") // the user switches windows
		called("A question waits for you.")
		time.Sleep(time.Hour)
		called()
		c.Enter("\x1b[I")
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		called()
		c.Enter("1")
		c.Shows("Done.")
		c.Enter("\x1b[O")
		called("The turn has ended.")
		c.Enter("\x1b[I")
		c.Enter("hello\r")
		c.Shows("Again.")
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		called() // the turn took no time
		c.End()
	})
}

// TestRepaint checks that a theme change is visible immediately.
//
// Proves X-124.
func TestRepaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := func(name string) string { return map[string]string{"TERM": "xterm"}[name] }
		next, changed := draw.PaletteFor(true, "none", env), false
		out := &recorder{}
		c := newConsole(t, 80, 24, "say Done.", func(s *setup) {
			out.Writer, s.Out = s.Out, out
			s.Palette = draw.PaletteFor(true, "dark", env)
			s.Repaint = func() (draw.Palette, bool) { return next, changed }
			s.Commands.Permission.Mode = func() string { return "plan" }
		})
		if got := out.take(); !strings.Contains(got, "\x1b[38;5;117m● plan") {
			t.Errorf("%q", got)
		}
		changed = true
		c.Enter("x")
		if got := out.take(); !strings.Contains(got, "\x1b[1m● plan") {
			t.Errorf("%q", got)
		}
		c.End()
	})
}

// A recorder copies the data written to another writer.
type recorder struct {
	io.Writer
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(p)
	return r.Writer.Write(p)
}

// take returns the data written since the last call.
func (r *recorder) take() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.text.Reset()
	return r.text.String()
}

// TestRequestStatus checks that the pull request state is looked up at the start and after each
// turn, at most once a minute.
//
// Proves X-133.
func TestRequestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := newConsole(t, 80, 24, "forever\nsay Done.", func(s *setup) {
			s.Commands.Env.Request = func(context.Context) (commands.Request, bool) {
				asked.Add(1)
				return commands.Request{Text: "#12 checks\x1b[2J fail", Mood: commands.Ill}, true
			}
		})
		c.Shows("∙ #12 checks fail")
		c.Enter("hello\r")
		if asked.Load() != 1 {
			t.Error("polled too often")
		}
		time.Sleep(time.Hour)
		if asked.Load() != 1 {
			t.Error("polled while idle")
		}
		c.Enter("hello\r")
		if asked.Load() != 2 {
			t.Error("not polled again")
		}
		c.End()
	})
}

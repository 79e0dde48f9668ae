package tui

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/commands"
)

// A wit makes remarks, after a delay.
type wit struct {
	text    string
	takes   time.Duration
	asked   atomic.Int32
	dropped atomic.Int32
}

func (w *wit) remark(ctx context.Context) string {
	w.asked.Add(1)
	select {
	case <-time.After(w.takes):
		return w.text
	case <-ctx.Done():
		w.dropped.Add(1)
		return ""
	}
}

func (w *wit) was(t *testing.T, asked, dropped int) {
	t.Helper()
	synctest.Wait()
	if a, d := int(w.asked.Load()), int(w.dropped.Load()); a != asked || d != dropped {
		t.Errorf("asked %d times, %d were dropped", a, d)
	}
}

const manyTurns = "forever\nsay Done."

func away(w *wit) func(*setup) {
	return func(s *setup) {
		s.Commands.Env.Remarks = commands.Remarks{Away: w.remark, After: func() time.Duration { return 5 * time.Minute }}
	}
}

// TestAway checks that a user who returns after a while gets one summary, and that nothing is
// requested while idle.
//
// Proves X-136.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wit{text: "The parser is \x1b[2Jfaster. Next: the tests.", takes: time.Second}
		c := newConsole(t, 80, 24, manyTurns, away(w))
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		c.Enter("\x1b[I")
		w.was(t, 0, 0) // there is nothing to summarize
		c.Enter("hello\r")
		c.Enter("\x1b[O")
		time.Sleep(4 * time.Minute)
		c.Enter("\x1b[I")
		w.was(t, 0, 0)
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		w.was(t, 0, 0)
		c.Enter("\x1b[I")
		w.was(t, 1, 0)
		c.Enter("half") // while the request is pending
		c.Shows("❯ half")
		time.Sleep(2 * time.Second)
		c.Shows("The parser is faster. Next: the tests.")
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		c.Enter("\x1b[I")
		w.was(t, 1, 0)
		c.Enter(" typed\r")
		time.Sleep(time.Hour) // no key, in a terminal without focus reporting
		c.Enter("x")
		w.was(t, 2, 0)
		c.End()
	})
}

// TestAwayMeanwhile checks that a pending summary is dropped when the user sends something, and
// that a turn that ends while the user is away is summarized immediately.
//
// Proves X-136.
func TestAwayMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wit{text: "All is done.", takes: time.Minute}
		c := newConsole(t, 80, 24, "say One.\n---\nsay Two\n"+strings.Repeat("delay 80s\nsay+ !\n", 7)+"\n---\nforever\nsay Done.", away(w))
		c.Enter("hello\r")
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		c.Enter("\x1b[I")
		c.Enter("hello\r")
		w.was(t, 1, 1)
		c.Enter("\x1b[O")
		time.Sleep(9 * time.Minute)
		w.was(t, 1, 1)
		time.Sleep(30 * time.Second)
		w.was(t, 2, 1)
		c.Hides("All is done.")
		time.Sleep(time.Minute)
		c.Shows("All is done.")
		c.Enter("\x1b[I")
		time.Sleep(time.Minute)
		w.was(t, 2, 1)
		c.Enter("hello\r")
		c.Enter("\x1b[O")
		time.Sleep(time.Hour)
		c.Enter("\x1b[I")
		c.Enter("\x04") // the request ends with the conversation
		c.End()
		w.was(t, 3, 2)
	})
}

func next(w *wit) func(*setup) {
	return func(s *setup) { s.Commands.Env.Remarks = commands.Remarks{Next: w.remark} }
}

// TestNext checks that a proposed message is shown in the empty composer, can be accepted for
// editing, and disappears with any other key.
//
// Proves X-134.
func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wit{text: "run the tests", takes: time.Second}
		c := newConsole(t, 80, 24, manyTurns, next(w))
		w.was(t, 0, 0)
		ask := func() {
			t.Helper()
			c.Enter("hello\r")
			time.Sleep(2 * time.Second)
			c.Shows("❯ [run the tests]\n  ● ask")
			if _, col := c.Screen.Cursor(); col != 2 {
				t.Errorf("the caret is in column %d", col)
			}
		}
		for _, key := range []string{"\t", "\x1b[C"} {
			ask()
			c.Enter(key)
			c.Shows("❯ run the tests\n  ● ask")
			c.Enter(" twice")
			c.Shows("❯ run the tests twice\n")
			c.Enter("\x15")
		}
		ask()
		c.Enter("\x1b[O")
		c.Enter("\x1b[I")
		c.Shows("❯ [run the tests]\n")
		c.Enter("\r") // there is nothing to send
		c.Hides("[run the tests]")
		w.was(t, 3, 0)
		ask()
		c.Enter("why?")
		c.Shows("❯ why?\n")
		c.Enter("\x15")
		c.Hides("[run the tests]")
		ask()
		c.Enter("\t twice") // both arrived together because the machine was busy
		c.Shows("❯ run the tests twice\n")
		c.Enter("\x15")
		ask()
		c.Enter("\x1b[200~pasted\x1b[201~")
		c.Shows("❯ pasted\n")
		c.End()
	})
}

// TestNextUnwanted checks that nothing is proposed while the user types, after a stopped or
// failed turn, or while a question waits.
//
// Proves X-134.
func TestNextUnwanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wit{text: "run the tests", takes: time.Second}
		c := newConsole(t, 80, 24, "say One.\n---\nsay Two.\n---\nuse Wait {}\n---\nerror refused\n---\ndelay 5s\nsay Three.\n---\nsay Four.", next(w))
		c.Enter("hello\r")
		w.was(t, 1, 0)
		c.Enter("I type")
		w.was(t, 1, 1)
		time.Sleep(time.Minute)
		c.Hides("run the tests")
		c.Enter("\x15")
		c.Enter("hello\r")
		w.was(t, 2, 1)
		c.Enter("again\r") // queued
		w.was(t, 2, 2)
		time.Sleep(time.Second)
		c.Enter("\x1b")
		time.Sleep(time.Second)
		c.Shows("Stopped.")
		c.Enter("\x15")
		c.Enter("fail\r")
		time.Sleep(time.Minute)
		c.Enter("\x15")
		c.Enter("slow\r")
		c.Enter("half")
		time.Sleep(time.Minute)
		c.Shows("Three.")
		w.was(t, 2, 2)
		if strings.Contains(c.Text(), "run the tests") {
			t.Error(c.Text())
		}
		c.End()
	})
}

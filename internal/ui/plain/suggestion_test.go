package plain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A suggestion appears beside the first prompt, when nothing else is going on, and one key answers it. What
// is typed instead is a prompt as always.
func TestSuggestion(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keys  bool
		typed []string
		pause time.Duration // before it is typed
		want  string        // yes, no, or neither
	}{
		{"yes", true, []string{"y"}, time.Second, "yes"},
		{"no", true, []string{"N"}, time.Second, "no"},
		{"a prompt", true, []string{"x", "y", "\r"}, time.Second, ""},
		{"a paste", true, []string{"yes please\r"}, time.Second, ""},
		{"a key too early", true, []string{"y", "\r"}, time.Millisecond, ""},
		{"enter", true, []string{"\r", "y", "\r"}, time.Second, ""},
		{"interrupt", true, []string{"\x03"}, time.Second, ""},
		{"yes in a line", false, []string{"y\n"}, time.Second, "yes"},
		{"no in a line", false, []string{"no\n"}, time.Second, "no"},
		{"another line", false, []string{"yes, do it\n"}, time.Second, ""},
		{"the beginning of an entry", false, []string{"a\\\n", "y\n"}, time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := ""
				c := newConsole(t, "say I see.", func(c *setup) {
					c.Keys = tt.keys
					c.Suggest = func(context.Context) *Suggestion {
						time.Sleep(50 * time.Millisecond)
						return &Suggestion{Text: "Try it?", Answer: func(_ context.Context, yes bool) (string, error) {
							if answer = "no"; yes {
								answer = "yes"
							}
							return "You said " + answer + ".", nil
						}}
					}
				})
				if got := c.text(); !strings.HasSuffix(strings.TrimRight(got, " "), "\n>") || strings.Contains(got, "Try it?") {
					t.Errorf("the prompt waits: %q", got)
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				if got := c.text(); !strings.Contains(got, "Try it?") || !strings.HasSuffix(strings.TrimRight(got, " "), "\n>") {
					t.Errorf("it is not suggested: %q", got)
				}
				time.Sleep(tt.pause)
				for _, text := range tt.typed {
					c.enter(text)
				}
				c.enter("\n")
				if got := c.text(); answer != tt.want || strings.Contains(got, "You said") != (tt.want != "") || strings.Contains(got, "I see.") != (tt.want == "" && tt.name != "interrupt") {
					t.Errorf("answered %q: %q", answer, got)
				}
				c.keys.Close()
				<-c.done
				for _, s := range c.sessions {
					s.Close()
				}
			})
		})
	}
}

// A suggestion waits until a turn has ended, and a failure is told.
func TestSuggestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Done.", func(c *setup) {
			c.Keys, c.First = true, "go"
			c.Suggest = func(context.Context) *Suggestion {
				return &Suggestion{Text: "Try it?", Answer: func(context.Context, bool) (string, error) { return "", errors.New("the disk is full") }}
			}
		})
		if got := c.text(); strings.Contains(got, "Try it?") {
			t.Errorf("it disturbs: %q", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		c.enter("y")
		if got := c.text(); !strings.Contains(got, "Done.") || !strings.Contains(got, "Try it?") || !strings.Contains(got, "The disk is full.") {
			t.Errorf("%q", got)
		}
		c.keys.Close()
		<-c.done
		for _, s := range c.sessions {
			s.Close()
		}
	})
}

package plain

import (
	"adze/internal/ui/controller"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSuggestion checks that a suggestion appears next to the first prompt when idle and that
// one line answers it. Any other input is a normal prompt.
func TestSuggestion(t *testing.T) {
	for _, tt := range []struct {
		name  string
		typed []string
		want  string // yes, no, or neither
	}{
		{"yes in a line", []string{"1\n"}, "yes"},
		{"no in a line", []string{"2\n"}, "no"},
		{"another line", []string{"yes, do it\n"}, ""},
		{"the beginning of an entry", []string{"a\\\n", "y\n"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := ""
				c := newConsole(t, "say I see.", func(c *setup) {
					c.Suggest = func(context.Context) *controller.Suggestion {
						time.Sleep(50 * time.Millisecond)
						return &controller.Suggestion{Question: "Try it?", Answers: []string{"yes", "no"}, Answer: func(_ context.Context, n int) (string, error) {
							answer = []string{"yes", "no"}[n]
							return "You said " + answer + ".", nil
						}}
					}
				})
				if got := c.Text(); !strings.HasSuffix(strings.TrimRight(got, " "), "\n>") || strings.Contains(got, "Try it?") {
					t.Errorf("the prompt waits: %q", got)
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				if got := c.Text(); !strings.Contains(got, "Try it?") || !strings.HasSuffix(strings.TrimRight(got, " "), "\n>") {
					t.Errorf("it is not suggested: %q", got)
				}
				for _, text := range tt.typed {
					c.Enter(text)
				}
				c.Enter("\n")
				if got := c.Text(); answer != tt.want || strings.Contains(got, "You said") != (tt.want != "") || strings.Contains(got, "I see.") != (tt.want == "") {
					t.Errorf("answered %q: %q", answer, got)
				}
				c.Keys.Close()
				<-c.Done
				for _, s := range c.Sessions {
					s.Close()
				}
			})
		})
	}
}

// TestSuggestionWaits checks that a suggestion waits for the end of a turn and that a failure
// is reported.
func TestSuggestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Done.", func(c *setup) {
			c.First = "go"
			c.Suggest = func(context.Context) *controller.Suggestion {
				return &controller.Suggestion{Question: "Try it?", Answers: []string{"yes", "no"}, Answer: func(context.Context, int) (string, error) { return "", errors.New("the disk is full") }}
			}
		})
		if got := c.Text(); strings.Contains(got, "Try it?") {
			t.Errorf("it disturbs: %q", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		c.Enter("1\n")
		if got := c.Text(); !strings.Contains(got, "Done.") || !strings.Contains(got, "Try it?") || !strings.Contains(got, "The disk is full.") {
			t.Errorf("%q", got)
		}
		c.Keys.Close()
		<-c.Done
		for _, s := range c.Sessions {
			s.Close()
		}
	})
}

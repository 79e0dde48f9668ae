package plain

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/desk"
)

// withCommands adds a command that takes 5 seconds and one that stands for a prompt.
func withCommands(keys bool) func(*setup) {
	return func(c *setup) {
		c.Keys, c.desk.Version = keys, "9.9"
		c.desk.Surroundings.Commands = func(bool) []desk.Command {
			return []desk.Command{
				{Name: "slow", Origin: "a test", Run: func(ctx context.Context, _ *desk.Desk, _ string) (desk.Answer, error) {
					select {
					case <-time.After(5 * time.Second):
						return desk.Say("It was slow."), nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}},
				{Name: "ask", Kind: desk.Ask, Origin: "a test", Run: func(_ context.Context, _ *desk.Desk, arg string) (desk.Answer, error) {
					return desk.Prompt{Text: "asked for " + arg}, nil
				}},
			}
		}
	}
}

// While the model works, a command that changes nothing answers at once, and one that stands for a prompt waits until the
// turn has ended: it is not said into the turn.
//
// Proves CMD-01.
func TestCommandsWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nexpect no-text \"asked for\"\nsay Finished.\n---\nexpect last \"asked for tea\"\nsay Tea.", withCommands(false))
		c.enter("go\n")
		time.Sleep(time.Second)
		c.enter("/version\n")
		c.enter("/ask tea\n")
		if got := c.text(); !strings.Contains(got, "adze 9.9") || !strings.Contains(got, "It is sent when the model has finished.") || strings.Contains(got, "Finished.") {
			t.Errorf("while it works:\n%s", got)
		}
		time.Sleep(20 * time.Second)
		c.keys.Close()
		if err := <-c.done; err != nil {
			t.Error(err)
		}
		for _, s := range c.sessions {
			s.Close()
		}
		if got := c.text(); !strings.Contains(got, "Finished.") || !strings.Contains(got, "Tea.") {
			t.Errorf("at the end:\n%s", got)
		}
	})
}

// A command that takes long does not stop the screen: it is shown with its time, what is entered meanwhile waits for
// its end, and a key cancels it.
//
// Proves CMD-01.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say Hi.", withCommands(true))
		c.enter("/slow\r")
		time.Sleep(2500 * time.Millisecond)
		if got := c.text(); !strings.Contains(got, "… /slow (2s; Esc interrupts)") {
			t.Errorf("while it runs:\n%s", got)
		}
		c.enter("/version\r")
		time.Sleep(5 * time.Second)
		got := c.text()
		if slow, next := strings.Index(got, "It was slow."), strings.Index(got, "adze 9.9"); slow < 0 || next < slow {
			t.Errorf("after it:\n%s", got)
		}
		c.enter("/slow\r")
		time.Sleep(time.Second)
		c.enter("/help\r")
		c.enter("\x1b")
		time.Sleep(time.Second)
		if got := c.text(); !strings.Contains(got, "Interrupted; 1 line entered meanwhile dropped") || strings.Contains(got, "Conversation:") {
			t.Errorf("after Esc:\n%s", got)
		}
		c.enter("/slow\r")
		time.Sleep(time.Second)
		c.keys.Close() // the end of the input waits for it
		if err := <-c.done; err != nil {
			t.Error(err)
		}
		for _, s := range c.sessions {
			s.Close()
		}
		if got := c.text(); strings.Count(got, "It was slow.") != 2 {
			t.Errorf("at the end:\n%s", got)
		}
	})
}

package plain

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/commands"
	"adze/internal/ui/controller/controllertest"
)

// TestCommandsWhileItWorks checks that, while the model works, a read-only command answers
// immediately and a prompt command waits until the turn has ended instead of being added to the
// turn.
//
// Proves CMD-01.
func TestCommandsWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nexpect no-text \"asked for\"\nsay Finished.\n---\nexpect last \"asked for tea\"\nsay Tea.", func(c *setup) {
			c.Commands.Version, c.Commands.Env.Commands = "9.9", func(bool) []commands.Command { return controllertest.Commands() }
		})
		c.Enter("go\n")
		time.Sleep(time.Second)
		c.Enter("/version\n")
		c.Enter("/ask tea\n")
		if got := c.Text(); !strings.Contains(got, "adze 9.9") || !strings.Contains(got, "It is sent when the model has finished.") || strings.Contains(got, "Finished.") {
			t.Errorf("while it works:\n%s", got)
		}
		time.Sleep(20 * time.Second)
		c.Keys.Close()
		if err := <-c.Done; err != nil {
			t.Error(err)
		}
		for _, s := range c.Sessions {
			s.Close()
		}
		if got := c.Text(); !strings.Contains(got, "Finished.") || !strings.Contains(got, "Tea.") {
			t.Errorf("at the end:\n%s", got)
		}
	})
}

// TestSlowCommand checks that a slow command is shown, that input entered while it runs waits
// for its end, and that Ctrl-C cancels it.
//
// Proves CMD-01.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say Hi.", func(c *setup) {
			c.Commands.Version, c.Commands.Env.Commands = "9.9", func(bool) []commands.Command { return controllertest.Commands() }
		})
		c.Enter("/slow\n")
		time.Sleep(2500 * time.Millisecond)
		if got := c.Text(); !strings.Contains(got, "⋯ /slow (") {
			t.Errorf("while it runs:\n%s", got)
		}
		c.Enter("/version\n")
		time.Sleep(5 * time.Second)
		got := c.Text()
		if slow, next := strings.Index(got, "It was slow."), strings.Index(got, "adze 9.9"); slow < 0 || next < slow {
			t.Errorf("after it:\n%s", got)
		}
		c.Enter("/slow\n")
		time.Sleep(time.Second)
		c.Enter("/help\n")
		c.interrupt()
		time.Sleep(time.Second)
		if got := c.Text(); !strings.Contains(got, "Interrupted; 1 queued line discarded") || strings.Contains(got, "Conversation:") {
			t.Errorf("after an interrupt:\n%s", got)
		}
		c.Enter("/slow\n")
		time.Sleep(time.Second)
		c.Keys.Close() // the end of input waits for the command
		if err := <-c.Done; err != nil {
			t.Error(err)
		}
		for _, s := range c.Sessions {
			s.Close()
		}
		if got := c.Text(); strings.Count(got, "It was slow.") != 2 {
			t.Errorf("at the end:\n%s", got)
		}
	})
}

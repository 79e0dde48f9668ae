package plain

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/permission"
	"adze/internal/session"
)

// tell reports a sub-agent's state to the session.
func (c *console) tell(t session.Task) {
	c.T.Helper()
	t.Type = "scout"
	if err := c.Sessions[0].Submit(c.T.Context(), t); err != nil {
		c.T.Fatal(err)
	}
	synctest.Wait()
}

// works returns the state of a sub-agent that has made calls.
func works(id, title string, calls int, doing string) session.Task {
	return session.Task{ID: id, Title: title, Use: "toolu_1_1", News: session.TaskWorks, Used: session.TaskUse{Calls: calls}, Doing: doing}
}

// TestAgentsBesideAnAnswer checks that background sub-agents do not delay the streaming of an
// answer.
func TestAgentsBesideAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "fragments 8 every=1s\nsay one two three four five six seven eight", nil)
		c.Enter("go\n")
		time.Sleep(1500 * time.Millisecond)
		c.tell(session.Task{ID: "a1", Title: "look around", Use: "toolu_0_1"})
		time.Sleep(4 * time.Second)
		c.Shows("one two three")
		c.Hides("eight")
		time.Sleep(5 * time.Second)
		c.Shows("eight")
		c.End()
	})
}

// TestAgentsAtWork checks that sub-agents are reported once, and again only after a silence,
// regardless of their activity.
//
// Proves AGENT-40.
func TestAgentsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Done.", nil)
		c.Enter("go\n")
		c.tell(session.Task{ID: "a1", Title: "look around", Use: "toolu_1_1"})
		c.tell(session.Task{ID: "a2", Title: "look again", Use: "toolu_1_1"})
		for range 9 {
			for n := range 10 {
				c.tell(works("a1", "look around", n, "Read a.go"))
				c.tell(works("a2", "look again", n, "Read a.go"))
			}
			time.Sleep(time.Second)
		}
		if n := strings.Count(c.Text(), "2 agents at work: scout: look around"); n != 1 {
			t.Errorf("told %d times:\n%s", n, c.Text())
		}
		time.Sleep(5 * time.Second)
		c.End()
	})
}

// TestAgentAsks checks that a question first names the sub-agent that asks it, on one line, for
// any name.
//
// Proves AGENT-12.
func TestAgentAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say Hi.", nil)
		answers := make(chan permission.Answer, 1)
		go func() {
			a, err := c.Sessions[0].AskPermission(t.Context(), permission.Question{
				ID: "u", Tool: "Bash", Command: "make", Agent: &permission.Agent{ID: "a1", Type: "scout", Title: "look\x1b[2J\naround"},
			})
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
		c.Shows("\nscout (look")
		c.Shows("around) asks:\n\nRun\n  make\nRun this command?")
		c.Enter("y\n")
		if a := <-answers; a.Behavior != permission.Allow {
			t.Errorf("got %+v", a)
		}
		c.End()
	})
}

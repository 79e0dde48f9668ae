package plain

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/desk"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/task"
	"adze/internal/session"
)

// beside tells the session what a sub-agent does.
func (c *console) beside(id, title, use string, ev agent.Event) {
	c.t.Helper()
	if err := c.sessions[0].Submit(c.t.Context(), session.Beside{ID: id, Type: "scout", Title: title, Use: use, Event: ev}); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

func started(title string) agent.Event {
	return agent.ToolStarted{Use: msg.NewToolUse("u", "Read", "{}"), Title: title}
}

// A sub-agent at work has a line, several have one each below their number; when they end, the lines go. What they are
// called cannot move the cursor.
//
// Proves AGENT-40.
func TestAgentsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := task.New(t.TempDir(), nil)
		behind, err := table.Begin(t.Context(), task.Agent, "in the back", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := behind.ToBackground(); err != nil {
			t.Fatal(err)
		}
		c := newConsole(t, "use Wait {}\n---\nuse Wait {}\n---\nsay Done.", func(s *setup) {
			s.Keys, s.desk.Tasks, s.Width = true, table, func() int { return 80 }
			s.desk.Extensions.Agents.Working = func() []desk.AtWork {
				return []desk.AtWork{{ID: "a1", Type: "scout", Title: "look around", Calls: 2, Last: "Read b.go"}}
			}
		})
		c.enter("go\r")
		c.beside("a1", "look around", "toolu_1_1", started("Read a.go"))
		c.beside("a1", "look around", "toolu_1_1", agent.Appended{Entry: msg.Entry{Message: msg.Message{Role: msg.Assistant}, Usage: &msg.Usage{Input: 1200, Output: 34}}})
		time.Sleep(3 * time.Second)
		c.shows("… scout: look around · 1 call, 1,234 tokens · Read a.go (3s; Esc interrupts)")
		c.hides("Wait")

		c.beside("a1", "look around", "toolu_1_1", started("Read b.go"))
		c.beside("a2", "evil\x1b[2J\nname", "toolu_1_1", started("Run \x1b]0;x\a"+strings.Repeat("long ", 40)))
		c.beside(behind.ID, "in the back", "toolu_0_1", started("Grep x"))
		time.Sleep(time.Second)
		c.shows("… 3 agents at work (4s; Esc interrupts)\n" +
			"  scout: look around · 2 calls, 1,234 tokens · Read b.go\n" +
			"  scout: evil")
		c.shows("\n  scout: in the back · 1 call · Grep x")

		time.Sleep(8 * time.Second) // the first call has ended
		c.shows("… scout: in the back · 1 call · Grep x (9s; Esc interrupts)\n… Wait")
		behind.Conclude(task.Report{Result: "<xml>", Calls: 3, Tokens: 4567})
		behind.End(task.Completed, "")
		time.Sleep(time.Second)
		c.shows("* Agent " + behind.ID + ", in the back: completed, 3 calls, 4,567 tokens (12s)\n")
		c.beside(behind.ID, "in the back", "toolu_0_1", started("too late"))
		c.hides("too late")
		c.hides("xml")
		time.Sleep(20 * time.Second)
		c.shows("Done.")
		c.enter("/tasks\r")
		c.shows("At work  type   task         calls  last\na1       scout  look around  2      Read b.go\n")
		c.end()
	})
}

// What sub-agents do beside an answer does not hold it back: it is written as it arrives.
func TestAgentsBesideAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "fragments 8 every=1s\nsay one two three four five six seven eight", nil)
		c.enter("go\n")
		time.Sleep(1500 * time.Millisecond)
		c.beside("a1", "look around", "toolu_0_1", started("Read a.go"))
		time.Sleep(4 * time.Second)
		c.shows("one two three")
		c.hides("eight")
		time.Sleep(5 * time.Second)
		c.shows("eight")
		c.end()
	})
}

// Where lines are appended, sub-agents are told of once, and again after a silence, however much they do.
//
// Proves AGENT-40.
func TestAgentsAtWorkAppended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Done.", nil)
		c.enter("go\n")
		for range 9 {
			for range 10 {
				c.beside("a1", "look around", "toolu_1_1", started("Read a.go"))
				c.beside("a2", "look again", "toolu_1_1", started("Read a.go"))
			}
			time.Sleep(time.Second)
		}
		if n := strings.Count(c.text(), "2 agents at work: scout: look around"); n != 1 {
			t.Errorf("told %d times:\n%s", n, c.text())
		}
		time.Sleep(5 * time.Second)
		c.end()
	})
}

// A question names the sub-agent that asks it first, on one line, whatever it is called.
//
// Proves AGENT-12.
func TestAgentAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say Hi.", nil)
		answers := make(chan permission.Answer, 1)
		go func() {
			a, err := c.sessions[0].AskPermission(t.Context(), permission.Question{
				ID: "u", Tool: "Bash", Command: "make", Agent: &permission.Agent{ID: "a1", Type: "scout", Title: "look\x1b[2J\naround"},
			})
			if err != nil {
				t.Error(err)
			}
			answers <- a
		}()
		c.shows("\nscout (look")
		c.shows("around) asks:\n\nBash\n  make\nAllow?")
		c.enter("y\n")
		if a := <-answers; a.Behavior != permission.Allow {
			t.Errorf("got %+v", a)
		}
		c.end()
	})
}

package plain

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/desk"
	"adze/internal/permission"
	"adze/internal/platform/task"
	"adze/internal/session"
)

// tell tells the session how a sub-agent stands.
func (c *console) tell(t session.Task) {
	c.t.Helper()
	t.Type = "scout"
	if err := c.sessions[0].Submit(c.t.Context(), t); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

// works returns how a sub-agent stands that has made calls.
func works(id, title string, calls int, doing string) session.Task {
	return session.Task{ID: id, Title: title, Use: "toolu_1_1", News: session.TaskWorks, Used: session.TaskUse{Calls: calls}, Doing: doing}
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
				return []desk.AtWork{
					{ID: "a1", Type: "scout", Title: "look around", Calls: 2, Last: "Read b.go"},
					{ID: "a2", Type: "scout", Title: "look again"},
					{ID: "a3", Parent: "a1", Type: "maker", Title: "look deeper", Calls: 1, Last: "Read c.go"},
				}
			}
		})
		c.enter("go\r")
		c.tell(session.Task{ID: "a1", Title: "look around", Use: "toolu_1_1"})
		first := works("a1", "look around", 1, "Read a.go")
		first.Used.Tokens = 1234
		c.tell(first)
		time.Sleep(3 * time.Second)
		c.shows("… scout: look around · 1 call, 1,234 tokens · Read a.go (3s; Esc interrupts)")
		c.hides("Wait")

		first.Used.Calls, first.Doing = 2, "Read b.go"
		c.tell(first)
		c.tell(session.Task{ID: "a2", Title: "evil\x1b[2J\nname", Use: "toolu_1_1", Doing: "Run \x1b]0;x\a" + strings.Repeat("long ", 40)})
		back := session.Task{ID: behind.ID, Title: "in the back", Use: "toolu_0_1", Background: true, Used: session.TaskUse{Calls: 1}, Doing: "Grep x"}
		c.tell(back)
		c.tell(session.Task{ID: "a4", Title: "deeper", Use: "toolu_9_1", Parent: "a3"})
		c.tell(session.Task{ID: "a3", Title: "deep", Use: "toolu_8_1", Parent: "a1", Summary: "Reading the tests", Doing: "Read c.go"})
		time.Sleep(time.Second)
		c.shows("… 5 agents at work (4s; Esc interrupts)\n" +
			"  scout: look around · 2 calls, 1,234 tokens · Read b.go\n" +
			"    scout: deep · 0 calls · Reading the tests\n" +
			"      scout: deeper · 0 calls\n" +
			"  scout: evil")
		c.shows("\n  scout: in the back · 1 call · Grep x")

		for _, id := range []string{"a4", "a3", "a2", "a1"} {
			c.tell(session.Task{ID: id, News: session.TaskEnded})
		}
		time.Sleep(8 * time.Second) // the first call has ended
		c.shows("… scout: in the back · 1 call · Grep x (9s; Esc interrupts)\n… Wait")
		behind.Conclude(task.Report{Result: "<xml>", Calls: 3, Tokens: 4567})
		behind.End(task.Completed, "")
		time.Sleep(time.Second)
		c.shows("* Agent " + behind.ID + ", in the back: completed, 3 calls, 4,567 tokens (12s)\n")
		back.News = session.TaskEnded
		c.tell(back)
		c.tell(works(behind.ID, "in the back", 2, "too late"))
		c.hides("too late")
		c.hides("xml")
		time.Sleep(20 * time.Second)
		c.shows("Done.")
		c.enter("/tasks\r")
		c.shows("At work  type   task         calls  last\n" +
			"a1       scout  look around  2      Read b.go\n" +
			"  a3     maker  look deeper  1      Read c.go\n" +
			"a2       scout  look again   0")
		c.end()
	})
}

// What sub-agents do beside an answer does not hold it back: it is written as it arrives.
func TestAgentsBesideAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "fragments 8 every=1s\nsay one two three four five six seven eight", nil)
		c.enter("go\n")
		time.Sleep(1500 * time.Millisecond)
		c.tell(session.Task{ID: "a1", Title: "look around", Use: "toolu_0_1"})
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
		c.tell(session.Task{ID: "a1", Title: "look around", Use: "toolu_1_1"})
		c.tell(session.Task{ID: "a2", Title: "look again", Use: "toolu_1_1"})
		for range 9 {
			for n := range 10 {
				c.tell(works("a1", "look around", n, "Read a.go"))
				c.tell(works("a2", "look again", n, "Read a.go"))
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

package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/task"
	"adze/internal/tool"
)

// byKeys makes the terminal of a test deliver keys.
func byKeys(s *setup) { s.Keys = true }

// end leaves the conversation and waits for its end.
func (c *console) end() {
	c.t.Helper()
	c.keys.Close()
	if err := <-c.done; err != nil {
		c.t.Error(err)
	}
	for _, s := range c.sessions {
		s.Close()
	}
	if p := c.screen.Problems(); c.byKey && len(p) > 0 {
		c.t.Error(p)
	}
}

// shows checks that the screen shows a text, and hides that it does not.
func (c *console) shows(want string) {
	c.t.Helper()
	synctest.Wait()
	if got := c.text(); !strings.Contains(got, want) {
		c.t.Errorf("%q is not on the screen:\n%s", want, got)
	}
}

func (c *console) hides(text string) {
	c.t.Helper()
	synctest.Wait()
	if got := c.text(); strings.Contains(got, text) {
		c.t.Errorf("%q is on the screen:\n%s", text, got)
	}
}

// runTool is a tool that prints lines, one each second, and ends with an exit code.
func runTool() tool.Tool {
	def := tool.Def{Name: "Run", Doc: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}
	type input struct {
		Lines int  `json:"lines"`
		Exit  int  `json:"exit"`
		Slow  bool `json:"slow"`
	}
	return tool.New(def, func(ctx context.Context, in input, report func(tool.Progress)) (tool.Result, error) {
		var lines []string
		for i := range in.Lines {
			if lines = append(lines, fmt.Sprintf("line %d\tof it", i+1)); in.Slow {
				report(tool.Progress{Display: tool.Output{Text: strings.Join(lines[max(0, len(lines)-5):], "\n"), Lines: len(lines)}})
				time.Sleep(time.Second)
			}
		}
		text := strings.Join(lines, "\n")
		return tool.Result{
			Parts: []msg.Part{&msg.Text{Text: text}}, IsError: in.Exit != 0,
			Display: tool.Output{Text: text, Lines: len(lines), Exit: &in.Exit, Note: strings.Repeat("Exit code", min(1, in.Exit))},
		}, nil
	})
}

// The user sees what is waited for after two seconds, at most ten seconds pass without a sign, and nothing happens while
// nothing goes on (the model's side, finding 5 and 5.2; second look 2.9).
//
// Proves X-193, CLI-05.
func TestWaiting(t *testing.T) {
	for _, keys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, "delay 45s\nthink Hm.\ndelay 30s\nsay Here.", func(s *setup) { s.Keys = keys })
			c.enter(map[bool]string{true: "go\r", false: "go\n"}[keys])
			time.Sleep(1500 * time.Millisecond)
			c.hides("…")
			time.Sleep(2 * time.Second)
			c.shows("… waiting for the model (")
			time.Sleep(80 * time.Second)
			c.shows("Here.")
			c.mu.Lock()
			before := c.written[0]
			for _, at := range c.written {
				if at.Sub(before) > 10*time.Second {
					t.Errorf("nothing was written for %v", at.Sub(before))
				}
				before = at
			}
			c.written = nil
			c.mu.Unlock()
			if keys {
				c.hides("…") // the row is gone
			} else {
				c.shows("… thinking (")
			}
			time.Sleep(time.Minute)
			c.mu.Lock()
			if len(c.written) > 0 {
				t.Errorf("%d times something was written while nothing happened", len(c.written))
			}
			c.mu.Unlock()
			c.end()
		})
	}
}

// What commands print is shown: its end while they run and when they have ended, and all of it when they fail, line by
// line and with the exit code (the model's side 5.3, second look 2.4).
//
// Proves CLI-05.
func TestOutput(t *testing.T) {
	last := "  ⋯ 4 earlier lines (Ctrl-O shows them)\n  line 5    of it\n"
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, `use Run {"lines":14}
---
say One.
---
use Run {"lines":14,"exit":3}
---
say Two.
---
use Run {"lines":7,"slow":true}
---
say Three.`, func(s *setup) { byKeys(s); s.tools = append(s.tools, runTool()) })
		c.enter("\x0f")
		c.shows("No command has printed anything yet.")
		c.enter("first\r")
		c.shows("* Run: 14 lines\n" + last)
		c.hides("line 4")
		c.enter("\x0f")
		c.shows("* Run: 14 lines\n  line 1    of it\n  line 2")
		c.enter("second\r")
		c.shows("* Run: exit code 3, 14 lines\n  line 1    of it\n")
		c.hides("\nExit code")
		c.enter("third\r")
		time.Sleep(6500 * time.Millisecond)
		c.shows("… Run (6s; Esc interrupts)\n  ⋯ 2 earlier lines\n  line 3    of it\n")
		time.Sleep(time.Second)
		c.shows("* Run: 7 lines (7s)\n  line 1")
		c.hides("… Run")
		c.end()
	})
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Run {\"lines\":14}\n---\nsay One.", func(s *setup) { s.Verbose, s.tools = true, append(s.tools, runTool()) })
		c.enter("first\n")
		c.shows("* Run: 14 lines\n  line 1")
		c.end()
	})
}

// How far a call says it is, is shown below it, or with it where lines are appended.
//
// Proves MCP-36.
func TestProgressIsShown(t *testing.T) {
	def := tool.Def{Name: "Copy", Doc: "Copies.", Schema: json.RawMessage(`{"type":"object"}`)}
	copies := tool.New(def, func(ctx context.Context, in struct{}, report func(tool.Progress)) (tool.Result, error) {
		for i := range 20 {
			report(tool.Progress{Display: tool.Plain{Text: fmt.Sprintf("%d of 20: \x1b[31mcopying", i+1)}})
			time.Sleep(time.Second)
		}
		return tool.Text("done"), nil
	})
	for _, keys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, "use Copy {}\n---\nsay One.", func(s *setup) { s.Keys, s.tools = keys, append(s.tools, copies) })
			c.enter(map[bool]string{true: "go\r", false: "go\n"}[keys])
			time.Sleep(12500 * time.Millisecond)
			if keys {
				c.shows("… Copy (12s; Esc interrupts)\n  13 of 20: [31mcopying")
			} else {
				c.shows("… Copy: ")
				c.shows(" of 20: [31mcopying (")
			}
			time.Sleep(10 * time.Second)
			if c.shows("One."); keys {
				c.hides("of 20")
			}
			c.end()
		})
	}
}

// Esc interrupts, and what was typed stays; twice it drops that. Other keys do what they do elsewhere (second look 2.15).
//
// Proves.
func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Never.", func(s *setup) {
			byKeys(s)
			s.Typing.History = []string{"an earlier entry"}
		})
		press := func(keys string) {
			c.enter(keys)
			time.Sleep(100 * time.Millisecond) // an escape is a key when nothing follows
			synctest.Wait()
		}
		press("go\r")
		press("half typed")
		press("\x1b")
		c.shows("Interrupting.\n")
		c.shows("Interrupted. What should the model do instead?\n")
		if got := c.text(); !strings.HasSuffix(got, "> half typed") {
			t.Errorf("what was typed is gone:\n%s", got)
		}
		press("\x1b[A\x1b[B") // sequences are no escapes
		press("\x1b")
		c.shows("> half typed")
		press("\x1b")
		if got := c.text(); !strings.HasSuffix(got, "\n>") {
			t.Errorf("what was typed stays:\n%s", got)
		}
		press("\x12earl")
		c.shows(`earlier entry with "earl": an earlier entry`)
		press("\x07")
		press("\x1b[Z")
		if c.mode != "acceptEdits" {
			t.Errorf("the mode is %s", c.mode)
		}
		press("\x1b[Z\x1b[Z")
		if c.mode != "default" {
			t.Errorf("the mode is %s", c.mode)
		}
		press("\x0c")
		if rows := c.screen.Screen(); rows[0] != ">" {
			t.Errorf("the screen is not clear: %q", rows)
		}
		press("?")
		c.shows("Ctrl-O")
		press("what?")
		c.shows("> what?")
		press("\x15\t")
		c.end()
	})
}

// A question waits while the user types, and says so; what is typed never answers it.
func TestQuestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "delay 5s\nuse Do {}\n---\nsay Done.", byKeys)
		c.enter("go\r")
		c.enter("y")
		time.Sleep(6 * time.Second)
		c.shows("A question waits until what you are typing is sent or")
		c.hides("Allow?")
		c.enter("\x7f")
		c.shows("Allow? [y]es")
		c.hides("Done.")
		c.enter("y\r")
		c.shows("Done.")
		c.end()
	})
}

// A command that the user typed shows what it prints and can be interrupted (second look 2.2).
func TestTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "expect text \"$ make\"\nexpect text \"interrupted\"\nsay I see.", func(s *setup) {
			byKeys(s)
			s.desk.Execute = func(ctx context.Context, command string, report func(tool.Display)) (string, error) {
				report(tool.Output{Text: "building", Lines: 1})
				<-ctx.Done()
				return "building\ninterrupted", nil
			}
		})
		c.enter("!make\r")
		time.Sleep(3500 * time.Millisecond)
		c.shows("… !make (3s; Esc interrupts)\n  building")
		c.enter("!make\r")
		c.shows("Another command is still running")
		c.enter("\x03")
		c.shows("> !make\n")
		c.shows("  building\n  interrupted\n>")
		c.enter("well?\r")
		c.shows("I see.")
		c.enter("!make\r")
		c.enter("\x04") // it ends with the conversation
		c.end()
	})
}

// The user is told of tasks that end, and which would end with the program, once (the model's side 5.14, second look 2.19).
func TestTasksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := task.New(t.TempDir(), nil)
		var tasks []*task.Task
		start := tool.New(tool.Def{Name: "Start", Doc: "Starts.", Schema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) {
			tk, err := table.Begin(context.Background(), task.Shell, "the build", "make")
			if err != nil {
				return tool.Result{}, err
			}
			tasks = append(tasks, tk)
			r := tool.Text("runs")
			r.Display = tool.Output{Note: "runs in the background as " + tk.ID}
			return r, tk.ToBackground()
		})
		c := newConsole(t, "use Start {}\nuse Start {}\n---\nsay Started.", func(s *setup) {
			byKeys(s)
			s.desk.Tasks, s.tools = table, []tool.Tool{start}
		})
		c.enter("go\r")
		c.shows("* Start: runs in the background as " + tasks[0].ID)
		fmt.Fprintln(tasks[0].Output, "oops")
		time.Sleep(3 * time.Second)
		tasks[0].End(task.Failed, "exit code 2")
		c.shows("* Task " + tasks[0].ID + ", the build: failed, exit code 2")
		c.shows("  oops\n>")
		c.enter("\x04")
		c.shows("1 background task is still running and would be ended:\n" + tasks[1].ID)
		c.shows("To leave all the same, press Ctrl-D or enter the command\nagain.\n>")
		c.enter("\x04")
		c.end()
		tasks[1].End(task.Killed, "")
		table.Close()
	})
}

// What the model says between calls is shown, also where it comes as thinking (the model's side, finding 5).
//
// Proves PROV-42.
func TestUpdates(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(Config{Out: &out, Width: func() int { return 40 }, Height: func() int { return 20 }})
	for _, ev := range []model.Event{
		model.ThinkingDelta{Text: "A secret thought."},
		model.BlockDone{Part: &msg.Thinking{Text: "A secret thought."}},
		model.ThinkingDelta{Block: 1, Text: "Next I look ", Update: true}, model.ThinkingDelta{Block: 1, Text: "at the tests.", Update: true},
		model.BlockDone{Block: 1, Part: &msg.Thinking{Text: "Next I look at the tests."}},
		model.TextDelta{Block: 2, Text: "They fail."},
	} {
		p.event(agent.Delta{Event: ev})
	}
	p.fresh()
	if want := "\nNext I look at the tests.\n\nThey fail.\n"; out.String() != want {
		t.Errorf("written %q, want %q", out.String(), want)
	}
}

// Whatever is typed, nothing breaks, and nothing reaches the terminal that it would obey.
func TestGarbage(t *testing.T) {
	pieces := []string{
		"\x1b", "[", "\x1b[A", "\x1b[200~", "\x1b[201~", "\r", "\n", "\t", "\x7f", "\x12", "\x0c", "\x0f", "\x19", "\x1f", "\x02", "\x1b[Z", "?", "!x", "/", "/mode plan\r", "#",
		"\xff", "é", "漢字", "👩\u200d👧", "\u202e", "\u200c", "\x00", "\x1a", "\x07", "word ", strings.Repeat("long ", 40), "\x1b[1;5D", "\x1b[999;999u", "\x1b]0;t\x07", "\x15", "\x17", "\x1bd",
	}
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			c := newConsole(t, "forever\nfragments 3 every=300ms\nsay Some *text* with `code` and \x1b[31m.", func(s *setup) {
				byKeys(s)
				s.desk.Execute = func(ctx context.Context, _ string, report func(tool.Display)) (string, error) {
					report(tool.Output{Text: "\x1b[2Jx", Lines: 1})
					time.Sleep(time.Second)
					return "done", nil
				}
			})
			for range 150 {
				c.enter(pieces[rnd.IntN(len(pieces))])
				time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			}
			c.enter("\x1b[201~")
			time.Sleep(time.Minute)
			c.end()
		})
	}
}

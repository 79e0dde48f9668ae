package plain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/ui/controller/controllertest"
)

// TestWaiting checks that the user sees a wait after two seconds, that at most ten seconds pass
// without output, and that nothing is written while idle (the model's side, finding 5 and 5.2;
// second look 2.9).
//
// Proves X-193, CLI-05.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "delay 45s\nthink Hm.\ndelay 30s\nsay Here.", nil)
		c.Enter("go\n")
		time.Sleep(1500 * time.Millisecond)
		c.Hides("⋯")
		time.Sleep(2 * time.Second)
		c.Shows("⋯ waiting for the model (")
		time.Sleep(80 * time.Second)
		c.Shows("Here.")
		written := c.Written()
		before := written[0]
		for _, at := range written {
			if at.Sub(before) > 10*time.Second {
				t.Errorf("nothing was written for %v", at.Sub(before))
			}
			before = at
		}
		c.Shows("⋯ thinking (")
		time.Sleep(time.Minute)
		if n := len(c.Written()); n > 0 {
			t.Errorf("%d times something was written while nothing happened", n)
		}
		c.End()
	})
}

// TestOutput checks that command output is shown: its end while a command runs and when it
// succeeds, and all of it when it fails, line by line and with the exit code (the model's side
// 5.3, second look 2.4).
//
// Proves CLI-05.
func TestOutput(t *testing.T) {
	last := "  ⋯ 4 earlier lines\n  line 5    of it\n"
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
say Three.`, func(s *setup) { s.Tools = append(s.Tools, controllertest.RunTool()) })
		c.Enter("first\n")
		c.Shows("* Run: 14 lines\n" + last)
		c.Hides("line 4")
		c.Enter("second\n")
		c.Shows("* Run: exit code 3, 14 lines\n  line 1    of it\n")
		c.Hides("\nExit code")
		c.Enter("third\n")
		time.Sleep(6500 * time.Millisecond)
		time.Sleep(time.Second)
		c.Shows("* Run: 7 lines (7s)\n  line 1")
		c.End()
	})
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Run {\"lines\":14}\n---\nsay One.", func(s *setup) { s.Verbose, s.Tools = true, append(s.Tools, controllertest.RunTool()) })
		c.Enter("first\n")
		c.Shows("* Run: 14 lines\n  line 1")
		c.End()
	})
}

// TestProgressIsShown checks that a call's progress is shown with the call.
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
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Copy {}\n---\nsay One.", func(s *setup) { s.Tools = append(s.Tools, copies) })
		c.Enter("go\n")
		time.Sleep(12500 * time.Millisecond)
		c.Shows("⋯ Copy: ")
		c.Shows(" of 20: [31mcopying (")
		time.Sleep(10 * time.Second)
		c.Shows("One.")
		c.End()
	})
}

// TestTasksEnd checks that the user is notified once when a task ends, and once of tasks that
// would end with the program (the model's side 5.14, second look 2.19).
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
			s.Commands.Tasks, s.Tools = table, []tool.Tool{start}
		})
		c.Enter("go\n")
		c.Shows("* Start: runs in the background as " + tasks[0].ID)
		fmt.Fprintln(tasks[0].Output, "oops")
		time.Sleep(3 * time.Second)
		tasks[0].End(task.Failed, "exit code 2")
		c.Shows("* Task " + tasks[0].ID + ", the build: failed, exit code 2")
		c.Shows("  oops\n> ")
		c.Enter("/exit\n")
		c.Shows("1 background task is still running and would be ended:\n" + tasks[1].ID)
		c.Shows("Ctrl-D or the same command again stops them and exits.\n> ")
		c.Enter("/exit\n")
		c.End()
		tasks[1].End(task.Killed, "")
		table.Close()
	})
}

// TestUpdates checks that text between calls is shown, including text sent as thinking (the
// model's side, finding 5).
//
// Proves PROV-42.
func TestUpdates(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(Config{Out: &out, Width: func() int { return 40 }})
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

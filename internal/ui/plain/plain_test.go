package plain

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/commands"
	"adze/internal/model/replay"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/ui/controller/controllertest"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A setup holds the configuration a test may change before a front end starts.
type setup struct {
	Config
	*controllertest.Setup
}

// newConsole starts a front end with a script.
func newConsole(t *testing.T, script string, change func(*setup)) *console {
	t.Helper()
	parsed, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	c, more := controllertest.New(t, replay.NewPlayer(parsed).Provider())
	cfg := setup{Config{In: c.In, Out: c, Width: func() int { return 60 }}, more}
	cfg.Config.Open = more.Open
	more.Commands.Env.Keys.Lines = true
	if change != nil {
		change(&cfg)
	}
	interrupts := make(chan struct{})
	cfg.Interrupts = interrupts
	c.Start(New(cfg.Config))
	return &console{c, interrupts}
}

// A console simulates a user at a terminal.
type console struct {
	*controllertest.Console
	interrupts chan<- struct{}
}

// interrupt presses Ctrl-C.
func (c *console) interrupt() {
	c.interrupts <- struct{}{}
	synctest.Wait()
}

// close waits for the end and compares the whole screen with a golden file.
func (c *console) close(golden string) {
	c.T.Helper()
	c.End()
	path := filepath.Join("testdata", golden+".golden")
	got := strings.TrimRight(strings.ReplaceAll(c.Text(), "\r", ""), "\n") + "\n"
	got = regexp.MustCompile(`about \d+ to \d+ tokens`).ReplaceAllString(got, "about N to N tokens") // estimates
	got = regexp.MustCompile(`/\S+/b\w{8}\.output`).ReplaceAllString(got, "ITS FILE")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			c.T.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		c.T.Errorf("the screen (-want +got):\n%s", diff)
	}
}

// Proves X-129.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, `
say First, a *plain* answer that is long enough to be broken into two lines.
usage input=10 output=3
---
say I will.
use Do {}
usage input=10 output=3
---
use Do {}
---
use Do {}
---
say Done.
`, nil)
		c.Enter("hello\n")
		c.Enter("do it\n")
		c.Enter("y\n")
		c.Enter("a\n")
		c.Enter("use another way\n")
		c.Enter("one \\\n")
		c.Keys.Close()
		c.close("conversation")
	})
}

// Proves CMD-01, SESS-44, SESS-45.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say one\nusage input=0 output=4\n---\nsay two\nusage input=1 output=2\n---\nsay three\nusage input=1 output=2\n---\nexpect last \"/usr/bin/x explain\"\nsay A path.\nusage input=1 output=2", func(c *setup) {
			c.WarnUSD = 5
			controllertest.KeepSession(t, &c.Commands, "00000001-id", "a title")
			controllertest.KeepSession(t, &c.Commands, "00000002-id", "another")
			c.Commands.Execute = func(_ context.Context, command string, _ func(tool.Display)) (commands.ShellResult, error) {
				return commands.ShellResult{Output: "ran " + command}, nil
			}
		})
		for _, line := range []string{
			"/help", "/hlep", "/cost", "first", "second", "third", "/cost", "/model", "/model none", "/model large", "/mode plan",
			"/effort some", "/effort high", "/thinking", "/thinking off",
			"/rename", "/rename a name", "/export .md", "!make test", "!", "/mode", "y", "9", "x", "3", "/model", "no", "/usr/bin/x explain", "/resume missing", "/resume", "2", "/clear", "/exit",
		} {
			c.Enter(line + "\n")
		}
		c.close("commands")
		if diff := cmp.Diff([]string{"", "00000002-id", ""}, c.Opened); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
	})
}

// TestCommandIsShownWhole checks that a permission prompt shows the entire command, regardless
// of length and line breaks.
//
// Proves SH-01.
func TestCommandIsShownWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, `use Do {"command":"make"}
---
use Do {"command":"make a-name-that-is-long && make another && make the-last\n  echo second \u001b[2Jline"}
---
say Fine.`, nil)
		c.Enter("go on\n")
		c.Enter("y\n")
		c.Enter("n\n")
		c.close("whole")
	})
}

// TestCompactOneSide checks compacting one side of a selected message, and that the choices are
// shown.
//
// Proves CTX-50.
func TestCompactOneSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("a long answer ", 200)
		c := newConsole(t, "say "+long+`
---
say `+long+`
---
say `+long+`
---
expect text "the first"
expect text "Summarise only what came before"
say <summary>Of the first.</summary>
---
expect text "the third"
expect text "Summarise only what came after"
say <summary>Of the third.</summary>
---
expect text "Of the first."
expect text "the second"
expect text "Of the third."
expect no-text "Of the second."
say I see.
`, func(c *setup) { c.Width = func() int { return 70 } })
		c.Enter("/compact up-to\n")
		c.Enter("the first\n")
		c.Enter("the second, with a\ttab\n")
		c.Enter("the third\n")
		c.Enter("/compact up-to\n")
		c.Enter("/compact from 7\n")
		c.Enter("/compact up-to 2 the tests\n")
		c.Enter("/compact from 00000005\n")
		c.Enter("/force-snip\n")
		c.Enter("and now?\n")
		c.close("compact")
	})
}

func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Fine.\n---\nuse Do {}\n---\nuse Wait {}", nil)
		c.Enter("first\n")
		c.interrupt()
		c.Enter("typo\\\n")
		c.interrupt()
		c.Enter("second\n")
		c.Enter("third\n")
		c.interrupt() // while a question is shown
		c.Enter("fourth\n")
		c.interrupt()
		c.interrupt()
		c.close("interrupts")
	})
}

// TestFirst checks that the command line prompt is handled like any other input.
func TestFirst(t *testing.T) {
	for _, first := range []string{"/resume", "hello"} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, "forever\nexpect last \"hello\"\nsay Welcome.", func(c *setup) {
				c.First = first
				controllertest.KeepSession(t, &c.Commands, "id-1", "a title")
			})
			if first == "/resume" {
				c.Enter("1\n")
				c.Enter("hello\n")
				if diff := cmp.Diff([]string{"", "id-1"}, c.Opened); diff != "" {
					t.Errorf("sessions (-want +got):\n%s", diff)
				}
			}
			c.Keys.Close()
			if err := <-c.Done; err != nil || !strings.Contains(c.Text(), "Welcome.") {
				t.Errorf("%v; the screen:\n%s", err, c.Text())
			}
			for _, s := range c.Sessions {
				s.Close()
			}
		})
	}
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "error invalid_request no way", nil)
		c.Enter("hello\n")
		c.close("errors")
	})
}

// TestTasks checks that background tasks are listed, inspected, awaited and stopped, and that a
// key moves a running call to the background.
//
// Proves TASK-05, SHBG-02.
func TestTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := task.New(t.TempDir(), nil)
		begin := func(id, title string) *task.Task {
			tk, err := table.Begin(t.Context(), task.Shell, title, "a command")
			if err != nil {
				t.Fatal(err)
			}
			tk.ID = id // fixed, to make the screens comparable
			return tk
		}
		background := func(tk *task.Task) *task.Task {
			if err := tk.ToBackground(); err != nil {
				t.Fatal(err)
			}
			return tk
		}
		waited := begin("b3", "in the foreground")
		c := newConsole(t, "use Wait {}\n---\nsay It goes on by itself.", func(c *setup) {
			c.Commands.Tasks = table
			c.Commands.Env.Keys.Lines = true
			c.Width = func() int { return 200 } // room for the name of a file
		})
		c.Enter("/tasks\n")
		server := background(begin("b1", "a server\x1b[2J"))
		time.Sleep(time.Second)
		build := background(begin("b2", "the build"))
		for i := range 30 {
			fmt.Fprintln(server.Output, "line", i)
		}
		time.Sleep(65 * time.Second)
		build.End(task.Failed, "exit code 2")
		for _, line := range []string{"/tasks", "/tasks b1", "/tasks b2", "/tasks b9", "/tasks do b1", "/tasks stop b2", "/tasks fg b2", "/tasks b", "/tasks stop b", "/tasks fg"} {
			c.Enter(line + "\n")
		}
		fmt.Fprintln(server.Output, "news \x1b]0;title\a")
		time.Sleep(2 * time.Second)
		c.interrupt() // back to the conversation
		c.Enter("/tasks fg b1\n")
		fmt.Fprintln(server.Output, "the last word")
		server.Stop()
		server.End(task.Completed, "exit code 0")
		time.Sleep(time.Second)

		c.Enter("go\n")
		waited.End(task.Completed, "")
		time.Sleep(20 * time.Second)
		c.Enter("/exit\n")
		c.close("tasks")
	})
}

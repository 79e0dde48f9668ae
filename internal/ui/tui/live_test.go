package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/controller"
	"adze/internal/ui/controller/controllertest"

	"github.com/google/go-cmp/cmp"
)

// TestInterrupting checks that a live row shows an interruption in progress, and that only its
// end stays.
func TestInterrupting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tool.New(tool.Def{Name: "Slow", Doc: "Ends late.", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ struct{}, _ func(tool.Progress)) (tool.Result, error) {
			<-ctx.Done()
			time.Sleep(5 * time.Second)
			return tool.Result{}, ctx.Err()
		})
		c := newConsole(t, 80, 24, "use Slow {}\n---\nuse Slow {}", func(s *setup) { s.Tools = []tool.Tool{slow} })
		after := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		}
		for key, says := range map[string]string{"\x1b": "▸ Interrupting", "\x03": "▸ Interrupting; Ctrl-C again exits"} {
			c.Enter("go\r")
			after(2 * time.Second) // the user types nothing
			c.Enter(key)
			after(2*time.Second + 100*time.Millisecond)
			c.Shows(says)
			after(4 * time.Second)
			c.Hides("Interrupting")
		}
		if n := strings.Count(c.Text(), "Stopped. What next?\n"); n != 2 {
			t.Errorf("%d turns were interrupted:\n%s", n, c.Text())
		}
		c.End()
	})
}

// TestKeys checks that Esc interrupts and keeps the typed text, that pressing it twice drops
// the text, and that other keys have their usual meaning (second look 2.15).
//
// Proves.
func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Wait {}\n---\nsay Never.", func(s *setup) {
			s.Typing.History = []string{"an earlier entry"}
		})
		press := func(keys string) {
			c.Enter(keys)
			time.Sleep(100 * time.Millisecond) // a lone escape is a key only after a delay
			synctest.Wait()
		}
		press("go\r")
		press("half typed")
		press("\x1b")
		c.Shows("Stopped. What next?\n")
		c.Hides("Interrupting") // only a live row
		if got := c.Text(); !strings.Contains(got, "❯ half typed\n  ● ask ∙ haiku 5.5 ∙ ") {
			t.Errorf("what was typed is gone:\n%s", got)
		}
		press("\x1b[A\x1b[B") // sequences are not escapes
		press("\x1b")
		c.Shows("❯ half typed")
		press("\x1b")
		if got := c.Text(); !strings.Contains(got, "\n❯\n  ● ask ∙ haiku 5.5 ∙ ") {
			t.Errorf("what was typed stays:\n%s", got)
		}
		press("\x12earl")
		c.Shows("❯ an earlier entry\n  search: earl")
		press("\x07")
		press("\x1b[Z")
		if c.Mode != "acceptEdits" {
			t.Errorf("the mode is %s", c.Mode)
		}
		press("\x1b[Z\x1b[Z")
		if c.Mode != "default" {
			t.Errorf("the mode is %s", c.Mode)
		}
		press("\x0c")
		if rows := c.Screen.Screen(); rows[2] != "❯" {
			t.Errorf("the screen is not clear: %q", rows)
		}
		press("?")
		c.Shows("Ctrl-O")
		press("what?")
		c.Shows("❯ what?")
		press("\x15\t")
		c.End()
	})
}

// TestVimIsShown checks that the vim mode is shown from the beginning and when the setting
// changes.
//
// Proves X-148.
func TestVimIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := true
		c := newConsole(t, 80, 24, "say One.", func(s *setup) {
			s.Typing.Vim = func() (bool, string) { return on, "" }
		})
		c.Shows("INSERT")
		on = false
		c.Enter("x")
		c.Hides("INSERT")
		c.Enter("\x15")
		c.End()
	})
}

// TestInterruptTwice checks that Ctrl-C exits when pressed twice in a row, but not if it drops
// typed text in between.
//
// Proves X-120.
func TestInterruptTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "say One.", nil)
		c.Enter("\x03")
		c.Shows("Press Ctrl-C again to exit")
		time.Sleep(time.Minute)
		c.Enter("words")
		c.Enter("\x03")
		c.Enter("\x1b[A")
		c.Shows("❯ words\n  ● ask")
		c.Enter("\x03")
		c.Enter("\x03")
		if n := strings.Count(c.Text(), "Press Ctrl-C again to exit"); n != 2 {
			t.Errorf("said %d times:\n%s", n, c.Text())
		}
		c.Enter("\x03")
		c.End()
	})
}

// TestCoveredWords checks that text typed before recalling a history entry is in the history
// when that entry is sent or dropped.
//
// Proves X-120.
func TestCoveredWords(t *testing.T) {
	for key, up := range map[string]string{"\r": "\x1b[A\x1b[A", "\x03": "\x1b[A"} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, 80, 24, "say One.", func(s *setup) { s.Typing.History = []string{"an earlier entry"} })
			c.Enter("precious words\x1b[A")
			c.Shows("❯ an earlier entry")
			c.Enter(key)
			time.Sleep(time.Second)
			c.Enter(up)
			c.Shows("❯ precious words\n  ● ask")
			c.Enter("\x15")
			c.End()
		})
	}
}

// TestEditor checks editing the message in an editor with any line ends. Text written before
// the editor failed is in the history.
//
// Proves X-120.
func TestEditor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails error
		writes := "one\r\ntwo\r\n"
		c := newConsole(t, 80, 24, "say Never.", func(s *setup) {
			s.Typing.History = []string{"an earlier entry"}
			s.Programs.Edit = func(path string) error {
				if err := os.WriteFile(path, []byte(writes), 0o600); err != nil {
					t.Error(err)
				}
				return fails
			}
		})
		c.Enter("typed\x07")
		c.Shows("❯ one\n  two\n  ● ask")
		writes, fails = "three", errors.New("it was killed")
		c.Enter("\x07")
		c.Shows("It was killed.\n\n❯ one\n  two\n  ● ask")
		c.Enter("\x15\x7f\x15\x1b[A")
		c.Shows("❯ three\n  ● ask")
		c.Enter("\x15")
		c.End()
	})
}

// TestTyped checks that a typed shell command shows its output and can be interrupted (second
// look 2.2).
func TestTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "expect text \"$ make\"\nexpect text \"interrupted\"\nsay I see.", func(s *setup) {
			s.Commands.Execute = func(ctx context.Context, command string, report func(tool.Display)) (commands.ShellResult, error) {
				report(tool.Output{Text: "building", Lines: 1})
				<-ctx.Done()
				return commands.ShellResult{Output: "building\ninterrupted"}, nil
			}
		})
		c.Enter("!make\r")
		time.Sleep(3500 * time.Millisecond)
		c.Shows("▸ !make 3s\n  building")
		c.Enter("!make\r")
		c.Shows("Another command is still running")
		c.Enter("\x03")
		c.Shows("❯ !make\n")
		c.Shows("  building\n  interrupted\n\n❯")
		c.Enter("well?\r")
		c.Shows("I see.")
		c.Enter("!make\r")
		c.Enter("\x04") // ends with the conversation
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
		c := newConsole(t, 80, 24, "use Start {}\nuse Start {}\n---\nsay Started.", func(s *setup) {
			s.Commands.Tasks, s.Tools = table, []tool.Tool{start}
		})
		c.Enter("go\r")
		c.Shows("✓ Start: runs in the background as " + tasks[0].ID)
		fmt.Fprintln(tasks[0].Output, "oops")
		time.Sleep(3 * time.Second)
		tasks[0].End(task.Failed, "exit code 2")
		c.Shows("✗ Task " + tasks[0].ID + ", the build: failed, exit code 2")
		c.Shows("  oops\n\n❯")
		c.Enter("\x04")
		c.Shows("1 background task is still running and would be ended:\n" + tasks[1].ID)
		c.Shows("Ctrl-D or the same command again stops them and exits.\n\n❯")
		c.Enter("\x04")
		c.End()
		tasks[1].End(task.Killed, "")
		table.Close()
	})
}

// TestGarbage checks that arbitrary input breaks nothing, and that no control sequences from it
// reach the terminal.
func TestGarbage(t *testing.T) {
	pieces := []string{
		"\x1b", "[", "\x1b[A", "\x1b[200~", "\x1b[201~", "\r", "\n", "\t", "\x7f", "\x12", "\x0c", "\x0f", "\x19", "\x1f", "\x02", "\x1b[Z", "?", "!x", "/", "/mode plan\r", "#",
		"\xff", "é", "漢字", "👩\u200d👧", "\u202e", "\u200c", "\x00", "\x1a", "\x07", "word ", strings.Repeat("long ", 40), "\x1b[1;5D", "\x1b[999;999u", "\x1b]0;t\x07", "\x15", "\x17", "\x1bd",
	}
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			c := newConsole(t, 80, 24, "forever\nfragments 3 every=300ms\nsay Some *text* with `code` and \x1b[31m.", func(s *setup) {
				s.Commands.Execute = func(ctx context.Context, _ string, report func(tool.Display)) (commands.ShellResult, error) {
					report(tool.Output{Text: "\x1b[2Jx", Lines: 1})
					time.Sleep(time.Second)
					return commands.ShellResult{Output: "done"}, nil
				}
			})
			for range 150 {
				c.Enter(pieces[rnd.IntN(len(pieces))])
				time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			}
			c.Enter("\x1b[201~")
			time.Sleep(time.Minute)
			c.End()
		})
	}
}

// TestWaiting checks that the user sees a wait after two seconds, that at most ten seconds pass
// without output, and that nothing is written while idle (the model's side, finding 5 and 5.2;
// second look 2.9).
//
// Proves X-193, CLI-05.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "delay 45s\nthink Hm.\ndelay 30s\nsay Here.", nil)
		c.Enter("go\r")
		time.Sleep(1500 * time.Millisecond)
		c.Hides("⋯")
		time.Sleep(2 * time.Second)
		c.Shows("▸ Waiting for the model ")
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
		c.Hides("▸ Waiting") // the row is gone
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
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 30, `use Run {"lines":14}
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
		c.Enter("first\r")
		c.Shows("✓ Run\n  ⋯ 9 earlier lines ∙ Ctrl-O all\n  line 10       of it\n")
		c.Hides("line 9 ")
		c.Enter("\x0f")
		c.Shows("✓ Run: 14 lines\n  line 1    of it\n  line 2 ")
		c.Enter("q")
		c.Hides("line 9 ")
		c.Enter("second\r")
		c.Shows("✗ Run: exit code 3\n  line 1        of it\n")
		c.Hides("\nExit code")
		c.Enter("third\r")
		time.Sleep(6500 * time.Millisecond)
		c.Shows("▸ Run 6s\n")
		c.Shows("  line 7    of it\n  ⋯ 7 lines ∙ Ctrl-B background")
		time.Sleep(time.Second)
		c.Hides("▸ Run")
		c.Shows("Three.")
		c.End()
	})
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 30, "use Run {\"lines\":14}\n---\nsay One.", func(s *setup) { s.Verbose, s.Tools = true, append(s.Tools, controllertest.RunTool()) })
		c.Enter("first\r")
		c.Shows("✓ Run\n  line 1 ")
		c.End()
	})
}

// TestProgressIsShown checks that a call's progress is shown below it, or with it where lines
// are appended.
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
		c := newConsole(t, 80, 24, "use Copy {}\n---\nsay One.", func(s *setup) { s.Tools = append(s.Tools, copies) })
		c.Enter("go\r")
		time.Sleep(12500 * time.Millisecond)
		c.Shows("▸ Copy 12s")
		c.Shows("13 of 20: [31mcopying")
		time.Sleep(10 * time.Second)
		c.Shows("One.")
		c.Hides("of 20")
		c.End()
	})
}

// TestTypingWhileItWorks checks that text can be edited while the model works, that it steers
// the turn, and that output never mixes with it.
func TestTypingWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Wait {}\n---\nexpect last \"faster\"\nsay As you like.", nil)
		c.Enter("go onn\x7f\r")
		time.Sleep(3 * time.Second)
		c.Enter("fas")
		time.Sleep(5500 * time.Millisecond)
		if got := c.Text(); !strings.Contains(got, "\n▸ Wait 8s\n❯ fas\n  ● ask ∙ haiku 5.5 ∙ ") {
			t.Errorf("while something is typed: %q", got)
		}
		c.Enter("ter\r")
		time.Sleep(20 * time.Second)
		c.Enter("\x04")
		c.End()
	})
}

func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Wait {}\n---\nsay Fine.\n---\nuse Do {}\n---\nuse Wait {}", nil)
		c.Enter("first\r")
		c.Enter("\x03")
		c.Enter("typo\x03")
		c.Enter("second\r")
		c.Enter("third\r")
		c.Enter("\x03") // while a question is shown
		c.Enter("fourth\r")
		c.Enter("\x03\x03")
		c.End()
	})
}

// TestTypedAhead checks that input typed while switching sessions goes to the new session. If
// that cannot be opened, the input is dropped: it was not meant for the old one.
func TestTypedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "forever\nexpect last \"hello\"\nsay Welcome.", func(c *setup) {
			controllertest.KeepSession(t, &c.Commands, "id-1", "a title")
		})
		c.Enter("/resume id-1\rhello\rhalf a li")
		c.Shows("Welcome.")
		c.Shows("❯ half a li")
		c.Enter("ne\x15/resume id-1\r/resume id-1\rhello there\r")
		c.Enter("/resume missing\rdelete it\r")
		c.Shows("Unsent input was discarded.")
		c.Enter("\x03\x03")
		if diff := cmp.Diff([]string{"", "id-1", "id-1", "id-1"}, c.Opened); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		if got := c.Text(); strings.Count(got, "Welcome.") != 2 {
			t.Errorf("the screen:\n%s", got)
		}
		c.End()
	})
}

// TestSlowCommand checks that a slow command does not block the screen: it is shown with its
// duration, input entered while it runs waits for its end, and a key cancels it.
//
// Proves CMD-01.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "say Hi.", func(c *setup) {
			c.Commands.Version, c.Commands.Env.Commands = "9.9", func(bool) []commands.Command { return controllertest.Commands() }
		})
		c.Enter("/slow\r")
		time.Sleep(2500 * time.Millisecond)
		if got := c.Text(); !strings.Contains(got, "▸ /slow 2s") {
			t.Errorf("while it runs:\n%s", got)
		}
		c.Enter("/version\r")
		time.Sleep(5 * time.Second)
		got := c.Text()
		if slow, next := strings.Index(got, "It was slow."), strings.Index(got, "adze 9.9"); slow < 0 || next < slow {
			t.Errorf("after it:\n%s", got)
		}
		c.Enter("/slow\r")
		time.Sleep(time.Second)
		c.Enter("/help\r")
		c.Enter("\x1b")
		time.Sleep(time.Second)
		if got := c.Text(); !strings.Contains(got, "Interrupted; 1 queued line discarded") || strings.Contains(got, "Conversation:") {
			t.Errorf("after Esc:\n%s", got)
		}
		c.Enter("/slow\r")
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

// TestSuggestion checks that a suggestion is a numbered question that appears while idle. Text
// typed instead is a message: no letter of it answers the suggestion.
//
// Proves PERM-60.
func TestSuggestion(t *testing.T) {
	for _, tt := range []struct {
		name  string
		typed []string
		pause time.Duration // delay before typing
		want  string        // the answer, or "" for none
	}{
		{"yes", []string{"1"}, time.Second, "yes"},
		{"no", []string{"3"}, time.Second, "no"},
		{"enter", []string{"\r"}, time.Second, "later"},
		{"escape", []string{"\x1b"}, time.Second, "later"},
		{"arrows that arrive together", []string{"\x1b[A\r"}, time.Second, "yes"},
		{"a message that begins with y", []string{"y", "o", "u", "r", "\r"}, 2 * time.Second, ""},
		{"a message that begins with n", []string{"n", "o", "w", "\r"}, 2 * time.Second, ""},
		{"a paste", []string{"1 please\r"}, time.Second, ""},
		{"a key too early", []string{"1", "\r"}, time.Millisecond, ""},
		{"interrupt", []string{"\x03"}, time.Second, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := ""
				c := newConsole(t, 80, 24, "say I see.", func(c *setup) {
					c.Suggest = func(context.Context) *controller.Suggestion {
						time.Sleep(50 * time.Millisecond)
						return &controller.Suggestion{Question: "Try it?", Answers: []string{"yes", "later", "no"}, Later: 1, Answer: func(_ context.Context, n int) (string, error) {
							answer = []string{"yes", "later", "no"}[n]
							return "You said " + answer + ".", nil
						}}
					}
				})
				if got := c.Text(); !strings.Contains(got, "\n❯\n") || strings.Contains(got, "Try it?") {
					t.Errorf("the prompt waits: %q", got)
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				if got := c.Text(); !strings.Contains(got, "Try it?\n") || !strings.Contains(got, "▌2 later") {
					t.Errorf("it is not suggested: %q", got)
				}
				time.Sleep(20 * time.Millisecond) // until the frame is known to be written
				synctest.Wait()
				time.Sleep(tt.pause)
				for _, text := range tt.typed {
					c.Enter(text)
				}
				time.Sleep(time.Second) // a lone Esc is a key by then
				synctest.Wait()
				if got := c.Text(); answer != tt.want || strings.Contains(got, "You said") != (tt.want != "") || strings.Contains(got, "I see.") != (tt.want == "" && tt.name != "interrupt") {
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

// TestSuggestionWaits checks that a suggestion waits for the end of a turn, and that a failure
// is shown.
func TestSuggestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Wait {}\n---\nsay Done.", func(c *setup) {
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
		time.Sleep(time.Second)
		synctest.Wait()
		if got := c.Text(); !strings.Contains(got, "Done.") || !strings.Contains(got, "Try it?") {
			t.Errorf("%q", got)
		}
		c.Enter("1")
		if got := c.Text(); !strings.Contains(got, "The disk is full.") {
			t.Errorf("%q", got)
		}
		c.Keys.Close()
		<-c.Done
		for _, s := range c.Sessions {
			s.Close()
		}
	})
}

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

// TestAgentsAtWork checks that one running sub-agent has a line, that several have one line
// each below their count, and that the lines disappear at the end. Their names cannot move the
// cursor.
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
		c := newConsole(t, 80, 24, "use Wait {}\n---\nuse Wait {}\n---\nsay Done.", func(s *setup) {
			s.Commands.Tasks = table
			s.Commands.Extensions.Agents.Working = func() []commands.RunningAgent {
				return []commands.RunningAgent{
					{ID: "a1", Type: "scout", Title: "look around", Calls: 2, Last: "Read b.go"},
					{ID: "a2", Type: "scout", Title: "look again"},
					{ID: "a3", Parent: "a1", Type: "maker", Title: "look deeper", Calls: 1, Last: "Read c.go"},
				}
			}
		})
		c.Enter("go\r")
		c.tell(session.Task{ID: "a1", Title: "look around", Use: "toolu_1_1"})
		first := works("a1", "look around", 1, "Read a.go")
		first.Used.Tokens = 1234
		c.tell(first)
		time.Sleep(3 * time.Second)
		c.Shows("▸ look around  scout  Read a.go                                  3s ∙ 1k tokens")
		c.Hides("Wait")

		first.Used.Calls, first.Doing = 2, "Read b.go"
		c.tell(first)
		c.tell(session.Task{ID: "a2", Title: "evil\x1b[2J\nname", Use: "toolu_1_1", Doing: "Run \x1b]0;x\a" + strings.Repeat("long ", 40)})
		back := session.Task{ID: behind.ID, Title: "in the back", Use: "toolu_0_1", Background: true, Used: session.TaskUse{Calls: 1}, Doing: "Grep x"}
		c.tell(back)
		c.tell(session.Task{ID: "a4", Title: "deeper", Use: "toolu_9_1", Parent: "a3"})
		c.tell(session.Task{ID: "a3", Title: "deep", Use: "toolu_8_1", Parent: "a1", Summary: "Reading the tests", Doing: "Read c.go"})
		time.Sleep(time.Second)
		c.Shows("▸ 5 agents                                                       4s ∙ 1k tokens\n" +
			"  ├ look around   scout  Read b.go                               4s ∙ 1k tokens\n" +
			"    ├ deep        scout  Reading the tests\n" +
			"      ├ deeper    scout\n" +
			"  ├ evil")
		c.Shows("\n  └ in the back   scout  Grep x                                      background")

		for _, id := range []string{"a4", "a3", "a2", "a1"} {
			c.tell(session.Task{ID: id, News: session.TaskEnded})
		}
		time.Sleep(8 * time.Second) // the first call has ended
		c.Shows("▸ Wait 2s\n▸ in the back  scout  Grep x ")
		behind.Conclude(task.Report{Result: "<xml>", Calls: 3, Tokens: 4567})
		behind.End(task.Completed, "")
		time.Sleep(time.Second)
		c.Shows("✓ Agent " + behind.ID + ", in the back: completed, 5k tokens, 12s\n")
		back.News = session.TaskEnded
		c.tell(back)
		c.tell(works(behind.ID, "in the back", 2, "too late"))
		c.Hides("too late")
		c.Hides("xml")
		time.Sleep(20 * time.Second)
		c.Shows("Done.")
		c.Enter("/tasks\r")
		c.Shows("look around (scout)    2 calls, Read b.go")
		c.Shows("  look deeper (maker)  1 call, Read c.go")
		c.End()
	})
}

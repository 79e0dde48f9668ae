package plain

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/brief"
	"adze/internal/desk"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/scope"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
	"adze/internal/ui/screen/screentest"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A console is a person at a terminal, in a bubble of [synctest].
type console struct {
	t    *testing.T
	keys io.WriteCloser
	done chan error

	screen   *screentest.Terminal // of one that delivers keys
	mu       sync.Mutex
	appended strings.Builder // what was written to any other
	written  []time.Time

	sessions []*session.Session
	opened   []string
	mode     string
	byKey    bool        // keys are delivered
	detach   func() bool // lets a command go on by itself; nil means that none can
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = append(c.written, time.Now())
	c.screen.Write(p)
	return c.appended.Write(p)
}

// enter types text, and waits until nothing more happens by itself.
func (c *console) enter(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.keys, text); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey {
		return c.screen.Text()
	}
	return c.appended.String()
}

// gate asks about every call of Do and allows the rest.
type gate struct {
	ask func(context.Context, permission.Question) (permission.Answer, error)
}

func (g gate) Before(ctx context.Context, u *tool.Use) error {
	if u.Name != "Do" {
		u.Verdict.Decide(tool.Allow, "test", "")
		return nil
	}
	var in struct{ Command string }
	if err := json.Unmarshal(u.Input, &in); err != nil {
		return err
	}
	a, err := g.ask(ctx, permission.Question{
		ID: u.ID, Tool: "Do", Title: tool.OneLine("Do it "+in.Command, 40), DisplayName: "Doing", Command: in.Command, Reason: permission.Reason{Text: "No rule allows it."},
		Preview: tool.Diff{Path: "a.txt", Added: 1, Hunks: []tool.Hunk{{Lines: []string{"+new"}}}},
		Suggestions: []permission.Update{{
			Type: permission.AddRules, Rules: []permission.RuleValue{{Tool: "Do"}}, Behavior: permission.Allow, Destination: scope.Session,
		}},
	})
	switch {
	case err != nil:
		return err
	case a.Behavior != permission.Allow:
		u.Verdict.Rejected = true
		u.Verdict.Decide(tool.Deny, "", a.Message)
		if a.Interrupt {
			u.Verdict.Stop = "the user said no"
		}
	case len(a.Updates) > 0:
		u.Verdict.Decide(tool.Allow, "user", "always")
	default:
		u.Verdict.Decide(tool.Allow, "user", "once")
	}
	return nil
}

// A setup is what a test may change before a front end starts.
type setup struct {
	Config
	desk    desk.Config
	tools   []tool.Tool      // besides Do and Wait
	behind  []tool.Tool      // those that are called through a door
	gate    *permission.Gate // in place of the one that asks about Do; may be nil
	warnUSD float64
}

// newConsole starts a front end over a script.
func newConsole(t *testing.T, script string, change func(*setup)) *console {
	t.Helper()
	parsed, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	player := replay.NewPlayer(parsed)
	in, keys := io.Pipe()
	c := &console{t: t, keys: keys, done: make(chan error, 1), screen: screentest.New(60, 24), mode: "default"}
	def := tool.Def{Name: "Do", Doc: "Does.", Schema: json.RawMessage(`{"type":"object"}`)}
	type command struct {
		Command string `json:"command,omitempty"`
	}
	do := tool.New(def, func(context.Context, command, func(tool.Progress)) (tool.Result, error) {
		return tool.Result{Parts: []msg.Part{&msg.Text{Text: "done"}}, Display: tool.Diff{Path: "a.txt", Added: 1, Hunks: []tool.Hunk{{Lines: []string{"+new"}}}}}, nil
	})
	def.Name = "Wait"
	wait := tool.New(def, func(ctx context.Context, _ struct{}, _ func(tool.Progress)) (tool.Result, error) {
		select {
		case <-time.After(10 * time.Second):
			return tool.Text("waited"), nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	})
	cfg := setup{Config: Config{In: in, Out: c, Width: func() int { return 60 }}}
	cfg.desk = desk.Config{
		Surroundings: desk.Surroundings{Keys: desk.Keys{Bound: func() desk.Terms { return desk.Terms{{Name: "Ctrl-O", Text: "show the output"}} }}},
		Dir:          t.TempDir(), Home: t.TempDir(), Now: time.Now, Terminal: true, Permission: desk.Permission{Mode: func() string { return c.mode }},
		Preamble: desk.Preamble{
			Resolve:  func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 1000}, nil },
			Describe: func(specs []msg.ToolSpec) []msg.ToolSpec { return specs },
			Blocks:   func(agent.Model, []msg.ToolSpec) []brief.Block { return nil },
			Watch:    new(brief.Watch),
		},
	}
	ids := 0
	cfg.Open = func(ctx context.Context, resume string) (*Conversation, error) {
		if resume == "nobody" {
			return nil, errors.New("there is no session nobody")
		}
		c.opened = append(c.opened, resume)
		var s *session.Session
		ask := func(ctx context.Context, q permission.Question) (permission.Answer, error) {
			return s.AskPermission(ctx, q)
		}
		var asks tool.Gate = gate{ask}
		if cfg.gate != nil {
			cfg.gate.SetAsk(ask)
			asks = cfg.gate
		}
		registry := tool.NewRegistry(slices.Concat([]tool.Tool{do, wait}, cfg.tools, cfg.behind)...)
		registry.Deferred = func(name string, _ *tool.Traits) bool {
			return slices.ContainsFunc(cfg.behind, func(t tool.Tool) bool { return t.Spec().Name == name })
		}
		s = session.Open(ctx, session.Config{
			ID: "the-session", Provider: player.Provider(), Tools: session.Tools{Registry: registry},
			Gates: []exec.Gate{{Name: "permission", Gate: asks}},
			Models: session.Models{Main: "small", Resolve: func(name string) (agent.Model, error) {
				if name == "none" {
					return agent.Model{}, errors.New(`there is no model "none"`)
				}
				return agent.Model{ID: name, Window: 200_000, Output: 8000, MaxOutput: 8000}, nil
			}},
			Controls: session.Controls{
				SetMode: func(mode string) (string, error) { c.mode = mode; return mode, nil },
				Detach:  func() bool { return c.detach != nil && c.detach() },
			},
			NewID:   func() string { ids++; return fmt.Sprintf("%08d-id", ids) },
			Window:  &window.Config{},
			Records: session.Records{Ledger: cost.New(func(string) cost.Facts { return cost.Facts{Price: &model.Price{Output: 1e6}} })},
		})
		c.sessions = append(c.sessions, s)
		cfg.desk.Session = s
		return &Conversation{
			Session: s, Desk: desk.New(cfg.desk), Greeting: "Hello.", Shown: 4, WarnUSD: cfg.warnUSD,
			Explain: func(err error, _ string) string { return "explained: " + err.Error() },
		}, nil
	}
	if change != nil {
		change(&cfg)
	}
	if c.byKey = cfg.Keys; c.byKey {
		c.screen = screentest.New(cfg.Width(), 24)
	}
	go func() { c.done <- New(cfg.Config).Run(t.Context()) }()
	synctest.Wait()
	return c
}

// keepSession makes an earlier session of the directory, an hour and some minutes old by its title's length.
func keepSession(t *testing.T, cfg *desk.Config, id, title string) {
	t.Helper()
	log, err := store.Open(store.Options{Home: cfg.Home, Dir: cfg.Dir, Session: id, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(msg.Entry{ID: msg.NewID(), Message: msg.UserText("hi"), Time: time.Now()}), log.Note(store.Title(title)), log.Close()); err != nil {
		t.Fatal(err)
	}
	when := time.Now().Add(-time.Hour - time.Duration(len(title))*time.Minute)
	if err := os.Chtimes(log.Path(), when, when); err != nil {
		t.Fatal(err)
	}
}

// close waits for the end and compares the whole screen with what it should be.
func (c *console) close(golden string) {
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
	path := filepath.Join("testdata", golden+".golden")
	got := strings.TrimRight(strings.ReplaceAll(c.text(), "\r", ""), "\n") + "\n"
	got = regexp.MustCompile(`about \d+ to \d+ tokens`).ReplaceAllString(got, "about N to N tokens") // estimates
	got = regexp.MustCompile(`/\S+/b\w{8}\.output`).ReplaceAllString(got, "ITS FILE")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		c.t.Errorf("the screen (-want +got):\n%s", diff)
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
		c.enter("hello\n")
		c.enter("do it\n")
		c.enter("y\n")
		c.enter("a\n")
		c.enter("use another way\n")
		c.enter("one \\\n")
		c.keys.Close()
		c.close("conversation")
	})
}

// Proves CMD-01, SESS-44, SESS-45.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say one\nusage input=0 output=4\n---\nsay two\nusage input=1 output=2\n---\nsay three\nusage input=1 output=2\n---\nexpect last \"/usr/bin/x explain\"\nsay A path.\nusage input=1 output=2", func(c *setup) {
			c.warnUSD = 5
			keepSession(t, &c.desk, "00000001-id", "a title")
			keepSession(t, &c.desk, "00000002-id", "another")
			c.desk.Execute = func(_ context.Context, command string, _ func(tool.Display)) (string, error) {
				return "ran " + command, nil
			}
		})
		for _, line := range []string{
			"/help", "/hlep", "/cost", "first", "second", "third", "/cost", "/model", "/model none", "/model large", "/mode plan",
			"/effort some", "/effort high", "/thinking", "/thinking off",
			"/rename", "/rename a name", "/export .md", "!make test", "!", "/mode", "y", "9", "x", "3", "/model", "no", "/usr/bin/x explain", "/resume nobody", "/resume", "2", "/clear", "/exit",
		} {
			c.enter(line + "\n")
		}
		c.close("commands")
		if diff := cmp.Diff([]string{"", "00000002-id", ""}, c.opened); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
	})
}

// Whoever is asked about a command sees all of it, however long it is and wherever its lines end.
//
// Proves SH-01.
func TestCommandIsShownWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, `use Do {"command":"make"}
---
use Do {"command":"make a-name-that-is-long && make another && make the-last\n  echo second \u001b[2Jline"}
---
say Fine.`, nil)
		c.enter("go on\n")
		c.enter("y\n")
		c.enter("n\n")
		c.close("whole")
	})
}

// One side of something that was said is summed up, and the person can see what there is to choose from.
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
		c.enter("/compact up-to\n")
		c.enter("the first\n")
		c.enter("the second, with a\ttab\n")
		c.enter("the third\n")
		c.enter("/compact up-to\n")
		c.enter("/compact from 7\n")
		c.enter("/compact up-to 2 the tests\n")
		c.enter("/compact from 00000005\n")
		c.enter("/force-snip\n")
		c.enter("and now?\n")
		c.close("compact")
	})
}

// Keys are edited here, what is typed while the model works steers it, and nothing is written into it.
func TestTypingWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nexpect last \"faster\"\nsay As you like.", func(c *setup) { c.Keys = true })
		c.enter("go onn\x7f\r")
		time.Sleep(3 * time.Second)
		c.enter("fas")
		time.Sleep(5500 * time.Millisecond)
		if got := c.text(); !strings.HasSuffix(got, "\n… Wait (8s; Esc interrupts)\n> fas") {
			t.Errorf("while something is typed: %q", got)
		}
		c.enter("ter\r")
		time.Sleep(20 * time.Second)
		c.enter("\x04")
		c.close("steering")
	})
}

func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Fine.\n---\nuse Do {}\n---\nuse Wait {}", func(c *setup) { c.Keys = true })
		c.enter("first\r")
		c.enter("\x03")
		c.enter("typo\x03")
		c.enter("second\r")
		c.enter("third\r")
		c.enter("\x03") // at a question
		c.enter("fourth\r")
		c.enter("\x03\x03")
		c.close("interrupts")
	})
}

// What is given on the command line is entered like anything else.
func TestFirst(t *testing.T) {
	for _, first := range []string{"/resume", "hello"} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, "forever\nexpect last \"hello\"\nsay Welcome.", func(c *setup) {
				c.First = first
				keepSession(t, &c.desk, "id-1", "a title")
			})
			if first == "/resume" {
				c.enter("1\n")
				c.enter("hello\n")
				if diff := cmp.Diff([]string{"", "id-1"}, c.opened); diff != "" {
					t.Errorf("sessions (-want +got):\n%s", diff)
				}
			}
			c.keys.Close()
			if err := <-c.done; err != nil || !strings.Contains(c.text(), "Welcome.") {
				t.Errorf("%v; the screen:\n%s", err, c.text())
			}
			for _, s := range c.sessions {
				s.Close()
			}
		})
	}
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "error invalid_request no way", nil)
		c.enter("hello\n")
		c.close("errors")
	})
}

// What runs in the background is listed, looked at, waited for and stopped; a key moves what runs there.
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
			tk.ID = id // or no two screens were the same
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
			c.Keys = true
			c.desk.Tasks = table
			c.Width = func() int { return 200 } // room for the name of a file
		})
		c.detach = table.Detach
		c.enter("/tasks\r")
		server := background(begin("b1", "a server\x1b[2J"))
		time.Sleep(time.Second)
		build := background(begin("b2", "the build"))
		for i := range 30 {
			fmt.Fprintln(server.Output, "line", i)
		}
		time.Sleep(65 * time.Second)
		build.End(task.Failed, "exit code 2")
		for _, line := range []string{"/tasks", "/tasks b1", "/tasks b2", "/tasks b9", "/tasks do b1", "/tasks stop b2", "/tasks fg b2", "/tasks b", "/tasks stop b", "/tasks fg"} {
			c.enter(line + "\r")
		}
		fmt.Fprintln(server.Output, "news \x1b]0;title\a")
		time.Sleep(2 * time.Second)
		c.enter("\x03") // back to the conversation
		c.enter("/tasks fg b1\r")
		fmt.Fprintln(server.Output, "the last word")
		server.Stop()
		server.End(task.Completed, "exit code 0")
		time.Sleep(time.Second)

		c.enter("go\r")
		c.enter("\x02")
		select {
		case <-waited.Detached():
		default:
			t.Error("the command was not asked to go on by itself")
		}
		waited.End(task.Completed, "")
		c.enter("\x02") // nothing is left
		time.Sleep(20 * time.Second)
		c.enter("ab\x02\x02c\r") // where something is typed it moves the cursor
		c.enter("\x04")
		c.close("tasks")
	})
}

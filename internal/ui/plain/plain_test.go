package plain

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A console is a person at a terminal, in a bubble of [synctest].
type console struct {
	t    *testing.T
	keys io.WriteCloser
	done chan error

	mu     sync.Mutex
	screen strings.Builder

	sessions []*session.Session
	opened   []string
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.Write(p)
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
	return c.screen.String()
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
	a, err := g.ask(ctx, permission.Question{
		ID: u.ID, Tool: "Do", Title: "Do it", Reason: permission.Reason{Text: "No rule allows it."},
		Preview: tool.Diff{Path: "a.txt", Added: 1, Hunks: []tool.Hunk{{Lines: []string{"+new"}}}},
		Suggestions: []permission.Update{{
			Type: permission.AddRules, Rules: []permission.RuleValue{{Tool: "Do"}}, Behaviour: permission.Allow, Destination: permission.SessionSource,
		}},
	})
	switch {
	case err != nil:
		return err
	case a.Behaviour != permission.Allow:
		u.Verdict.Decide(tool.Deny, "user", "The user said no. "+a.Message)
	case len(a.Updates) > 0:
		u.Verdict.Decide(tool.Allow, "user", "always")
	default:
		u.Verdict.Decide(tool.Allow, "user", "once")
	}
	return nil
}

// newConsole starts a front end over a script.
func newConsole(t *testing.T, script string, change func(*Config)) *console {
	t.Helper()
	parsed, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	player := replay.NewPlayer(parsed)
	in, keys := io.Pipe()
	c := &console{t: t, keys: keys, done: make(chan error, 1)}
	def := tool.Def{Name: "Do", Doc: "Does.", Schema: json.RawMessage(`{"type":"object"}`)}
	do := tool.New(def, func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) {
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
	cfg := Config{
		In: in, Out: c, Width: func() int { return 60 },
		Explain: func(err error, _ string) string { return "explained: " + err.Error() },
	}
	cfg.Open = func(ctx context.Context, resume string) (*Conversation, error) {
		if resume == "nobody" {
			return nil, errors.New("there is no session nobody")
		}
		c.opened = append(c.opened, resume)
		var s *session.Session
		s = session.Open(ctx, session.Config{
			ID: "the-session", Provider: player.Provider(), Tools: tool.NewRegistry(do, wait), Model: "small",
			Permission: gate{func(ctx context.Context, q permission.Question) (permission.Answer, error) { return s.Ask(ctx, q) }},
			Resolve: func(name string) (agent.Model, error) {
				if name == "none" {
					return agent.Model{}, errors.New(`there is no model "none"`)
				}
				return agent.Model{ID: name, Window: 200_000, Output: 8000, MaxOutput: 8000}, nil
			},
			SetMode: func(mode string) (string, error) { return mode, nil },
			Ledger:  cost.New(func(string) cost.Facts { return cost.Facts{Price: &model.Price{Output: 1e6}} }),
		})
		c.sessions = append(c.sessions, s)
		return &Conversation{Session: s, Greeting: "Hello.", Shown: 4, Mode: func() string { return "default" }}, nil
	}
	if change != nil {
		change(&cfg)
	}
	go func() { c.done <- New(cfg).Run(t.Context()) }()
	synctest.Wait()
	return c
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
	path := filepath.Join("testdata", golden+".golden")
	got := strings.ReplaceAll(c.text(), "\r", "")
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

// Proves SESS-44, SESS-45, SESS-52.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "say one\nusage input=0 output=4\n---\nsay two\nusage input=1 output=2\n---\nsay three\nusage input=1 output=2", func(c *Config) {
			c.WarnUSD = func() float64 { return 5 }
			c.Sessions = func() ([]Choice, error) {
				return []Choice{{"id-1", "a title", "an hour ago"}, {"id-2", "another", "a day ago"}}, nil
			}
			c.Models = func() []string { return []string{"small", "large"} }
			c.Export = func(id, name string) (string, error) { return "/tmp/" + id + name, nil }
			c.Rename = func(id, title string) error {
				if title == "" {
					return errors.New("a title cannot be empty")
				}
				return nil
			}
			c.Shell = func(_ context.Context, command string) (string, error) { return "ran " + command, nil }
		})
		for _, line := range []string{
			"/help", "/hlep", "/cost", "first", "second", "third", "/cost", "/model", "/model none", "/model large", "/mode plan",
			"/effort some", "/effort high", "/thinking", "/thinking off", "/fast",
			"/rename", "/rename a name", "/export .md", "!make test", "/resume nobody", "/resume", "2", "/clear", "/exit",
		} {
			c.enter(line + "\n")
		}
		c.close("commands")
		if diff := cmp.Diff([]string{"", "id-2", ""}, c.opened); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
	})
}

// Keys are edited here, what is typed while the model works steers it, and nothing is written into it.
func TestTypingWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nexpect last \"faster\"\nsay As you like.", func(c *Config) { c.Keys = true })
		c.enter("go onn\x7f\r")
		time.Sleep(3 * time.Second)
		c.enter("fas")
		before := c.text()
		time.Sleep(5 * time.Second)
		if c.text() != before {
			t.Errorf("written into what is typed: %q", strings.TrimPrefix(c.text(), before))
		}
		c.enter("ter\r")
		time.Sleep(20 * time.Second)
		c.enter("\x04")
		c.close("steering")
	})
}

func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "use Wait {}\n---\nsay Fine.\n---\nuse Do {}\n---\nuse Wait {}", func(c *Config) { c.Keys = true })
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
			c := newConsole(t, "forever\nexpect last \"hello\"\nsay Welcome.", func(c *Config) {
				c.First = first
				c.Sessions = func() ([]Choice, error) { return []Choice{{"id-1", "a title", "an hour ago"}}, nil }
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

// Package controllertest runs conversations in front end tests, with a scripted model, real sessions
// and commands, and a simulated user.
package controllertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/commands"
	"adze/internal/commands/memory"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/session/window"
	"adze/internal/tool"
	"adze/internal/ui/controller"
	"adze/internal/ui/screen/screentest"
)

// A Console simulates a user at a terminal, in a [synctest] bubble.
type Console struct {
	T    *testing.T
	In   io.Reader // input of the front end
	Keys io.WriteCloser
	Done chan error

	// Screen emulates the terminal if ByKey is true. Otherwise output is only appended.
	Screen *screentest.Terminal
	ByKey  bool

	Sessions []*session.Session
	Opened   []string
	Mode     string
	Detach   func() bool // moves a command to the background; nil means unsupported

	mu       sync.Mutex
	appended strings.Builder
	written  []time.Time
}

// A Setup holds the configuration a test may change before a front end starts.
type Setup struct {
	Commands commands.Config
	Tools    []tool.Tool      // added to Do and Wait
	Behind   []tool.Tool      // tools called through a door
	Gate     *permission.Gate // replaces the gate that asks about Do; may be nil
	WarnUSD  float64
	// Open opens sessions.
	Open func(ctx context.Context, resume string) (*controller.Conversation, error)
}

// New returns a console and the configuration of its front end.
func New(t *testing.T, provider model.Provider) (*Console, *Setup) {
	t.Helper()
	in, keys := io.Pipe()
	c := &Console{T: t, In: in, Keys: keys, Done: make(chan error, 1), Screen: screentest.New(60, 24), Mode: "default"}
	s := &Setup{Commands: commands.Config{
		Env: commands.Env{
			Sections: memory.Sections(), Keys: commands.Keys{Bound: func() commands.Terms {
				return commands.Terms{{Name: "Ctrl-O", Text: "show the output (app:toggleTranscript)"}}
			}},
		},
		Dir: t.TempDir(), Home: t.TempDir(), Now: time.Now, Terminal: true, Permission: commands.Permission{Mode: func() string { return c.Mode }},
		Preamble: commands.Preamble{
			Resolve:  func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 1000}, nil },
			Describe: func(specs []msg.ToolSpec) []msg.ToolSpec { return specs },
			Blocks:   func(agent.Model, []msg.ToolSpec) []prompt.Block { return nil },
			Watch:    new(prompt.Watch),
		},
	}}
	ids := 0
	newID := func() string { ids++; return fmt.Sprintf("%08d-id", ids) }
	s.Open = func(ctx context.Context, resume string) (*controller.Conversation, error) {
		if resume == "missing" {
			return nil, errors.New("no session missing")
		}
		c.Opened = append(c.Opened, resume)
		return c.open(ctx, s, provider, newID), nil
	}
	return c, s
}

// open opens a session.
func (c *Console) open(ctx context.Context, setup *Setup, provider model.Provider, newID func() string) *controller.Conversation {
	var s *session.Session
	ask := func(ctx context.Context, q permission.Question) (permission.Answer, error) {
		return s.AskPermission(ctx, q)
	}
	var asks tool.Gate = gate{ask}
	if setup.Gate != nil {
		setup.Gate.SetAsk(ask)
		asks = setup.Gate
	}
	registry := tool.NewRegistry(slices.Concat([]tool.Tool{doTool(), waitTool()}, setup.Tools, setup.Behind)...)
	registry.Deferred = func(name string, _ *tool.Traits) bool {
		return slices.ContainsFunc(setup.Behind, func(t tool.Tool) bool { return t.Spec().Name == name })
	}
	s = session.Open(ctx, session.Config{
		ID: "the-session", Provider: provider, Tools: session.Tools{Registry: registry},
		Gates: []exec.Gate{{Name: "permission", Gate: asks}},
		Models: session.Models{Main: "small", Resolve: func(name string) (agent.Model, error) {
			if name == "none" {
				return agent.Model{}, errors.New(`unknown model "none"`)
			}
			return agent.Model{ID: name, Window: 200_000, Output: 8000, MaxOutput: 8000}, nil
		}},
		Controls: session.Controls{
			SetMode: func(mode string) (string, error) { c.Mode = mode; return mode, nil },
			Detach:  func() bool { return c.Detach != nil && c.Detach() },
		},
		NewID:   newID,
		Window:  &window.Config{},
		Records: session.Records{Ledger: cost.New(func(string) cost.Facts { return cost.Facts{Price: &model.Price{Output: 1e6}} })},
	})
	c.Sessions = append(c.Sessions, s)
	setup.Commands.Session = s
	return &controller.Conversation{
		Session: s, Registry: commands.New(setup.Commands), Greeting: commands.Greeting{Program: "Hello."}, WarnUSD: setup.WarnUSD,
		Explain: func(err error, _ string) string { return "explained: " + err.Error() },
	}
}

// Start starts the front end.
func (c *Console) Start(front interface{ Run(context.Context) error }) {
	go func() { c.Done <- front.Run(c.T.Context()) }()
	synctest.Wait()
}

// Write receives the front end's output.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = append(c.written, time.Now())
	if c.ByKey {
		c.Screen.Write(p)
	}
	return c.appended.Write(p)
}

// Written returns the times of writes since the last call.
func (c *Console) Written() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := c.written
	c.written = nil
	return written
}

// Enter types text and waits until the front end is idle.
func (c *Console) Enter(text string) {
	c.T.Helper()
	if _, err := io.WriteString(c.Keys, text); err != nil {
		c.T.Fatal(err)
	}
	synctest.Wait()
}

// rule is the rule above the input.
var rule = regexp.MustCompile("(?m)^\u2500+\n(❯|!|#|  stashed)")

// Text returns everything the terminal shows, without the rule above the input.
func (c *Console) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ByKey {
		return rule.ReplaceAllString(c.Screen.Text(), "$1")
	}
	return c.appended.String()
}

// Shows checks that the screen shows a text.
func (c *Console) Shows(want string) {
	c.T.Helper()
	synctest.Wait()
	if got := c.Text(); !strings.Contains(got, want) {
		c.T.Errorf("%q is not on the screen:\n%s", want, got)
	}
}

// Hides checks that the screen does not show a text.
func (c *Console) Hides(text string) {
	c.T.Helper()
	synctest.Wait()
	if got := c.Text(); strings.Contains(got, text) {
		c.T.Errorf("%q is on the screen:\n%s", text, got)
	}
}

// End leaves the conversation and waits for its end.
func (c *Console) End() {
	c.T.Helper()
	c.Keys.Close()
	if err := <-c.Done; err != nil {
		c.T.Error(err)
	}
	for _, s := range c.Sessions {
		s.Close()
	}
	if p := c.Screen.Problems(); c.ByKey && len(p) > 0 {
		c.T.Error(p)
	}
}

// A gate asks about every call of Do and allows the rest.
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
		Preview: change(),
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

func change() tool.Diff {
	return tool.Diff{Path: "a.txt", Added: 1, Hunks: []tool.Hunk{{Lines: []string{"+new"}}}}
}

// doTool returns a tool that claims to change a file.
func doTool() tool.Tool {
	def := tool.Def{Name: "Do", Doc: "Does.", Schema: json.RawMessage(`{"type":"object"}`)}
	type command struct {
		Command string `json:"command,omitempty"`
	}
	return tool.New(def, func(context.Context, command, func(tool.Progress)) (tool.Result, error) {
		return tool.Result{Parts: []msg.Part{&msg.Text{Text: "done"}}, Display: change()}, nil
	})
}

// waitTool returns a tool that takes ten seconds.
func waitTool() tool.Tool {
	def := tool.Def{Name: "Wait", Doc: "Does.", Schema: json.RawMessage(`{"type":"object"}`)}
	return tool.New(def, func(ctx context.Context, _ struct{}, _ func(tool.Progress)) (tool.Result, error) {
		select {
		case <-time.After(10 * time.Second):
			return tool.Text("waited"), nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	})
}

package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/sdk"
)

// options returns options with a script in place of the model, and a working directory.
func options(t *testing.T, script string) sdk.Options {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "model.txt")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return sdk.Options{Dir: dir, Model: "replay:" + path}
}

func open(t *testing.T, o sdk.Options) *sdk.Session {
	t.Helper()
	s, err := sdk.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ask returns the result of a prompt.
func ask(t *testing.T, s *sdk.Session, prompt string) *sdk.Result {
	t.Helper()
	for m, err := range s.Prompt(t.Context(), prompt) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*sdk.Result); ok {
			return r
		}
	}
	t.Fatal("no result")
	return nil
}

// TestSession breaks off and goes on, uses a command, changes the model and mode, and continues
// in a new process.
//
// Proves X-202.
func TestSession(t *testing.T) {
	o := options(t, `
say One.
use Bash {"command":"sleep 600"}
---
say Two.
---
say Three.`)
	o.AllowedTools = []string{"Bash"}
	s := open(t, o)
	var id string
	for m, err := range s.Prompt(t.Context(), "first") {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := m.(*sdk.Started); ok {
			id = m.Session
		}
		if _, ok := m.(*sdk.ToolUse); ok {
			break // interrupts the command
		}
	}
	for _, err := range s.Prompt(t.Context(), "too early") {
		if err == nil {
			break // the interrupted turn has already ended
		}
	}
	if err := s.SetPermissionMode(t.Context(), "plan"); err != nil {
		t.Error(err)
	}
	if err := s.SetPermissionMode(t.Context(), "nonsense"); err == nil {
		t.Error("a mode that does not exist was accepted")
	}
	if err := s.Request(t.Context(), "no_such_request", nil, nil); err == nil || !strings.Contains(err.Error(), "no_such_request") {
		t.Errorf("an unknown request: %v", err)
	}
	var cost struct{ Text string }
	if err := s.Request(t.Context(), "get_session_cost", nil, &cost); err != nil || cost.Text == "" {
		t.Errorf("%+v, %v", cost, err)
	}
	if len(s.Info().Commands) == 0 {
		t.Error("no commands")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := sdk.Run(t.Context(), "after", sdk.Options{Dir: o.Dir, Model: options(t, "expect text \"after\"\nsay Continued.").Model, Resume: id}); err != nil {
		t.Error(err)
	}
}

// Proves X-202.
func TestCommand(t *testing.T) {
	s := open(t, options(t, "say The model."))
	if r := ask(t, s, "/cost"); !strings.Contains(r.Text, "Total cost") {
		t.Errorf("%q", r.Text)
	}
	if r := ask(t, s, "hello"); r.Text != "The model." {
		t.Errorf("%q", r.Text)
	}
}

// TestDenials checks that a function that fails denies.
//
// Proves X-202.
func TestDenials(t *testing.T) {
	for name, permit := range map[string]func(context.Context, sdk.Call) (sdk.Decision, error){
		"error": func(context.Context, sdk.Call) (sdk.Decision, error) { return sdk.Allow(), errors.New("no database") },
		"panic": func(context.Context, sdk.Call) (sdk.Decision, error) { panic("no database") },
		"zero":  func(context.Context, sdk.Call) (sdk.Decision, error) { return sdk.Decision{}, nil },
		"none":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, "use Bash {\"command\":\"touch made\"}\n---\nsay Done.")
			o.Permit = permit
			r, err := sdk.Run(t.Context(), "make it", o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(o.Dir, "made")); err == nil || len(r.Denied) != 1 || r.Denied[0].Tool != "Bash" || r.Denied[0].Input == nil {
				t.Errorf("the command ran: %v, denied %+v", err == nil, r.Denied)
			}
		})
	}
	o := options(t, "use Read {\"file_path\":\"model.txt\"}\n---\nsay Done.")
	o.Hooks = []sdk.Hook{{Event: "PreToolUse", Run: func(context.Context, sdk.HookInput) (sdk.HookOutput, error) { panic("broken") }}}
	for m, err := range sdk.Stream(t.Context(), "read it", o) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*sdk.ToolResult); ok && !r.IsError {
			t.Errorf("a hook that fails let the call run: %q", r.Text)
		}
	}
}

// Proves X-202.
func TestAllowWith(t *testing.T) {
	o := options(t, "use Bash {\"command\":\"touch wrong\"}\n---\nexpect result toolu_1_1 \"right\"\nsay Done.")
	o.Permit = func(context.Context, sdk.Call) (sdk.Decision, error) {
		return sdk.AllowWith(map[string]string{"command": "echo right"})
	}
	if r, err := sdk.Run(t.Context(), "go", o); err != nil || r.Text != "Done." {
		t.Errorf("%v, %v", r, err)
	}
}

// Proves X-202.
func TestHookContext(t *testing.T) {
	o := options(t, "expect text \"It is Tuesday.\"\nsay Done.")
	var prompt string
	o.Hooks = []sdk.Hook{{Event: "UserPromptSubmit", Run: func(_ context.Context, in sdk.HookInput) (sdk.HookOutput, error) {
		prompt = in.Prompt
		return sdk.HookOutput{Context: "It is Tuesday."}, nil
	}}}
	if r, err := sdk.Run(t.Context(), "Which day is it?", o); err != nil || r.Text != "Done." || prompt != "Which day is it?" {
		t.Errorf("%v, %v; the hook saw %q", r, err, prompt)
	}
}

// Proves X-202.
func TestOutput(t *testing.T) {
	o := options(t, `use StructuredOutput {"answer":42}`)
	o.Output = json.RawMessage(`{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]}`)
	r, err := sdk.Run(t.Context(), "What is six times seven?", o)
	if err != nil || string(r.Output) != `{"answer":42}` {
		t.Errorf("%v, %v", r, err)
	}
}

// TestServers gives the model a server of the caller, which asks adze something while it is called.
//
// Proves X-202.
func TestServers(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "place", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "find"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which place?", RequestedSchema: map[string]any{"type": "object"}})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the user answers: " + answer.Action}}}, nil, nil
	})
	o := options(t, "use mcp__place__find\n---\nexpect result toolu_1_1 \"the user answers: decline\"\nsay Done.")
	o.Servers, o.AllowedTools = map[string]*mcp.Server{"place": server}, []string{"mcp__place"}
	if r, err := sdk.Run(t.Context(), "go", o); err != nil || r.Text != "Done." {
		t.Errorf("%v, %v", r, err)
	}
}

// TestToolError reports the error of a tool to the model, and refuses input of another form.
//
// Proves X-202.
func TestToolError(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	var mu sync.Mutex
	var called []int
	double := sdk.NewTool("double", "Doubles.", func(_ context.Context, in in) (map[string]int, error) {
		mu.Lock()
		defer mu.Unlock()
		called = append(called, in.N)
		if in.N == 0 {
			return nil, errors.New("nothing to double")
		}
		return map[string]int{"n": 2 * in.N}, nil
	})
	o := options(t, `
use mcp__sdk__double {"n":"x"}
use mcp__sdk__double {"n":0}
use mcp__sdk__double {"n":4}
---
expect result toolu_1_2 "nothing to double"
expect result toolu_1_3 "{\"n\":8}"
say Done.`)
	o.Tools, o.AllowedTools = []sdk.Tool{double}, []string{double.Rule()}
	r, err := sdk.Run(t.Context(), "go", o)
	if err != nil || r.Text != "Done." || fmt.Sprint(called) != "[0 4]" {
		t.Errorf("%v, %v; called with %v", r, err, called)
	}
}

// TestEnds checks the errors of a program that cannot start, fails or ends early.
//
// Proves X-202.
func TestEnds(t *testing.T) {
	o := options(t, "say Done.")
	o.Program = filepath.Join(t.TempDir(), "missing")
	if _, err := sdk.Run(t.Context(), "x", o); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("without the program: %v", err)
	}
	o = options(t, "say Done.")
	o.Args = []string{"--no-such-flag"}
	if _, err := sdk.Run(t.Context(), "x", o); err == nil || !strings.Contains(err.Error(), "--no-such-flag") {
		t.Errorf("with an unknown flag: %v", err)
	}
	o = options(t, "error auth")
	var failed *sdk.TurnError
	if _, err := sdk.Run(t.Context(), "x", o); !errors.As(err, &failed) || err.Error() == "" {
		t.Errorf("with a model that fails: %v", err)
	}
	o = options(t, "use Bash {\"command\":\"sleep 600\"}")
	o.AllowedTools = []string{"Bash"}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	gone := errors.New("the caller is gone")
	for m, err := range sdk.Stream(ctx, "x", o) {
		if _, ok := m.(*sdk.ToolUse); ok {
			cancel(gone)
		}
		if err != nil && !errors.Is(err, gone) && !strings.Contains(err.Error(), "adze ended") {
			t.Errorf("after the context is canceled: %v", err)
		}
		if _, ok := m.(*sdk.Result); ok {
			t.Error("the command was not interrupted")
		}
	}
	if ctx.Err() == nil {
		t.Error("the command did not start")
	}
}

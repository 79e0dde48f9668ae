package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/tool"
)

// A job is the input of the test tool. Its worker determines the call's behavior and
// descriptions.
type job struct {
	Text string `json:"text"`
	*worker
}

// A worker implements a test tool. A nil function means the default behavior.
type worker struct {
	validate func(job) error
	facts    func(job) bool
	words    func(job) string
	observe  func(job) any
	run      func(context.Context, job) (tool.Result, error)
}

const jobSchema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`

type jobCall struct{ in job }

func (c jobCall) Input() any { return c.in }

func (c jobCall) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	if c.in.run == nil {
		return tool.Text("did " + c.in.Text), nil
	}
	return c.in.run(ctx, c.in)
}

func (c jobCall) Validate() error {
	if c.in.validate == nil {
		return nil
	}
	return c.in.validate(c.in)
}

func (c jobCall) ReadOnly() bool      { return c.in.facts != nil && c.in.facts(c.in) }
func (c jobCall) Concurrent() bool    { return c.in.facts != nil && c.in.facts(c.in) }
func (c jobCall) Title() string       { return c.say() }
func (c jobCall) Activity() string    { return c.say() }
func (c jobCall) DisplayName() string { return c.say() }

func (c jobCall) say() string {
	if c.in.words == nil {
		return ""
	}
	return c.in.words(c.in)
}

func (c jobCall) Observe() any {
	if c.in.observe == nil {
		return nil
	}
	return c.in.observe(c.in)
}

// tool returns the tool whose calls w carries out.
func (w *worker) tool(name string, t tool.Traits) tool.Tool {
	d := tool.Def{Name: name, Doc: name, Schema: json.RawMessage(jobSchema), Traits: t}
	return tool.NewBound(d, func(in struct {
		Text string `json:"text"`
	}) (tool.Call, error) {
		return jobCall{job{in.Text, w}}, nil
	})
}

func poolOf(tools ...tool.Tool) *tool.Pool {
	p, _ := tool.NewRegistry(tools...).Assemble(nil, nil)
	return p
}

// gateFunc and afterFunc adapt functions to gates.
type (
	gateFunc  func(context.Context, *tool.Use) error
	afterFunc func(context.Context, *tool.Use, *tool.Result) error
)

func (f gateFunc) Before(ctx context.Context, u *tool.Use) error                 { return f(ctx, u) }
func (f afterFunc) After(ctx context.Context, u *tool.Use, r *tool.Result) error { return f(ctx, u, r) }

// decide returns a gate that always decides d.
func decide(d tool.Decision, by, reason string) tool.Gate {
	return gateFunc(func(_ context.Context, u *tool.Use) error {
		u.Verdict.Decide(d, by, reason)
		return nil
	})
}

func allow() tool.Gate { return decide(tool.Allow, "test", "") }

// perform takes a use through all stages.
func (e *Executor) perform(ctx context.Context, p *tool.Pool, use *msg.ToolUse) Outcome {
	pending := e.Bind(p, use)
	if !e.Admit(ctx, pending) {
		return *pending.Refused()
	}
	return e.Run(ctx, pending, nil)
}

// once performs one use of a tool named Job by w with everything allowed.
func once(t *testing.T, w *worker, traits tool.Traits) Outcome {
	t.Helper()
	e := &Executor{Gates: gates(allow())}
	return e.perform(t.Context(), poolOf(w.tool("Job", traits)), use("Job", `{"text":"x"}`))
}

func use(name, input string) *msg.ToolUse { return msg.NewToolUse("toolu_1", name, input) }

func text(o Outcome) string { return msg.PlainText(o.Result.Parts) }

// wantError checks that o is an error result that contains each of words.
func wantError(t *testing.T, o Outcome, words ...string) {
	t.Helper()
	if !o.Result.IsError {
		t.Errorf("not an error: %s", text(o))
	}
	for _, w := range words {
		if !strings.Contains(text(o), w) {
			t.Errorf("the result lacks %q: %s", w, text(o))
		}
	}
}

// files stores results in a directory, as a session does.
type files struct {
	dir string
	err error
}

func (f *files) SaveResult(callID, ext string, r io.Reader) (string, int64, error) {
	if f.err != nil {
		io.CopyN(io.Discard, r, 5000)
		return "", 0, f.err
	}
	path := filepath.Join(f.dir, callID+"."+ext)
	if info, err := os.Stat(path); err == nil {
		return path, info.Size(), nil
	}
	w, err := os.Create(path)
	if err != nil {
		return "", 0, err
	}
	defer w.Close()
	n, err := io.Copy(w, r)
	return path, n, err
}

// names lists the stored files.
func (f *files) names(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return fmt.Sprint(names)
}

// gates returns an executor's gates: hooks, then the permission check; nil means none.
func gates(list ...tool.Gate) []Gate {
	var named []Gate
	for i, g := range list {
		switch {
		case g == nil:
		case i < len(list)-1:
			named = append(named, Gate{"hooks", g})
		default:
			named = append(named, Gate{"permission", g})
		}
	}
	return named
}

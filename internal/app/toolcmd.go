package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/platform/lines"
	"adze/internal/session"
	"adze/internal/tool"
)

// toolFlags are those of a run that concern tools, and the command's own.
func toolFlags() []flag {
	flags := []flag{
		{name: "json", doc: "print the result as JSON: is_error, text, structured, ms", set: setBool(func(o *options) *bool { return &o.json })},
		{name: "list", doc: "list the tools", set: setBool(func(o *options) *bool { return &o.list })},
		{name: "stdin", doc: "run many calls: a line {\"id\",\"tool\",\"input\"} for each on stdin, a line with its result for each on stdout",
			set: setBool(func(o *options) *bool { return &o.stdin })},
	}
	shared := []string{
		"allowed-tools", "disallowed-tools", "permission-mode", "dangerously-skip-permissions", "add-dir",
		"settings", "setting-sources", "trust", "session-id", "no-session-persistence", "debug", "debug-file", "help",
	}
	for _, f := range supportedFlags() {
		if slices.Contains(shared, f.name) {
			flags = append(flags, f)
		}
	}
	return flags
}

// runTool runs calls that a person typed through the pipeline of a model's calls. Naming a tool allows
// it, as --allowed-tools would; deny rules and the permission mode still count.
func runTool(ctx context.Context, env *Env, o *options) error {
	if o.list {
		return listTools(ctx, env, o)
	}
	if o.stdin == (len(o.args) > 0) || len(o.args) > 2 {
		return setupErrorf("write adze tool NAME [JSON], adze tool --stdin, or adze tool --list")
	}
	b, err := newBuilder(env, o)
	if err != nil {
		return err
	}
	defer b.close()
	s, err := b.session(ctx, nil)
	if err != nil {
		return err
	}
	c := &caller{session: s}
	if o.stdin {
		for _, spec := range s.Pool().Specs() {
			b.gate.allow(spec.Name)
		}
		return c.serve(ctx, env)
	}
	pool := s.Pool()
	_, name, ok := pool.Fold(o.args[0])
	if !ok {
		return unknownTool(pool, o.args[0])
	}
	b.gate.allow(name)
	input, err := toolInput(ctx, env, o.args[1:])
	if err != nil {
		return err
	}
	return c.one(ctx, env, o, input)
}

// named reports whether t is the tool a person means by name.
func named(t tool.Tool, name string) bool {
	for _, n := range append([]string{t.Spec().Name}, t.Traits().Aliases...) {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

func unknownTool(pool *tool.Pool, name string) error {
	if err := pool.Disabled(name); err != nil {
		return setupErrorf("%v", err)
	}
	text := fmt.Sprintf("there is no tool %s", name)
	if near := pool.Closest(name); len(near) > 0 {
		text += " (did you mean " + near[0] + "?)"
	}
	return setupErrorf("%s; adze tool --list shows them all", text)
}

// toolInput returns the input of a single call: the argument, or else standard input.
func toolInput(ctx context.Context, env *Env, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if env.StdinTerminal {
		return "", nil
	}
	text, err := readStdin(ctx, env)
	return strings.TrimSpace(text), err
}

// A caller runs calls one after the other in one session.
type caller struct {
	session *session.Session
	calls   int
}

// A called is what became of a call, as it is printed.
type called struct {
	ID         json.RawMessage `json:"id,omitempty"`
	IsError    bool            `json:"is_error"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	MS         float64         `json:"ms"`
}

// one runs a single call and prints it.
func (c *caller) one(ctx context.Context, env *Env, o *options, input string) error {
	r := c.call(ctx, o.args[0], input)
	out := r.Text
	if o.json {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
		out = string(line)
	} else if env.StdoutTerminal {
		out = env.shown()(out)
	}
	if err := env.print(strings.TrimSuffix(out, "\n") + "\n"); err != nil {
		return err
	}
	if r.IsError {
		return &endedError{}
	}
	return nil
}

// call runs one call.
func (c *caller) call(ctx context.Context, name, input string) called {
	c.calls++
	pool := c.session.Pool()
	if _, canonical, ok := pool.Fold(name); ok {
		name = canonical
	}
	began := time.Now()
	o := execute(ctx, c.session.Executor(), pool, msg.NewToolUse(fmt.Sprintf("call_%d", c.calls), name, input))
	return called{
		IsError:    o.Result.IsError,
		Text:       msg.PlainText(o.Result.Parts),
		Structured: o.Structured,
		MS:         float64(time.Since(began).Microseconds()) / 1000,
	}
}

// execute takes a use through all stages.
func execute(ctx context.Context, ex *exec.Executor, pool *tool.Pool, use *msg.ToolUse) exec.Outcome {
	p := ex.Bind(pool, use)
	if !ex.Admit(ctx, p) {
		return *p.Refused()
	}
	return ex.Run(ctx, p, func(tool.Progress) {})
}

// serve runs the calls that arrive as lines and prints each result as a line, until the input ends. A
// line that cannot be used gets a result that says so.
func (c *caller) serve(ctx context.Context, env *Env) error {
	in := lines.NewReader(env.Stdin, maxPrompt)
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, lines.ErrTooLong):
			err = c.reply(env, called{IsError: true, Text: fmt.Sprintf("the line is longer than %d MB", maxPrompt>>20)})
		case err != nil:
			return fmt.Errorf("reading stdin: %w", err)
		case strings.TrimSpace(string(line)) == "":
			continue
		default:
			err = c.reply(env, c.line(ctx, line))
		}
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// line runs the call that a line asks for.
func (c *caller) line(ctx context.Context, line []byte) called {
	var in struct {
		ID    json.RawMessage `json:"id"`
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return called{ID: in.ID, IsError: true, Text: fmt.Sprintf(`the line is not {"id","tool","input"}: %v`, err)}
	}
	r := c.call(ctx, in.Tool, string(in.Input))
	r.ID = in.ID
	return r
}

func (c *caller) reply(env *Env, r called) error {
	if r.ID == nil {
		r.ID = json.RawMessage("null")
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("writing a result: %w", err)
	}
	return env.print(string(line) + "\n")
}

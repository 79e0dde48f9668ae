package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/setup"
	"adze/internal/tool"
)

// toolOptions holds the options of adze tool.
type toolOptions struct {
	project           settings.Source
	spec              wire.Spec
	json, list, stdin bool
	asModel           bool
}

// explain describes the permission rules.
func (*toolOptions) explain() string {
	return `Naming a tool allows its calls, as --allowed-tools NAME would. Deny rules, the permission mode and hooks
apply. A call that always asks, because of an ask rule or a protected file, is refused,
because there is no prompt. With --as-model a call is judged like a model's, by the rules and the active
mode: a call that would prompt is refused, with the reason on stderr.

The input is JSON, from the argument or from stdin. Exit codes: 0 the call succeeded; 1 it failed or
was refused; 2 nothing was run, because the tool does not exist or is denied.
`
}

func (o *toolOptions) flags() []flag {
	table := []flag{
		{Name: "json", Doc: "print the result as JSON: is_error, refused, text, structured, ms", Set: flags.SetBool(&o.json)},
		{Name: "as-model", Doc: "apply permission rules as for a model; calls that would prompt are denied", Set: flags.SetBool(&o.asModel)},
		{Name: "list", Doc: "list the tools", Set: flags.SetBool(&o.list)},
		{Name: "stdin", Doc: "run many calls: reads a line {\"id\",\"tool\",\"input\"} for each from stdin, and writes a line with its result to stdout",
			Set: flags.SetBool(&o.stdin)},
	}
	table = append(table, flags.Only(accessFlags(&o.spec.Access),
		"allowed-tools", "disallowed-tools", "permission-mode", "dangerously-skip-permissions", "add-dir")...)
	table = append(table, newSessionFlags(&o.spec.Session)...)
	table = append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
	return append(table, debugFlags(&o.spec.Debug)...)
}

func (*toolOptions) offers(env *Env, args []string) []offer {
	if len(args) > 0 {
		return nil
	}
	return toolOffers(env)
}

// run runs calls from the command line like a model's calls. Naming a tool allows it, as
// --allowed-tools would, unless calls are judged as a model's; deny rules and the permission
// mode still apply.
func (o *toolOptions) run(ctx context.Context, env *Env, in invocation) error {
	if o.list {
		list := toolsOptions{project: o.project, access: o.spec.Access, json: o.json}
		return list.run(ctx, env, invocation{})
	}
	if o.stdin == (len(in.Args) > 0) || len(in.Args) > 2 {
		return setup.Errorf("usage: adze tool NAME [JSON], adze tool --stdin, or adze tool --list")
	}
	o.spec.Calls = wire.Single
	if o.stdin {
		o.spec.Calls = wire.FromStream
	}
	w, err := openWorkspace(env, o.project, in)
	if err != nil {
		return err
	}
	defer w.Close()
	conv, err := w.Converse(ctx, o.spec)
	if err != nil {
		return err
	}
	defer conv.Close()
	pool := conv.Session.Pool()
	c := &caller{session: conv.Session, asModel: o.asModel}
	if o.stdin {
		for _, spec := range pool.Specs() {
			if !o.asModel {
				conv.Allow(spec.Name)
			}
		}
		return c.serve(ctx, env)
	}
	name, ok := c.find(in.Args[0])
	if !ok {
		return unknownTool(pool, in.Args[0])
	}
	if !o.asModel {
		conv.Allow(name)
	}
	input, err := toolInput(ctx, env, in.Args[1:])
	if err != nil {
		return err
	}
	return c.one(ctx, env, name, input, o.json)
}

func unknownTool(pool *tool.Pool, name string) error {
	if err := pool.Disabled(name); err != nil {
		return setup.Errorf("%v", err)
	}
	text := fmt.Sprintf("unknown tool %s", name)
	if near := pool.Closest(name); len(near) > 0 {
		text += " (did you mean " + near[0] + "?)"
	}
	return setup.Errorf("%s; adze tool --list shows all tools", text)
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

// A caller runs calls sequentially in one session.
type caller struct {
	session *session.Session
	asModel bool // judge calls as a model's
	calls   int
}

// find returns the tool for a name. With asModel, the name must match exactly.
func (c *caller) find(name string) (canonical string, ok bool) {
	find := c.session.Pool().Fold
	if c.asModel {
		find = c.session.Pool().Lookup
	}
	_, canonical, ok = find(name)
	return canonical, ok
}

// A toolResult is a call's outcome in the output.
type toolResult struct {
	ID         json.RawMessage `json:"id,omitempty"`
	IsError    bool            `json:"is_error"`
	Refused    bool            `json:"refused,omitempty"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	MS         float64         `json:"ms"`
}

// one runs a single call and prints its result.
func (c *caller) one(ctx context.Context, env *Env, name, input string, asJSON bool) error {
	r := c.call(ctx, name, input)
	if r.Refused && c.asModel {
		env.Say(r.Text)
		if !asJSON {
			return &Ended{}
		}
	}
	out := r.Text
	if asJSON {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
		out = string(line)
	} else if env.StdoutTerminal {
		out = term.Sanitize(out)
	}
	if err := env.print(strings.TrimSuffix(out, "\n") + "\n"); err != nil {
		return err
	}
	if r.IsError {
		return &Ended{}
	}
	return nil
}

func (c *caller) call(ctx context.Context, name, input string) toolResult {
	c.calls++
	if canonical, ok := c.find(name); ok {
		name = canonical
	}
	began := time.Now()
	o := c.session.Executor().Execute(ctx, c.session.Pool(), msg.NewToolUse(fmt.Sprintf("call_%d", c.calls), name, input))
	return toolResult{
		IsError:    o.Result.IsError,
		Refused:    o.Denied,
		Text:       joinTexts(o.Result.Parts),
		Structured: o.Structured,
		MS:         float64(time.Since(began).Microseconds()) / 1000,
	}
}

// joinTexts returns the text parts, each of which begins a line.
func joinTexts(parts []msg.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(*msg.Text); ok {
			if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteByte('\n')
			}
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// serve runs calls that arrive as lines and prints each result as a line, until the input ends.
// An invalid line gets an error result.
func (c *caller) serve(ctx context.Context, env *Env) error {
	return serveLines(ctx, env, func(line []byte, err error) any {
		r := toolResult{IsError: true}
		if err != nil {
			r.Text = err.Error()
		} else {
			r = c.line(ctx, line)
		}
		if r.ID == nil {
			r.ID = json.RawMessage("null")
		}
		return r
	})
}

// line runs the call in a line.
func (c *caller) line(ctx context.Context, line []byte) toolResult {
	var in struct {
		ID    json.RawMessage `json:"id"`
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return toolResult{ID: in.ID, IsError: true, Text: fmt.Sprintf(`the line is not {"id","tool","input"}: %v`, err)}
	}
	r := c.call(ctx, in.Tool, string(in.Input))
	r.ID = in.ID
	return r
}

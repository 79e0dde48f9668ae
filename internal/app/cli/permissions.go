package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/app/syntax"
	"adze/internal/app/wire"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/scope"
)

// permissionsOptions belong to adze permissions.
type permissionsOptions struct {
	project     settings.Source
	access      wire.AccessSpec
	json, stdin bool
}

// explain says what each form does.
func (*permissionsOptions) explain() string {
	return `check lists the rules and matchers of hooks that
can never take effect, with where they stand and why, and exits with 1 if there are any. check TOOL JSON
explains how a call of a model would be decided by the rules and the mode in force; naming the tool here
allows nothing. Nothing is run or written.
`
}

func (o *permissionsOptions) flags() []flag {
	table := []flag{
		{Name: "json", Doc: "print the decision as JSON", Set: syntax.SetBool(&o.json)},
		{Name: "stdin", Doc: "check many calls: reads a line {\"id\",\"tool\",\"input\",\"cwd\",\"mode\",\"allow\",\"ask\",\"deny\"} for each from stdin, and writes a line with its decision to stdout",
			Set: syntax.SetBool(&o.stdin)},
	}
	table = append(table, syntax.Only(accessFlags(&o.access),
		"allowed-tools", "disallowed-tools", "permission-mode", "dangerously-skip-permissions", "add-dir")...)
	return append(table, syntax.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

func (*permissionsOptions) actions() []action {
	return []action{
		{Name: "list", Doc: "list the rules in force, highest precedence first"},
		{Name: "check", Args: "[TOOL [JSON]]", Doc: "find rules that never take effect, or explain how a call would be decided"},
	}
}

// offers completes the tool of a call.
func (*permissionsOptions) offers(env *Env, args []string) []offer {
	if len(args) == 1 && args[0] == "check" {
		return toolOffers(env)
	}
	return nil
}

// run lists the rules, finds those that never take effect, or explains how calls would be decided. Nothing is run
// or written.
func (o *permissionsOptions) run(ctx context.Context, env *Env, in invocation) error {
	const usage = "usage: adze permissions list, adze permissions check, adze permissions check TOOL JSON, or adze permissions check --stdin"
	c := &checker{env: env, o: o, benches: map[string]*wire.Bench{}}
	if len(in.Args) == 1 && in.Args[0] == "list" && !o.stdin {
		return c.list()
	}
	if len(in.Args) == 0 || in.Args[0] != "check" {
		return setup.Errorf("%s", usage)
	}
	args := in.Args[1:]
	switch {
	case o.stdin && len(args) == 0:
		return serveLines(ctx, env, func(line []byte, err error) any {
			if err != nil {
				return refusedLine(nil, err)
			}
			return c.line(line)
		})
	case len(args) == 0:
		c.quiet = true
		return c.flaws()
	case o.stdin || len(args) > 2:
		return setup.Errorf("%s", usage)
	}
	input, err := toolInput(ctx, env, args[1:])
	if err != nil {
		return err
	}
	return c.one(args[0], input)
}

// A checker decides about calls without running them.
type checker struct {
	env     *Env
	o       *permissionsOptions
	benches map[string]*wire.Bench // by directory
	quiet   bool                   // what is wrong with rules is not said beside the answer
}

// A callLine is a call with the policy it is judged by.
type callLine struct {
	ID    json.RawMessage `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Dir   string          `json:"cwd"`
	Mode  string          `json:"mode"`
	Allow *[]string       `json:"allow"`
	Ask   *[]string       `json:"ask"`
	Deny  *[]string       `json:"deny"`
}

// A decisionLine is the decision about a call as --stdin prints it.
type decisionLine struct {
	ID       json.RawMessage `json:"id"`
	Decision string          `json:"decision"`
	ReadOnly bool            `json:"read_only"`
	Reason   string          `json:"reason"`
}

func refusedLine(id json.RawMessage, err error) decisionLine {
	if id == nil {
		id = json.RawMessage("null")
	}
	return decisionLine{ID: id, Decision: string(permission.Deny), Reason: err.Error()}
}

func (c *checker) line(line []byte) decisionLine {
	var in callLine
	if err := json.Unmarshal(line, &in); err != nil {
		return refusedLine(in.ID, fmt.Errorf(`the line is not {"id","tool","input","cwd","mode","allow","ask","deny"}: %w`, err))
	}
	d, _, err := c.decide(&in)
	if err != nil {
		return refusedLine(in.ID, err)
	}
	if in.ID == nil {
		in.ID = json.RawMessage("null")
	}
	return decisionLine{ID: in.ID, Decision: string(d.Behavior), ReadOnly: d.ReadOnly, Reason: d.Reason.Text}
}

// decide judges a call as a session would. An error says that the tool would refuse the input, before any
// question.
func (c *checker) decide(in *callLine) (d permission.Decision, f permission.Facts, err error) {
	b, err := c.bench(in.Dir)
	if err != nil {
		return d, f, err
	}
	cfg := b.Gate.Policy().Config()
	if in.Mode != "" {
		if cfg.Mode, err = permission.ParseMode(in.Mode); err != nil {
			return d, f, err
		}
	}
	if in.Allow != nil || in.Ask != nil || in.Deny != nil {
		cfg.Rules = givenRules(in)
	}
	t := b.Find(in.Tool)
	if in.Input == nil {
		in.Input = json.RawMessage("{}")
	}
	call, err := t.Bind(in.Input)
	if err != nil {
		return d, f, fmt.Errorf("the call would fail: %w", err)
	}
	p := permission.Compile(cfg)
	f = permission.FactsOf(p, t, call)
	return permission.Decide(p, f), f, nil
}

// givenRules returns the rules of a line, as rules of the user.
func givenRules(in *callLine) []rule.Rule {
	var rules []rule.Rule
	for _, list := range []struct {
		behavior permission.Behavior
		texts    *[]string
	}{{permission.Allow, in.Allow}, {permission.Ask, in.Ask}, {permission.Deny, in.Deny}} {
		if list.texts == nil {
			continue
		}
		for _, text := range *list.texts {
			r, _ := rule.Parse(text) // ok: the rule itself knows what is wrong with it
			r.Behavior, r.Scope = list.behavior, scope.User
			rules = append(rules, r)
		}
	}
	return rules
}

// bench returns what calls in dir are judged with: the settings there, as if the workspace were trusted.
func (c *checker) bench(dir string) (*wire.Bench, error) {
	if dir == "" {
		dir = c.env.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.env.Dir, dir)
	}
	if b := c.benches[dir]; b != nil {
		return b, nil
	}
	if !isDir(dir) {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	env, src := *c.env, c.o.project
	env.Dir = dir
	src.Trust = src.Trust || c.o.stdin
	place := env.wire()
	if c.quiet {
		place.Say = func(string) {}
	}
	b, err := wire.Open(place, openLeniently(&env, src)).Bench(c.o.access)
	if err != nil {
		return nil, err
	}
	c.benches[dir] = b
	return b, nil
}

// one explains the decision about one call.
func (c *checker) one(name, input string) error {
	in := &callLine{Tool: name}
	if input != "" {
		in.Input = json.RawMessage(input)
	}
	d, f, err := c.decide(in)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	if c.o.json {
		data, err := json.Marshal(explained(d))
		if err != nil {
			return fmt.Errorf("writing the decision: %w", err)
		}
		return c.env.print(string(data) + "\n")
	}
	return c.env.show(explain(d, f))
}

// explain returns a decision as text for the user.
func explain(d permission.Decision, f permission.Facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Behavior, d.Reason.Text)
	fmt.Fprintf(&b, "  decided by  %s\n", d.Reason)
	fmt.Fprintf(&b, "  read-only   %s\n", yesNo(d.ReadOnly))
	if d.Firm {
		b.WriteString("  firm        yes: no mode or allow rule overrides it\n")
	}
	if d.Judged {
		b.WriteString("  judged      in auto mode, by the small model, which is not asked here\n")
	}
	for _, p := range d.Parts {
		fmt.Fprintf(&b, "  part        %-5s %s (%s)\n", p.Behavior, p.Text, p.Reason.Text)
	}
	for _, p := range d.Paths {
		does, to := "read", p.Path
		if p.Write {
			does = "write"
		}
		if p.Real != "" && p.Real != p.Path {
			to += " -> " + p.Real
		}
		fmt.Fprintf(&b, "  path        %-5s %s %s (%s)\n", p.Behavior, does, to, p.Reason.Text)
	}
	for _, u := range d.Suggestions {
		for _, r := range u.Rules {
			fmt.Fprintf(&b, "  to allow    %s\n", r)
		}
	}
	if f.Command != nil && f.Command.Script.Problem != "" {
		fmt.Fprintf(&b, "  not simple  %s\n", f.Command.Script.Problem)
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// explained returns a decision for JSON output.
func explained(d permission.Decision) any {
	type rule struct {
		Text   string `json:"rule"`
		Source string `json:"source"`
		File   string `json:"file,omitempty"`
		Line   int    `json:"line,omitempty"`
	}
	type step struct {
		Decision permission.Behavior   `json:"decision"`
		Text     string                `json:"text"`
		Real     string                `json:"real,omitempty"`
		Write    bool                  `json:"write,omitempty"`
		Type     permission.ReasonType `json:"reason_type"`
		Reason   string                `json:"reason"`
	}
	out := struct {
		Decision    permission.Behavior   `json:"decision"`
		ReadOnly    bool                  `json:"read_only"`
		Reason      string                `json:"reason"`
		Type        permission.ReasonType `json:"reason_type"`
		Firm        bool                  `json:"firm,omitempty"`
		Rule        *rule                 `json:"rule,omitempty"`
		Parts       []step                `json:"parts,omitempty"`
		Paths       []step                `json:"paths,omitempty"`
		Suggestions []permission.Update   `json:"suggestions,omitempty"`
	}{Decision: d.Behavior, ReadOnly: d.ReadOnly, Reason: d.Reason.Text, Type: d.Reason.Type, Firm: d.Firm, Suggestions: d.Suggestions}
	if r := d.Reason.Rule; r != nil {
		out.Rule = &rule{r.Text(), string(r.Scope), r.File, r.Line}
	}
	for _, p := range d.Parts {
		out.Parts = append(out.Parts, step{Decision: p.Behavior, Text: p.Text, Type: p.Reason.Type, Reason: p.Reason.Text})
	}
	for _, p := range d.Paths {
		out.Paths = append(out.Paths, step{p.Behavior, p.Path, p.Real, p.Write, p.Reason.Type, p.Reason.Text})
	}
	return out
}

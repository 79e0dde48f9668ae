// Package permissions implements adze permissions: it lists the permission rules, finds
// ineffective ones, and explains how calls would be decided. Nothing is run or written.
package permissions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/app/wire"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/setup"
	"adze/internal/ui/console"
)

// A Checker decides calls without running them.
type Checker struct {
	*console.Console
	JSON bool
	// Dir is the directory of calls that name none.
	Dir string
	// Open returns the bench for a directory, with its settings. Problems are reported with
	// say.
	Open func(dir string, say func(string)) (*wire.Bench, error)
	// Quiet suppresses reports of rule problems.
	Quiet   bool
	benches map[string]*wire.Bench // keyed by directory
}

// ErrFailed reports that rules need correction and that the user has been notified.
var ErrFailed = errors.New("failed")

// A callLine is a call with its policy.
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

// A Decision is the decision about a call in the output of --stdin.
type Decision struct {
	ID       json.RawMessage `json:"id"`
	Decision string          `json:"decision"`
	ReadOnly bool            `json:"read_only"`
	Reason   string          `json:"reason"`
}

// Refuse returns the decision for an unreadable line.
func Refuse(id json.RawMessage, err error) Decision {
	if id == nil {
		id = json.RawMessage("null")
	}
	return Decision{ID: id, Decision: string(permission.Deny), Reason: err.Error()}
}

// Line decides the call described by a line.
func (c *Checker) Line(line []byte) Decision {
	var in callLine
	if err := json.Unmarshal(line, &in); err != nil {
		return Refuse(in.ID, fmt.Errorf(`the line is not {"id","tool","input","cwd","mode","allow","ask","deny"}: %w`, err))
	}
	d, _, err := c.decide(&in)
	if err != nil {
		return Refuse(in.ID, err)
	}
	if in.ID == nil {
		in.ID = json.RawMessage("null")
	}
	return Decision{ID: in.ID, Decision: string(d.Behavior), ReadOnly: d.ReadOnly, Reason: d.Reason.String()}
}

// decide judges a call as a session would. An error means that the tool would reject the input
// before any prompt.
func (c *Checker) decide(in *callLine) (d permission.Decision, f permission.Facts, err error) {
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

// givenRules returns a line's rules, as user rules.
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
			r, _ := rule.Parse(text) // ok: the rule carries its own error
			r.Behavior, r.Scope = list.behavior, scope.User
			rules = append(rules, r)
		}
	}
	return rules
}

// bench returns the bench for calls in dir.
func (c *Checker) bench(dir string) (*wire.Bench, error) {
	if dir == "" {
		dir = c.Dir
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Dir, dir)
	}
	if b := c.benches[dir]; b != nil {
		return b, nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	say := c.Say
	if c.Quiet {
		say = func(string) {}
	}
	b, err := c.Open(dir, say)
	if err != nil {
		return nil, err
	}
	if c.benches == nil {
		c.benches = map[string]*wire.Bench{}
	}
	c.benches[dir] = b
	return b, nil
}

// One explains the decision about one call.
func (c *Checker) One(name, input string) error {
	in := &callLine{Tool: name}
	if input != "" {
		in.Input = json.RawMessage(input)
	}
	d, f, err := c.decide(in)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	if c.JSON {
		data, err := json.Marshal(explained(d))
		if err != nil {
			return fmt.Errorf("writing the decision: %w", err)
		}
		return c.Print(string(data) + "\n")
	}
	return c.Show(explain(d, f))
}

// explain formats a decision for the user.
func explain(d permission.Decision, f permission.Facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Behavior, d.Reason)
	fmt.Fprintf(&b, "  decided by  %s\n", decidedBy(d))
	fmt.Fprintf(&b, "  read-only   %s\n", yesNo(d.ReadOnly))
	if d.Firm {
		b.WriteString("  firm        yes: no mode or allow rule overrides it\n")
	}
	if d.Judged {
		b.WriteString("  judged      in auto mode, by the small model, which is not asked here\n")
	}
	for _, p := range d.Parts {
		fmt.Fprintf(&b, "  part        %-5s %s (%s)\n", p.Behavior, p.Text, p.Reason)
	}
	for _, p := range d.Paths {
		does, to := "read", p.Path
		if p.Write {
			does = "write"
		}
		switch {
		case p.Unknown != "":
			to = p.Unknown
		case p.Real != "" && p.Real != p.Path:
			to += " -> " + p.Real
		}
		fmt.Fprintf(&b, "  path        %-5s %s %s (%s)\n", p.Behavior, does, to, p.Reason)
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

// decidedBy describes the reason for a decision.
func decidedBy(d permission.Decision) string {
	switch d.Reason.Type() {
	case permission.BySafety:
		return "a safety check"
	case permission.ByWorkingDir:
		return "the working directories"
	case permission.BySandbox:
		return "the sandbox settings"
	case permission.ByParts:
		return "the parts of the command"
	case permission.ByReadOnly:
		return "the analysis of the call: it only reads"
	case permission.ByJudge:
		return "the classifier of auto mode"
	case permission.ByOther:
		if d.Behavior == permission.Allow {
			return "a built-in exception"
		}
		return "the default: adze asks if no rule matches"
	}
	return d.Reason.Source()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// explained converts a decision for JSON output.
func explained(d permission.Decision) any {
	type rule struct {
		Text   string `json:"rule"`
		Source string `json:"source"`
		File   string `json:"file,omitempty"`
		Line   int    `json:"line,omitempty"`
	}
	type step struct {
		Decision permission.Behavior   `json:"decision"`
		Text     string                `json:"text,omitempty"`
		Unknown  string                `json:"unknown,omitempty"`
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
	}{Decision: d.Behavior, ReadOnly: d.ReadOnly, Reason: d.Reason.String(), Type: d.Reason.Type(), Firm: d.Firm, Suggestions: d.Suggestions}
	if r := d.Reason.Rule; r != nil && d.Reason.Type() == permission.ByRule {
		out.Rule = &rule{r.Text(), string(r.Scope), r.File, r.Line}
	}
	for _, p := range d.Parts {
		out.Parts = append(out.Parts, step{Decision: p.Behavior, Text: p.Text, Type: p.Reason.Type(), Reason: p.Reason.String()})
	}
	for _, p := range d.Paths {
		out.Paths = append(out.Paths, step{p.Behavior, p.Path, p.Unknown, p.Real, p.Write, p.Reason.Type(), p.Reason.String()})
	}
	return out
}

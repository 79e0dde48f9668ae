// Package permission decides which calls may run, by rules and by mode. It asks nobody and analyses
// no command: what it cannot judge exactly it refuses, and says how to allow it. The tools say what a
// call does; the executor carries the decision out.
package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/tool"
)

// A Config is what a gate decides by. Its zero value allows reading and nothing else.
type Config struct {
	Mode Mode // empty means Default
	// Allow and Deny are rules, such as "Bash" or "Bash(go test)". One that cannot be read allows
	// nothing, or denies every call of the tool it names.
	Allow, Deny []string
	// AllowSource and DenySource say where the rules come from; empty means the command line's flags.
	AllowSource, DenySource string
	// OnDeny is told of every use that is denied, after the decision; nil means nobody is.
	OnDeny func(*tool.Use)
}

// A Gate decides by rules and mode. It does not change and is safe for concurrent use.
type Gate struct {
	mode        Mode
	allow, deny []Rule
	problems    []error
	onDeny      func(*tool.Use)
}

// New returns the gate of c.
func New(c Config) *Gate {
	g := &Gate{mode: c.Mode, onDeny: c.OnDeny}
	if g.mode == "" {
		g.mode = Default
	}
	g.allow = g.parse(c.Allow, c.AllowSource, "--allowed-tools")
	g.deny = g.parse(c.Deny, c.DenySource, "--disallowed-tools")
	return g
}

func (g *Gate) parse(texts []string, source, flag string) []Rule {
	if source == "" {
		source = flag
	}
	rules := make([]Rule, 0, len(texts))
	for _, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			g.problems = append(g.problems, fmt.Errorf("rule %q from %s: %w", text, source, err))
		}
		r.Source = source
		rules = append(rules, r)
	}
	return rules
}

// Problems returns what is wrong with the rules, for the person to correct.
func (g *Gate) Problems() []error { return g.problems }

// Before adds its verdict to u. A deny rule holds in every mode; what only reads is allowed in every
// mode; plan mode refuses everything else, whatever the rules allow.
func (g *Gate) Before(_ context.Context, u *tool.Use) error {
	if u.Tool == nil || u.Call == nil {
		return errors.New("a use reached the permission check before it was bound")
	}
	d := g.decide(u)
	u.Verdict.Decide(d.decision, d.by, d.reason)
	if u.Verdict.Decision == tool.Deny && g.onDeny != nil {
		g.onDeny(u)
	}
	return nil
}

// A decision is one answer, with its reason for the model.
type decision struct {
	decision   tool.Decision
	by, reason string
}

func (g *Gate) decide(u *tool.Use) decision {
	name := u.Tool.Spec().Name
	names := append([]string{name}, u.Tool.Traits().Aliases...)
	readOnly := tool.FactsOf(u.Call).ReadOnly
	for _, r := range g.deny {
		if r.names(names) || r.Tool == "" && !readOnly {
			return r.denial(name)
		}
	}
	switch {
	case readOnly:
		return decision{tool.Allow, "read-only", "the call changes nothing"}
	case g.mode == Plan:
		return decision{tool.Deny, "mode plan", fmt.Sprintf(
			"In plan mode only calls that change nothing are allowed, and this call of %s may change something. Finish the plan instead. %s", name, noRepeat)}
	case g.mode == Bypass:
		return decision{tool.Allow, "mode " + string(g.mode), "the mode allows everything that no rule denies"}
	}
	if i := slices.IndexFunc(g.allow, func(r Rule) bool { return r.allows(names, u.Call) }); i >= 0 {
		return decision{tool.Allow, "rule " + g.allow[i].quoted(), "the rule allows it"}
	}
	return decision{tool.Deny, "mode " + string(g.mode), fmt.Sprintf(
		"%s is not allowed: no rule allows it, and in permission mode %s nobody is asked. The user can allow it with --allowed-tools %s, or everything with --permission-mode %s. %s",
		name, g.mode, name, Bypass, noRepeat)}
}

const noRepeat = "Do not repeat the identical call, and do not work around the refusal."

// denial says why r denies a call of the named tool.
func (r Rule) denial(name string) decision {
	reason := fmt.Sprintf("The rule %s denies %s. %s", r.quoted(), name, noRepeat)
	switch {
	case r.broken:
		reason = fmt.Sprintf("The rule %s cannot be read, so it denies every call of %s until it is corrected. %s", r.quoted(), name, noRepeat)
	case r.Content != "":
		reason = fmt.Sprintf("The rule %s denies some calls of %s. Which ones cannot be told yet, so it denies all of them. %s", r.quoted(), name, noRepeat)
	}
	return decision{tool.Deny, "rule " + r.quoted(), reason}
}

// allows reports whether r, as an allow rule, covers the call: the whole tool, or by its content
// exactly. A matcher that fails allows nothing.
func (r Rule) allows(names []string, c tool.Call) bool {
	if r.broken || !r.names(names) {
		return false
	}
	matched, err := tool.Matches(c, r.Content)
	return matched && err == nil
}

// WholeTool returns a function that reports whether one of the deny rules removes the named tool
// altogether, so that the model does not even see it. Rules with content, and rules that cannot be
// read, remove nothing: they deny when the tool is called.
func WholeTool(deny []string) func(name string) bool {
	var rules []Rule
	for _, text := range deny {
		if r, err := ParseRule(text); err == nil && r.Content == "" {
			rules = append(rules, r)
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(rules, func(r Rule) bool { return r.names([]string{name}) })
	}
}

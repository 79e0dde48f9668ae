package permissions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/scope"
	"adze/internal/setup"
)

// A listedRule is an active rule in JSON output.
type listedRule struct {
	Behavior string `json:"behavior"`
	Rule     string `json:"rule"`
	Source   string `json:"source"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`

	where, shadow string // locations of this rule and the shadowing one
	// ShadowedBy is the rule that prevents this one from ever taking effect.
	ShadowedBy string `json:"shadowed_by,omitempty"`
	// Confined is true if the rule covers no files outside the working directories because it
	// is a project's.
	Confined bool `json:"confined,omitempty"`
	// Flaw explains why the rule does not work as written.
	Flaw string `json:"flaw,omitempty"`
}

// listRules returns a policy's rules, highest precedence first, with the reasons why some have
// no effect.
func listRules(p *permission.Policy) []listedRule {
	shadows := p.Shadowed()
	rules := []listedRule{}
	for i, r := range p.Rules() {
		l := listedRule{Behavior: string(r.Behavior), Rule: r.Text(), Source: string(r.Scope), File: r.File, Line: r.Line, where: r.Where()}
		l.Confined = confined(&r)
		if by, ok := shadows[i]; ok {
			l.ShadowedBy, l.shadow = string(by.Behavior)+" "+by.Text(), by.Where()
		}
		if err := cmp.Or(r.Broken(), r.Flaw()); err != nil {
			l.Flaw = err.Error()
		}
		rules = append(rules, l)
	}
	return rules
}

// confined reports whether a rule names files outside the working directories that it does not
// cover because it is a project's.
func confined(r *rule.Rule) bool {
	return r.Behavior == permission.Allow && r.Scope == scope.Project &&
		(strings.HasPrefix(r.Content, "//") || strings.HasPrefix(r.Content, "~") || strings.Contains(r.Content, ".."))
}

// text formats the rule for the user.
func (l *listedRule) text() string {
	text := fmt.Sprintf("%-5s  %s  (%s)\n", l.Behavior, l.Rule, l.where)
	if l.ShadowedBy != "" {
		text += fmt.Sprintf("       never takes effect: %s in %s comes first\n", l.ShadowedBy, l.shadow)
	}
	if l.Confined {
		text += "       only inside the working directories, because it is a project's\n"
	}
	if l.Flaw != "" {
		text += fmt.Sprintf("       needs correction: %s\n", l.Flaw)
	}
	return text
}

// List prints the active rules, highest precedence first, and marks ineffective ones.
func (c *Checker) List() error {
	b, err := c.bench("")
	if err != nil {
		return setup.Errorf("%v", err)
	}
	rules := listRules(b.Gate.Policy())
	if c.JSON {
		return c.PrintJSON(rules)
	}
	var text strings.Builder
	for _, l := range rules {
		text.WriteString(l.text())
	}
	if len(rules) == 0 {
		text.WriteString("No permission rules.\n")
	}
	return c.Page(text.String())
}

// Flaws prints rules that are invalid or can never take effect, and problems with the hooks. It
// fails with [ErrFailed] if there are any.
func (c *Checker) Flaws() error {
	b, err := c.bench("")
	if err != nil {
		return setup.Errorf("%v", err)
	}
	rules := slices.DeleteFunc(listRules(b.Gate.Policy()), func(l listedRule) bool { return l.ShadowedBy == "" && l.Flaw == "" })
	hooks := []string{}
	for _, p := range b.HookProblems {
		hooks = append(hooks, p.Error())
	}
	if c.JSON {
		err = c.PrintJSON(map[string]any{"rules": rules, "hooks": hooks})
	} else {
		var text strings.Builder
		for _, l := range rules {
			text.WriteString(l.text())
		}
		for _, h := range hooks {
			text.WriteString(h + "\n")
		}
		if text.Len() == 0 {
			text.WriteString("Every permission rule can take effect.\n")
		}
		err = c.Page(text.String())
	}
	if err == nil && len(rules)+len(hooks) > 0 {
		err = ErrFailed
	}
	return err
}

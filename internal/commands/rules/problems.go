package rules

import (
	"cmp"

	"adze/internal/commands"
	"adze/internal/permission"
	"adze/internal/permission/rule"
)

// Problems lists the permission rules that never take effect or differ from their apparent
// meaning.
func Problems(policy *permission.Policy) (lines []string) {
	var p commands.Page
	addProblems(&p, policy, func(rule.Rule) bool { return true })
	for _, b := range p.Blocks {
		lines = append(lines, string(b.(commands.Notice)))
	}
	return lines
}

// addProblems points out the rules selected by of that never take effect.
func addProblems(p *commands.Page, policy *permission.Policy, of func(rule.Rule) bool) {
	shadows := policy.Shadowed()
	for i, r := range policy.Rules() {
		if !of(r) {
			continue
		}
		if by, ok := shadows[i]; ok {
			p.Add(commands.Notice(string(r.Behavior) + " " + r.Text() + " never takes effect: " + string(by.Behavior) + " " + by.Text() + " comes first"))
		}
		if err := cmp.Or(r.Broken(), r.Flaw()); err != nil {
			p.Add(commands.Notice(string(r.Behavior) + " " + r.Text() + " needs correction: " + err.Error()))
		}
	}
}

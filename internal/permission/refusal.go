package permission

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// unattended is the reason for denying a call that needs approval.
const unattended = "no user is available to approve it"

// Advice to the model after a refusal.
const (
	noOtherWay = "Do not repeat it, and do not try to get the same effect another way"
	goOn       = noOtherWay + ": go on without it, and tell the user at the end what you could not do."
	tellUser   = noOtherWay + ". If the task depends on it, tell the user what you need and why."
	present    = "Finish the plan, and present it with ExitPlanMode."

	mayRead = "Commands that only read need no approval here."
	mayEdit = "Edit, Write and `sed -i` with file names need no approval in the working directories, nor do commands that only read."
	report  = "Tell the user at the end what you could not do"
)

// advice returns advice to the model after a refusal. Remedy is the flag that would allow the
// call, or empty. Only the first refusal of a turn gets advice; without turns, each one does.
func (g *Gate) advice(d *Decision, remedy string) string {
	if d.Reason.Mode == Plan {
		if !g.Asks() {
			return "Finish the plan, and end with it as your answer."
		}
		return present
	}
	g.mu.Lock()
	strict := !d.unasked || d.Firm || d.NeedsPerson
	advised := g.advised[strict]
	if g.advised != nil {
		g.advised[strict] = true
	}
	g.mu.Unlock()
	switch {
	case advised:
		return "Do not repeat it."
	case strict && (!g.Asks() || d.unasked):
		return goOn
	case strict:
		return tellUser
	}
	text := mayRead
	if g.Mode().AcceptsEdits() {
		text = mayEdit
	}
	if remedy != "" {
		return text + " " + report + "; they can allow it with " + remedy + "."
	}
	return text + " " + report + "."
}

// Reminders returns the reminders for the start of a turn.
func (g *Gate) Reminders() []string {
	g.mu.Lock()
	g.advised = map[bool]bool{}
	g.mu.Unlock()
	return g.State.Reminders()
}

// refusal returns the reason for the model, with the reason that nobody approved the call.
func (d *Decision) refusal() string {
	text := d.Reason.String()
	switch {
	case d.askError != nil:
		return fmt.Sprintf("%s; asking the user failed: %v", text, d.askError)
	case d.unasked && (d.Firm || d.NeedsPerson):
		return text + "; the user has to confirm it in an interactive session"
	case d.unasked:
		return text + "; " + unattended
	}
	return text
}

// unapproved returns the parts of a command that no rule allows. It omits read-only parts unless all are.
func (d *Decision) unapproved() []PartResult {
	var parts, reads []PartResult
	for _, p := range d.Parts {
		switch {
		case p.Behavior != Ask || !p.Reason.needsRule():
		case p.reads:
			reads = append(reads, p)
		default:
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return reads
	}
	return parts
}

// unapprovedReason returns the reason of the only unapproved part, or one that names all of them.
func (d *Decision) unapprovedReason() Reason {
	parts := d.unapproved()
	if len(parts) == 1 {
		return parts[0].Reason
	}
	why := Reason{Kind: Unapproved}
	for _, p := range parts {
		why.Parts = append(why.Parts, p.Text)
	}
	return why
}

// Limits on a list of parts in a text.
const (
	maxNamed     = 5
	maxNamedText = 80
)

// quoteAll lists parts of a command, each on one line in backquotes.
func quoteAll(parts []string) string {
	var named []string
	for _, p := range parts[:min(len(parts), maxNamed)] {
		named = append(named, "`"+tool.OneLine(p, maxNamedText)+"`")
	}
	if left := len(parts) - len(named); left > 0 {
		named = append(named, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(named, ", ")
}

// maxFlagged is the maximum number of rules in a flag.
const maxFlagged = 8

// allowFlags returns the flags that would have allowed a call, or "" if none would. Each rule
// is tried, and only needed ones are included.
func allowFlags(p *Policy, u *tool.Use, q *Question) string {
	if q.NeedsPerson || q.Firm {
		return ""
	}
	var rules []RuleValue
	for _, s := range q.Suggestions {
		if s.Type == AddRules && !s.Wider {
			rules = append(rules, s.Rules...)
		}
	}
	if len(rules) == 0 && tool.CommandOf(u.Call) == nil {
		rules = append(rules, RuleValue{Tool: q.Tool})
	}
	if len(rules) > maxFlagged {
		return ""
	}
	allows := func(m Mode, rules []RuleValue) bool {
		c := p.cfg.apply(Update{Type: AddRules, Behavior: Allow, Destination: scope.CLI, Rules: rules})
		c.Mode = m
		then := Compile(c)
		return Decide(then, factsOf(then, u)).Behavior == Allow
	}
	const accepting = "--permission-mode " + string(AcceptEdits)
	switch now := p.cfg.Mode; {
	case now == Default && allows(AcceptEdits, nil):
		return accepting
	case len(rules) > 0 && allows(now, rules):
		return allowedTools(rules, func(rules []RuleValue) bool { return allows(now, rules) })
	case len(rules) > 0 && now == Default && allows(AcceptEdits, rules):
		return accepting + " " + allowedTools(rules, func(rules []RuleValue) bool { return allows(AcceptEdits, rules) })
	}
	return ""
}

// allowedTools returns the flag with the rules that are needed.
func allowedTools(rules []RuleValue, allow func([]RuleValue) bool) string {
	for i := 0; i < len(rules); {
		if fewer := slices.Delete(slices.Clone(rules), i, i+1); len(fewer) > 0 && allow(fewer) {
			rules = fewer
		} else {
			i++
		}
	}
	flag := "--allowed-tools"
	for _, r := range rules {
		flag += " '" + strings.ReplaceAll(r.String(), "'", `'\''`) + "'"
	}
	return flag
}

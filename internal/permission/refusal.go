package permission

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// unattended is added when refusing a call that needs approval nobody can give.
const unattended = "and there is no user here to approve it"

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
	told := g.advised[strict]
	if g.advised != nil {
		g.advised[strict] = true
	}
	g.mu.Unlock()
	switch {
	case told:
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

// why returns the reason a call needs approval, with each part of a command that does. For a
// single part, it includes the doubt about it, such as a new repository.
func (d *Decision) why() string {
	parts := d.unapproved()
	if d.Reason.Type != ByOther || len(parts) == 0 {
		return trimDot(d.Reason.Text)
	}
	named := quoteAll(parts)
	if _, doubt, ok := strings.Cut(trimDot(d.Reason.Text), mayChange+": "); ok && len(parts) == 1 {
		named += ": " + doubt
	}
	return "this command " + mayChange + " (" + named + ")"
}

// mayChange describes a command not known to be read-only.
const mayChange = "may change files or run code"

// unapproved returns the parts of a command that no rule allows. It omits read-only parts unless all are.
func (d *Decision) unapproved() []string {
	var parts, reads []string
	for _, p := range d.Parts {
		switch {
		case p.Behavior != Ask || p.Reason.Type != ByOther:
		case p.reads:
			reads = append(reads, p.Text)
		default:
			parts = append(parts, p.Text)
		}
	}
	if len(parts) == 0 {
		return reads
	}
	return parts
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

// doubt adds the reason no judge answered to a question.
func (d *Decision) doubt(q *Question, note string) {
	if d.note = note; note != "" {
		q.Reason.Text = trimDot(q.Reason.Text) + "; " + note
		q.Why = ""
	}
}

// unanswered turns an unanswered ask into a refusal.
func (d *Decision) unanswered(q *Question) {
	text := d.why() + ", "
	if d.note != "" {
		text += d.note + ", "
	}
	text += unattended
	if q.Firm || q.NeedsPerson {
		text += ": it is asked about in every mode, so it takes a conversation in which the user can say yes"
	}
	d.Behavior, d.Reason.Text, d.unasked = Deny, text, true
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

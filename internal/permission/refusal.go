package permission

import (
	"fmt"
	"strings"

	"adze/internal/tool"
)

// unattended says that a call needs approval and that there is no one to give it.
const unattended = "and there is no user here to approve it"

// What the model is told to do about a refusal.
const (
	noOtherWay = "Do not repeat it, and do not try to get the same effect another way"
	goOn       = noOtherWay + ": go on without it, and tell the user at the end what you could not do"
	tellUser   = noOtherWay + ". If the task depends on it, tell the user what you need and why."
	present    = "Finish the plan, and present it with ExitPlanMode."
)

// advice returns what the model is told to do about a decision that refuses. Remedy is the flag that would allow the
// call, or empty.
func (g *Gate) advice(d *Decision, remedy string) string {
	switch {
	case d.Reason.Mode == Plan:
		if !g.Asks() {
			return "Finish the plan, and end with it as your answer."
		}
		return present
	case remedy != "":
		return goOn + "; they can allow it with " + remedy + "."
	case !g.Asks() || d.unasked:
		return goOn + "."
	}
	return tellUser
}

// why says why a call needs approval, with each part of a command that does. If it is one, the doubt about it is told,
// such as that a repository is new.
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

// mayChange is said of what is not known to only read.
const mayChange = "may change files or run code"

// unapproved returns the parts of a command that no rule allows.
func (d *Decision) unapproved() []string {
	var parts []string
	for _, p := range d.Parts {
		if p.Behavior == Ask && p.Reason.Type == ByOther {
			parts = append(parts, p.Text)
		}
	}
	return parts
}

// Bounds of a list of parts in a text.
const (
	maxNamed     = 5
	maxNamedText = 80
)

// quoteAll lists parts of a command, each on one line and in backquotes.
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

// doubt adds to a question why no judge has answered it.
func (d *Decision) doubt(q *Question, note string) {
	if d.note = note; note != "" {
		q.Reason.Text = trimDot(q.Reason.Text) + "; " + note
		q.Why = ""
	}
}

// unanswered turns an ask without an answer into a refusal.
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

// allowFlag returns the flag that would have allowed a call, or "" if none would.
func allowFlag(q *Question) string {
	if q.NeedsPerson || q.Firm {
		return ""
	}
	var rules []string
	for _, u := range q.Suggestions {
		for _, r := range u.Rules {
			if u.Type == AddRules {
				rules = append(rules, "'"+strings.ReplaceAll(r.String(), "'", `'\''`)+"'")
			}
		}
	}
	if len(rules) == 0 {
		rules = append(rules, "'"+q.Tool+"'")
	}
	return "--allowed-tools " + strings.Join(rules, " ")
}

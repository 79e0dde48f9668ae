package permission

import (
	"fmt"

	"adze/internal/permission/rule"
)

// A ReasonType classifies the source of a decision.
type ReasonType string

// The types of reasons. Their names are part of the protocol with hosts.
const (
	ByRule       ReasonType = "rule"
	ByMode       ReasonType = "mode"
	ByHook       ReasonType = "hook"
	BySafety     ReasonType = "safetyCheck"
	ByWorkingDir ReasonType = "workingDir"
	BySandbox    ReasonType = "sandboxOverride"
	ByParts      ReasonType = "subcommandResults"
	ByReadOnly   ReasonType = "readOnly"
	ByUser       ReasonType = "user"
	ByJudge      ReasonType = "classifier"
	ByOther      ReasonType = "other"
)

// A Reason explains a decision to programs and users.
type Reason struct {
	Type ReasonType
	Text string
	Rule *rule.Rule // set for ByRule
	Mode Mode       // set for ByMode
}

// String names the source of the decision.
func (r Reason) String() string {
	switch {
	case r.Rule != nil:
		return "rule " + r.Rule.Quoted()
	case r.Mode != "":
		return "mode " + string(r.Mode)
	}
	return string(r.Type)
}

// A Decision is the outcome for a call, with its reason.
type Decision struct {
	Behavior Behavior
	Reason   Reason
	// ReadOnly means that the call is known to change nothing.
	ReadOnly bool
	// Firm means that only the user may answer an ask: no mode, allow rule or classifier does.
	Firm        bool
	NeedsPerson bool
	// Judged means that the judge sees an ask first: the mode is [Auto].
	Judged      bool
	BlockedPath string
	Suggestions []Update
	// Parts and Paths hold the verdicts on each part of a command and on each path.
	Parts []PartResult
	Paths []PathResult

	unasked bool   // denied because prompts are not possible
	note    string // why no judge decided it; may be empty
	by      string // denier acting in the user's place; may be empty
}

// A PartResult is the verdict on one part of a command.
type PartResult struct {
	Text     string
	Behavior Behavior
	Reason   Reason

	reads bool // alone, it would run as a read-only command
}

// A PathResult is the verdict on one path.
type PathResult struct {
	Path     string // the path given
	Real     string // the resolved path; empty if unknown
	Write    bool
	Behavior Behavior
	Reason   Reason
}

// A finding is the outcome of one check. The zero value has no opinion.
type finding struct {
	behavior Behavior
	reason   Reason
	firm     bool
	path     string
	suggest  []Update
}

// weight orders findings: the heaviest one wins.
func (f finding) weight() int {
	switch {
	case f.behavior == Deny:
		return 4
	case f.behavior == Ask && f.firm:
		return 3
	case f.behavior == Ask:
		return 2
	case f.behavior == "":
		return 1
	}
	return 0
}

// stricter returns the stricter of two findings, or the first if they are equal.
func stricter(a, b finding) finding {
	if b.weight() > a.weight() {
		return b
	}
	return a
}

func ruled(r *rule.Rule, text string) Reason { return Reason{Type: ByRule, Text: text, Rule: r} }

func deniedBy(r *rule.Rule, what string) finding {
	text := fmt.Sprintf("the rule %s denies %s", r.Quoted(), what)
	if r.Broken() != nil {
		text = fmt.Sprintf("the rule %s cannot be read, so it denies %s until it is corrected", r.Quoted(), what)
	}
	return finding{behavior: Deny, reason: ruled(r, text)}
}

func askedBy(r *rule.Rule, what string) finding {
	text := fmt.Sprintf("the rule %s wants %s to be asked about", r.Quoted(), what)
	if r.Broken() != nil {
		text = fmt.Sprintf("the rule %s cannot be read, so %s is asked about until it is corrected", r.Quoted(), what)
	}
	return finding{behavior: Ask, reason: ruled(r, text), firm: true}
}

func allowedBy(r *rule.Rule) finding {
	return finding{behavior: Allow, reason: ruled(r, fmt.Sprintf("the rule %s allows it", r.Quoted()))}
}

func allowed(t ReasonType, text string) finding {
	return finding{behavior: Allow, reason: Reason{Type: t, Text: text}}
}

func asks(t ReasonType, format string, args ...any) finding {
	return finding{behavior: Ask, reason: Reason{Type: t, Text: fmt.Sprintf(format, args...)}}
}

// unsafe returns an ask that no mode and no allow rule answers.
func unsafe(format string, args ...any) finding {
	f := asks(BySafety, format, args...)
	f.firm = true
	return f
}

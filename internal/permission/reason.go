package permission

import (
	"strings"

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

// A Reason explains a decision to programs, users and models. The Kind determines which of the
// other fields are set.
type Reason struct {
	Kind  Kind
	Rule  *rule.Rule
	Mode  Mode
	What  string   // the path, host, tool or command concerned
	Write bool     // What is written, not read
	Parts []string // the parts of the command that no rule allows
	Text  string   // a message or detail from elsewhere
	Doubt error    // the reason something could not be verified
	Cause *Reason  // the reason for the prompt that the mode denies
	Note  string   // the reason the judge did not decide; may be empty
}

// Type returns the reason's type in the host protocol.
func (r Reason) Type() ReasonType { return wordings[r.Kind].by }

// Source names the source of the decision.
func (r Reason) Source() string {
	switch t := r.Type(); {
	case t == ByRule && r.Rule != nil:
		return "rule " + r.Rule.Quoted()
	case t == ByMode && r.Mode != "":
		return "mode " + string(r.Mode)
	default:
		return string(t)
	}
}

// String returns the reason as a clause for the user, without a final period.
func (r Reason) String() string {
	text := strings.NewReplacer(
		"{access}", r.access(), "{does}", r.does(), "{denial}", r.denial(), "{command}", r.command(), "{doubt}", r.doubt(),
		"{rule}", r.quoted(), "{mode}", string(r.Mode), "{what}", r.What, "{text}", strings.TrimRight(r.Text, "."),
	).Replace(wordings[r.Kind].text)
	if r.Kind == OutsideDirs && r.Rule != nil {
		text += ", where project rule " + r.Rule.Quoted() + " does not apply"
	}
	if (r.Kind == RuleProtects || r.Kind == RuleProtectsWithin || r.Kind == RuleDeniesWithin) && r.broken() {
		text += "; the rule can't be read, so it applies to every path until you correct it"
	}
	if r.Cause != nil {
		text = r.Cause.String() + "; " + text
	}
	if r.Note != "" {
		text += "; " + r.Note
	}
	return text
}

// Brief returns the reason for the question in a dialog.
func (r Reason) Brief() string {
	if r.Kind == TooComplex {
		r.Doubt = nil
	}
	return r.String()
}

func (r Reason) quoted() string {
	if r.Rule == nil {
		return ""
	}
	return r.Rule.Quoted()
}

// needsRule reports whether an allow rule for the part of a command could remove the reason.
func (r Reason) needsRule() bool { return r.Kind == Unapproved || r.Kind == UnknownPath }

// access returns the kind of access to a path: reading or writing.
func (r Reason) access() string {
	if r.Write {
		return "writing"
	}
	return "reading"
}

// does is like access, as a verb.
func (r Reason) does() string {
	if r.Write {
		return "writes"
	}
	return "reads"
}

// denial returns the effect of a rule on a path or call.
func (r Reason) denial() string {
	switch r.Kind {
	case RuleDenies, RuleDeniesPath:
		if r.broken() {
			return "can't be read, so until you correct it, it denies"
		}
		return "denies"
	}
	if r.broken() {
		return "can't be read, so until you correct it, it requires confirmation for"
	}
	return "requires confirmation for"
}

func (r Reason) broken() bool { return r.Rule != nil && r.Rule.Broken() != nil }

// command names a command, or the parts of it that no rule allows.
func (r Reason) command() string {
	if len(r.Parts) == 0 {
		return "this command"
	}
	return quoteAll(r.Parts)
}

// doubt returns the doubt as the end of a sentence.
func (r Reason) doubt() string {
	if r.Doubt == nil {
		return ""
	}
	switch r.Kind {
	case BadPath:
		return r.Doubt.Error()
	case Unapproved, TooComplex:
		return ", and " + r.Doubt.Error()
	}
	return ": " + r.Doubt.Error()
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

	unasked  bool   // denied because prompts are not possible
	askError error  // the reason the question could not be asked, or nil
	by       string // denier acting in the user's place; may be empty
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
	Path     string // the path given, as far as known
	Real     string // the resolved path; empty if unknown
	Unknown  string // describes the files if the path is known only when the command runs
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

func deny(r Reason) finding { return finding{behavior: Deny, reason: r} }

func ask(r Reason) finding { return finding{behavior: Ask, reason: r} }

func allow(r Reason) finding { return finding{behavior: Allow, reason: r} }

// confirm returns an ask that no mode and no allow rule answers.
func confirm(r Reason) finding { return finding{behavior: Ask, reason: r, firm: true} }

func allowedBy(r *rule.Rule) finding { return allow(Reason{Kind: RuleAllows, Rule: r}) }

// deniedBy and askedBy return the finding of a rule for a tool, host or command.
func deniedBy(r *rule.Rule, what string) finding {
	return deny(Reason{Kind: RuleDenies, Rule: r, What: what})
}

func askedBy(r *rule.Rule, what string) finding {
	return confirm(Reason{Kind: RuleAsks, Rule: r, What: what})
}

// deniedPath and askedPath return the finding of a rule for a path.
func deniedPath(r *rule.Rule, write bool, path string) finding {
	return deny(Reason{Kind: RuleDeniesPath, Rule: r, Write: write, What: path})
}

func askedPath(r *rule.Rule, write bool, path string) finding {
	return confirm(Reason{Kind: RuleAsksPath, Rule: r, Write: write, What: path})
}

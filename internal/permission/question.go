package permission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/tool"
)

// A Question is a call that the user or a host has to decide about, with everything a dialog shows.
type Question struct {
	ID                       string // of the use
	Tool, Title, DisplayName string
	// Command is what would be executed, whole: a title may be cut, and users must see what they
	// agree to. Empty for what executes nothing.
	Command  string
	Programs []string // that it runs, as far as is known
	// About is what the command does, and Consent what a yes does where it is more than to run the call, in the words of
	// the model or the tool; each may be empty.
	About, Consent string
	Server         string          // whose tool it is; empty for one of adze's own
	Input          json.RawMessage // as users and hosts see it, derived fields filled in
	Reason         Reason
	Why            string // the reason in a few words, for people; empty means Reason.Text
	BlockedPath    string
	Suggestions    []Update
	Preview        tool.Display // nil means none
	Draft          *Draft       // what the user may edit; nil means nothing
	// NeedsPerson says that no program may answer for the user.
	NeedsPerson bool
	// Firm says that no mode and no allow rule would have answered it.
	Firm bool
	Dir  string // the working directory
	// Agent is the sub-agent whose call it is; nil for one of the main conversation.
	Agent *Agent
	// Warning is a line to show with a call that is dangerous; empty means none.
	Warning string
}

// Lasting returns the changes that a lasting yes would make. A call with a warning has none: adze asks every time.
func (q *Question) Lasting() (list []Update) {
	if q.Warning != "" {
		return nil
	}
	for _, u := range q.Suggestions {
		if !u.Wider {
			list = append(list, u)
		}
	}
	return list
}

// A Draft is what the user may edit.
type Draft struct {
	tool.Draft
	// Preview returns the preview with another input, which the user has edited. It fails if the call would. Nil means that
	// there is none.
	Preview func(ctx context.Context, input json.RawMessage) (tool.Display, error)
}

// An Agent is a sub-agent that asks.
type Agent struct{ ID, Type, Title string }

// String names the agent to the user.
func (a *Agent) String() string { return a.Type + " (" + a.Title + ")" }

// An Answer is what the user or a host decided.
type Answer struct {
	Behavior  Behavior        // Allow or Deny; anything else counts as Deny
	Input     json.RawMessage // what to run instead; nil means what was asked about
	Updates   []Update        // with Allow: what to change for later calls
	Message   string          // with Deny: what to tell the model
	Interrupt bool            // the turn ends, with Allow after the call
	// By is who answered; empty means the user. [Headless] says that no question can be asked.
	By string
}

// Headless is who answers where no question can be asked: the refusal says how the call could have been allowed.
const Headless = "headless"

// An Asker puts a question to the user or a host and waits. When ctx is done the question is withdrawn. An error
// counts as a refusal.
type Asker func(ctx context.Context, q Question) (Answer, error)

var errNoAsker = errors.New("no one can be asked")

// question describes a use to the user or host that decides about it.
func question(ctx context.Context, p *Policy, u *tool.Use, f *Facts, d *Decision) Question {
	name := f.Name()
	q := Question{
		ID: u.ID, Tool: name,
		Title: tool.TitleOf(name, u.Call), DisplayName: tool.DisplayNameOf(name, u.Call),
		Input:  u.Input,
		Reason: d.Reason, BlockedPath: d.BlockedPath, Suggestions: d.Suggestions,
		NeedsPerson: d.NeedsPerson, Firm: d.Firm, Dir: p.cfg.Dir, Server: strings.TrimPrefix(f.Origin, "mcp:"),
	}
	if data, err := json.Marshal(tool.ObservedInput(u.Call)); err == nil {
		q.Input = data
	}
	if d := tool.DraftOf(u.Call); d != nil {
		q.Draft = &Draft{Draft: *d}
	}
	if c := tool.CommandOf(u.Call); c != nil {
		q.Command, q.Programs, q.About, q.Warning = c.Line, c.Programs(), c.About, c.Warning
		q.Why = d.brief(c)
	}
	if q.Warning == "" {
		q.Warning = secretWarning(p.cfg.Home, q.Command, d.Paths)
	}
	if c, ok := tool.As[tool.Consenter](u.Call); ok {
		q.Consent = c.Consent()
	}
	if pv, ok := tool.As[tool.Previewer](u.Call); ok && !d.refuses() {
		if shown, err := pv.Preview(ctx); err == nil {
			q.Preview = shown
		}
		if q.Draft != nil {
			q.Draft.Preview = amended(u.Call)
		}
	}
	return q
}

// amended returns what previews a call with another input, or nil if its input cannot be changed.
func amended(c tool.Call) func(context.Context, json.RawMessage) (tool.Display, error) {
	am, ok := tool.As[tool.Amender](c)
	if !ok {
		return nil
	}
	return func(ctx context.Context, input json.RawMessage) (tool.Display, error) {
		other, err := am.Amend(input)
		if err != nil {
			return nil, err
		}
		pv, ok := tool.As[tool.Previewer](other)
		if !ok {
			return nil, nil
		}
		return pv.Preview(ctx)
	}
}

// refuses reports whether looking at the target before consent is itself a risk.
func (d *Decision) refuses() bool {
	for _, p := range d.Paths {
		if p.Real == "" || p.Behavior == Deny {
			return true
		}
	}
	return false
}

// brief returns why a command needs an answer, in a few words, or "" if the reason itself is short.
func (d *Decision) brief(c *tool.Command) string {
	if d.Reason.Type != ByOther || c.Script == nil {
		return ""
	}
	if !c.Script.Simple {
		if c.Doubt == nil {
			return ""
		}
		return fmt.Sprintf("it is too complex for a rule (%s) and may change files", strings.TrimPrefix(c.Script.Problem, "it uses "))
	}
	parts := d.unapproved()
	if len(parts) == 0 || !strings.Contains(d.Reason.Text, mayChange) {
		return ""
	}
	if len(parts) > 1 {
		return "it " + mayChange
	}
	i := slices.IndexFunc(d.Parts, func(p PartResult) bool { return p.Text == parts[0] })
	_, doubt, _ := strings.Cut(trimDot(d.Parts[i].Reason.Text), mayChange+": ")
	text := "it " + mayChange
	if len(c.Script.Parts) > 1 {
		text = quoteAll(parts) + " " + mayChange
	}
	if doubt == "" || strings.Contains(doubt, "is not known to") {
		return text
	}
	return text + ": " + doubt
}

// secretWarning warns of a call that reads credentials: a file where they are kept, or a variable.
func secretWarning(home, command string, paths []PathResult) string {
	for _, p := range paths {
		if p.Write {
			continue
		}
		if name := sandbox.Secret(home, p.Path); name != "" {
			return "This reads credentials (~/" + name + ")."
		}
		if name := sandbox.Secret(home, p.Real); name != "" {
			return "This reads credentials (~/" + name + ")."
		}
	}
	for rest := command; ; {
		_, after, ok := strings.Cut(rest, "$")
		if !ok {
			return ""
		}
		rest = after
		after = strings.TrimPrefix(after, "{")
		n := 0
		for n < len(after) && (after[n] == '_' || after[n] >= '0' && after[n] <= '9' || after[n] >= 'A' && after[n] <= 'Z' || after[n] >= 'a' && after[n] <= 'z') {
			n++
		}
		if n > 0 && osproc.SecretName(after[:n]) {
			return "This uses a secret (" + after[:n] + ")."
		}
	}
}

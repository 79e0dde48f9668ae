package permission

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/tool"
)

// A Question is a call for the user or a host to decide, with everything a dialog shows.
type Question struct {
	ID                       string // tool-use ID
	Tool, Title, DisplayName string
	// Command is the full command to execute: a title may be truncated, and users must see
	// everything they agree to. It is empty if the call executes nothing.
	Command  string
	Programs []string // programs known to run
	// About describes the command, and Consent the effect of a yes if it does more than run the
	// call, as worded by the model or the tool. Either may be empty.
	About, Consent string
	Server         string          // the tool's server; empty for adze's own tools
	Input          json.RawMessage // the input shown to users and hosts, derived fields filled in
	Reason         Reason
	BlockedPath    string
	Suggestions    []Update
	Preview        tool.Display // nil means none
	Draft          *Draft       // the user-editable part; nil means none
	// NeedsPerson means that no program may answer for the user.
	NeedsPerson bool
	// Firm means that no mode and no allow rule would have answered it.
	Firm bool
	Dir  string // the working directory
	// Agent is the sub-agent making the call; nil for the main conversation.
	Agent *Agent
	// Warning is a line to show with a dangerous call; empty means none.
	Warning string
}

// Lasting returns the updates that an "always" answer would make. A call with a warning has
// none: adze asks every time.
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

// A Draft is the user-editable part of a question.
type Draft struct {
	tool.Draft
	// Preview returns the preview for an input edited by the user. It fails if the call would.
	// Nil means no preview.
	Preview func(ctx context.Context, input json.RawMessage) (tool.Display, error)
}

// An Agent identifies the sub-agent that asks.
type Agent struct{ ID, Type, Title string }

// String returns the agent's name for the user.
func (a *Agent) String() string { return a.Type + " (" + a.Title + ")" }

// An Answer is the decision of the user or a host.
type Answer struct {
	Behavior  Behavior        // Allow or Deny; anything else counts as Deny
	Input     json.RawMessage // replacement input; nil means unchanged
	Updates   []Update        // permission changes for later calls, with Allow
	Message   string          // message for the model, with Deny
	Interrupt bool            // end the turn; with Allow, after the call
	// By identifies the answerer; empty means the user. [Headless] means that prompts are not
	// possible.
	By string
}

// Headless is the answerer if prompts are not possible: the refusal explains how to allow the
// call.
const Headless = "headless"

// An Asker asks the user or a host and waits. When ctx is done the question is withdrawn. An
// error counts as a refusal.
type Asker func(ctx context.Context, q Question) (Answer, error)

var errNoAsker = errors.New("prompts are not possible")

// question describes a use to the user or host.
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

// amended returns a function that previews a call with another input, or nil if its input
// cannot be changed.
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

// refuses reports whether inspecting the target before consent is itself a risk.
func (d *Decision) refuses() bool {
	for _, p := range d.Paths {
		if p.Real == "" || p.Behavior == Deny {
			return true
		}
	}
	return false
}

// secretWarning returns a warning if a call reads credentials from a file or a variable.
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

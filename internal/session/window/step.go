package window

import (
	"encoding/json"
	"time"

	"adze/internal/agent/collapse"
	"adze/internal/agent/compact"
	"adze/internal/agent/snip"
	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// A Step leaves something out of what is sent; the history stays as it is. What it has left out once stays
// left out, so that requests go on beginning alike. It belongs to one conversation.
//
// A step may also have Drain() bool, which uses what it has prepared and reports whether there was anything,
// Force() int, which does with the next request what it would do later, and Close().
type Step interface {
	// Kind is the kind of the note that keeps the state of the step in the log.
	Kind() string
	// Apply returns the messages as they are sent. If the state of the step changed, from is the first of those
	// given that is sent otherwise from now on, and else [Unchanged].
	Apply(v View) (messages []msg.Message, from int)
	// Restart says that the conversation starts over, as seg. It reports whether the state changed.
	Restart(seg *compact.Segment) (changed bool)
	// State returns what a later process needs to send the same, as the fields of a note.
	State() map[string]any
	// Restore takes over a state. One that cannot be read is none: then everything is sent.
	Restore(state json.RawMessage)
}

// Unchanged says that a step sends what it sent before.
const Unchanged = -1

// A View is a conversation on its way to a request.
type View struct {
	// Messages alternate and begin with the user. The list belongs to the step, what it lists does not.
	Messages []msg.Message
	// Sent is the last request that was answered, as far as it tells of this conversation; nil if none does.
	Sent  *model.Request
	Gauge *tokens.Gauge
	// Limit is the size from which the conversation is summarised, in tokens, and TooLong reports whether a
	// request with these messages would be, unasked.
	Limit   int
	TooLong func(messages []msg.Message) bool
	// Usable is how many tokens a request may have, and Size returns how many one with these messages has.
	Usable int
	Size   func(messages []msg.Message) int
	// Bound says that a change costs the reasoning behind it; see [agent.Model].
	Bound bool
	// Idle is how long ago the model answered last.
	Idle time.Duration
	// Offered reports whether the model has a tool, and Clearable whether the old result of a call may be cleared.
	// Cleared is told which are; it may be nil.
	Offered   func(tool string) bool
	Clearable func(use *msg.ToolUse) bool
	Cleared   func(uses []*msg.ToolUse)
}

// The kinds of the notes that keep the states of steps.
const (
	ClearedKind = "cleared-output"     // under "keys" the old results that are cleared
	SnippedKind = "snipped-steps"      // under "steps" the steps that are cut out
	FoldedKind  = "conversation-folds" // under "folds" what stands for parts of the conversation
)

// Clear returns the step that clears old results of tools.
func Clear(m compact.Micro) Step { return &clearStep{compact.Clearer{Micro: m}} }

type clearStep struct{ compact.Clearer }

func (*clearStep) Kind() string { return ClearedKind }

func (c *clearStep) Apply(v View) ([]msg.Message, int) {
	c.Clearable = v.Clearable
	messages, done := c.Clear(v.Messages, compact.Need{
		Idle: v.Idle, Usable: v.Usable, Used: func() int { return v.Size(v.Messages) }, Bound: v.Bound,
	}, v.Gauge)
	if len(done.Uses) > 0 && v.Cleared != nil {
		v.Cleared(done.Uses)
	}
	if done.Freed == 0 {
		return messages, Unchanged
	}
	return messages, done.First
}

func (c *clearStep) Restart(seg *compact.Segment) bool {
	if len(c.Keys()) == 0 {
		return false
	}
	c.Clearer.Restart(seg)
	return true
}

func (c *clearStep) State() map[string]any {
	return map[string]any{"keys": append([]string{}, c.Keys()...)}
}

func (c *clearStep) Restore(state json.RawMessage) {
	var s struct{ Keys []string }
	json.Unmarshal(state, &s) // ok: see [Step]
	c.Clearer = compact.Clearer{Micro: c.Micro, Clearable: c.Clearable}
	c.Clearer.Restore(s.Keys)
}

// Snip returns the step that cuts out what the model has called stale with a tool. While the model does not
// have the tool, everything is sent.
func Snip(s *snip.Snipper, tool string) Step { return &snipStep{Snipper: s, tool: tool} }

type snipStep struct {
	*snip.Snipper
	tool string
	cut  []int
}

func (*snipStep) Kind() string { return SnippedKind }

func (s *snipStep) Apply(v View) ([]msg.Message, int) {
	if !v.Offered(s.tool) {
		return v.Messages, Unchanged
	}
	out := s.Snip(v.Messages, v.Gauge.Messages, snip.IfWorth)
	if !out.Executed {
		return out.Messages, Unchanged
	}
	s.cut = out.Boundary
	return out.Messages, out.First
}

func (s *snipStep) Restart(*compact.Segment) bool {
	s.cut = nil
	return s.Snipper.Restart()
}

func (s *snipStep) State() map[string]any { return map[string]any{"steps": append([]int{}, s.cut...)} }

func (s *snipStep) Restore(state json.RawMessage) {
	var kept struct{ Steps []int }
	json.Unmarshal(state, &kept) // ok: see [Step]
	s.cut = kept.Steps
	s.Snipper.Restore(kept.Steps)
}

// Fold returns the step that has parts of the conversation summarised in advance, and puts these folds in
// place of what they stand for when the conversation would have to be summarised otherwise.
func Fold(f *collapse.Folder) Step { return foldStep{f} }

type foldStep struct{ *collapse.Folder }

func (foldStep) Kind() string { return FoldedKind }

func (f foldStep) Apply(v View) (messages []msg.Message, from int) {
	messages, from = f.Project(v.Messages), Unchanged
	if v.TooLong(messages) && f.Drain() {
		messages, from = f.Project(v.Messages), 0
	}
	if from == Unchanged {
		f.Stage(collapse.Moment{Messages: v.Messages, Sent: v.Sent, Size: v.Gauge.Messages, Limit: v.Limit})
	}
	return messages, from
}

func (f foldStep) Restart(*compact.Segment) bool { return f.Folder.Restart() }

func (f foldStep) State() map[string]any {
	return map[string]any{"folds": append([]collapse.Fold{}, f.Committed()...)}
}

func (f foldStep) Restore(state json.RawMessage) {
	var kept struct{ Folds []collapse.Fold }
	json.Unmarshal(state, &kept) // ok: see [Step]
	f.Folder.Restore(kept.Folds)
}

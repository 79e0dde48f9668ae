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

// A Step omits parts of the conversation from requests; the history is unchanged. Omitted parts
// stay omitted, so that later requests have the same prefix. A Step belongs to one
// conversation.
//
// A step may also implement Drain() bool, which applies prepared changes and reports whether
// there were any; Force() int, which makes the next request apply pending changes early; and
// Close().
type Step interface {
	// Kind is the kind of the note that stores the state of the step in the log.
	Kind() string
	// Apply returns the messages to send. If the state of the step changed, from is the first
	// given message that is sent differently from now on, otherwise [Unchanged].
	Apply(v View) (messages []msg.Message, from int)
	// Restart is called when the conversation starts over with seg. It reports whether the
	// state changed.
	Restart(seg *compact.Segment) (changed bool)
	// State returns the state needed to send the same requests in a later process, as the
	// fields of a note.
	State() map[string]any
	// Restore restores a state. An unreadable state is ignored, and everything is sent.
	Restore(state json.RawMessage)
}

// Unchanged means that a step sends the same messages as before.
const Unchanged = -1

// A View is a conversation being prepared for a request.
type View struct {
	// Messages alternate and start with the user. The step owns the slice, but not its
	// elements.
	Messages []msg.Message
	// Sent is the last answered request if it belongs to this conversation, otherwise nil.
	Sent  *model.Request
	Gauge *tokens.Estimator
	// Limit is the size at which the conversation is summarized, in tokens. TooLong reports
	// whether a request with these messages would trigger automatic summarization.
	Limit   int
	TooLong func(messages []msg.Message) bool
	// Usable is the number of tokens a request may have. Size returns the size of a request
	// with these messages.
	Usable int
	Size   func(messages []msg.Message) int
	// Bound is true if a change invalidates the reasoning after it; see [agent.Model].
	Bound bool
	// Idle is the time since the model's last answer.
	Idle time.Duration
	// Offered reports whether the model has a tool, and Clearable whether the old result of a
	// call may be cleared. Cleared, if not nil, is called with the cleared calls.
	Offered   func(tool string) bool
	Clearable func(use *msg.ToolUse) bool
	Cleared   func(uses []*msg.ToolUse)
}

// The kinds of notes that store the states of steps.
const (
	ClearedKind = "cleared-output"     // "keys" lists the cleared results
	SnippedKind = "snipped-steps"      // "steps" lists the removed steps
	FoldedKind  = "conversation-folds" // "folds" lists the summaries of parts
)

// Clear returns a step that clears old tool results.
func Clear(m compact.ClearPolicy) Step { return &clearStep{compact.Clearer{Micro: m}} }

type clearStep struct{ compact.Clearer }

func (*clearStep) Kind() string { return ClearedKind }

func (c *clearStep) Apply(v View) ([]msg.Message, int) {
	c.Clearable = v.Clearable
	messages, done := c.Clear(v.Messages, compact.ClearConditions{
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

// Snip returns a step that removes messages marked as stale by the model with a tool. If the
// model does not have the tool, everything is sent.
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

// Fold returns a step that summarizes parts of the conversation in advance, and substitutes
// these folds when the conversation would otherwise have to be summarized.
func Fold(f *collapse.Folder) Step { return foldStep{f} }

type foldStep struct{ *collapse.Folder }

func (foldStep) Kind() string { return FoldedKind }

func (f foldStep) Apply(v View) (messages []msg.Message, from int) {
	messages, from = f.Project(v.Messages), Unchanged
	if v.TooLong(messages) && f.Drain() {
		messages, from = f.Project(v.Messages), 0
	}
	if from == Unchanged {
		f.Stage(collapse.Snapshot{Messages: v.Messages, Sent: v.Sent, Size: v.Gauge.Messages, Limit: v.Limit})
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

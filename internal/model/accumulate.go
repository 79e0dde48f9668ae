package model

import (
	"adze/internal/msg"
)

// An Accumulator folds the events of one response into the message they spell. The zero value is
// ready for use.
type Accumulator struct {
	start Start
	parts []msg.Part
	usage msg.Usage
	stop  StopReason
	done  bool

	// The block being typed, of which at most a text can be worth keeping.
	open     bool
	openText []byte
}

// Add folds e in.
func (a *Accumulator) Add(e Event) {
	switch e := e.(type) {
	case Start:
		a.start = e
	case TextDelta:
		a.open = true
		a.openText = append(a.openText, e.Text...)
	case ThinkingDelta, InputDelta:
		a.open = true
	case BlockDone:
		a.open, a.openText = false, a.openText[:0]
		a.parts = append(a.parts, e.Part)
	case Usage:
		a.usage = e.Usage
	case Stop:
		a.stop, a.done = e.Reason, true
	}
}

// Started returns the opening event, or its zero value.
func (a *Accumulator) Started() Start { return a.start }

// Usage returns the usage reported last.
func (a *Accumulator) Usage() msg.Usage { return a.usage }

// Stop returns why the response ended, and whether it has.
func (a *Accumulator) Stop() (StopReason, bool) { return a.stop, a.done }

// Message returns the complete blocks as an assistant message. Empty text is left out.
func (a *Accumulator) Message() msg.Message {
	m := msg.Message{Role: msg.Assistant}
	for _, p := range a.parts {
		if t, ok := p.(*msg.Text); ok && t.Text == "" {
			continue
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// Partial is like Message but also keeps the text of a block that was cut off. Thinking and tool
// input that were cut off are lost: the one has no signature, the other no meaning.
func (a *Accumulator) Partial() msg.Message {
	m := a.Message()
	if a.open && len(a.openText) > 0 {
		m.Parts = append(m.Parts, &msg.Text{Text: string(a.openText)})
	}
	return m
}

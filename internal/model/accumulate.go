package model

import (
	"adze/internal/msg"
)

// An Accumulator assembles the events of one response into a message. The zero value is ready
// for use.
type Accumulator struct {
	start Start
	parts []msg.Part
	usage msg.Usage
	stop  StopReason
	done  bool

	// The open block. Only an unfinished text is worth keeping.
	open     bool
	openText []byte
}

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

// Started returns the start event, or its zero value.
func (a *Accumulator) Started() Start { return a.start }

// Usage returns the last reported usage.
func (a *Accumulator) Usage() msg.Usage { return a.usage }

// Stop returns the stop reason and whether the response has ended.
func (a *Accumulator) Stop() (StopReason, bool) { return a.stop, a.done }

// Message returns the complete blocks as an assistant message, without empty texts.
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

// Partial is like Message but also keeps the text of an unfinished block. Unfinished thinking
// and tool input are dropped: thinking has no signature yet, and partial input is meaningless.
func (a *Accumulator) Partial() msg.Message {
	m := a.Message()
	if a.open && len(a.openText) > 0 {
		m.Parts = append(m.Parts, &msg.Text{Text: string(a.openText)})
	}
	return m
}

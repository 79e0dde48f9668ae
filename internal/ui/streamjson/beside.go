package streamjson

import (
	"sync/atomic"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session"
)

// Beside prints what a sub-agent says and is told, as part of the call that launched it, and which of its calls were
// denied. What no call has launched is not printed: clients would take it for the conversation's own.
func (p *Printer) Beside(b session.Beside) {
	if b.Use == "" {
		return
	}
	switch ev := b.Event.(type) {
	case agent.Appended:
		ev.Entry.Message.Parts = p.wanted(ev.Entry.Message.Parts)
		switch e := ev.Entry; {
		case e.Message.Role == msg.Assistant:
			p.answer(e, e.Usage, &b)
		case !e.Hidden:
			p.said(e, &b)
		}
	case agent.ToolDone:
		if ev.Denied {
			p.denied(ev, b.ID)
		}
	}
}

// A filter says what is printed of what sub-agents say. It is safe for concurrent use.
type filter struct{ calls atomic.Bool }

// OnlyCalls says whether only the calls of sub-agents and their results are printed, and nothing else of what they say.
func (f *filter) OnlyCalls(on bool) { f.calls.Store(on) }

// wanted returns those of the parts that are printed.
func (f *filter) wanted(parts []msg.Part) (kept []msg.Part) {
	if !f.calls.Load() {
		return parts
	}
	for _, part := range parts {
		switch part.(type) {
		case *msg.ToolUse, *msg.ToolResult:
			kept = append(kept, part)
		}
	}
	return kept
}

// from adds which call a message belongs to, and the sub-agent whose it is; nil stands for the conversation itself.
func from(o *Object, by *session.Beside) {
	if by == nil {
		o.Null("parent_tool_use_id")
		return
	}
	o.Str("parent_tool_use_id", by.Use)
	o.Str("agent_id", by.ID)
	o.StrIf("subagent_type", by.Type)
	o.StrIf("task_description", by.Title)
}

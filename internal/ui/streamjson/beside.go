package streamjson

import (
	"sync/atomic"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session"
)

// Beside prints a sub-agent's messages as part of the call that launched it, and its denied
// calls. Messages of sub-agents without such a call are not printed: clients would attribute
// them to the main conversation.
func (p *Printer) Beside(b session.SubagentEvent) {
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

// A filter selects the sub-agent messages to print. It is safe for concurrent use.
type filter struct{ calls atomic.Bool }

// OnlyCalls sets whether only calls and results of sub-agents are printed.
func (f *filter) OnlyCalls(on bool) { f.calls.Store(on) }

// wanted returns the parts to print.
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

// addSender adds the call a message belongs to and its sub-agent; nil means the main conversation.
func addSender(o *Object, by *session.SubagentEvent) {
	if by == nil {
		o.Null("parent_tool_use_id")
		return
	}
	o.Str("parent_tool_use_id", by.Use)
	o.Str("agent_id", by.ID)
	o.StrIf("subagent_type", by.Type)
	o.StrIf("task_description", by.Title)
}

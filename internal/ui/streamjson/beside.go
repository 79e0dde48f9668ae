package streamjson

import (
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
		if p.calls.Load() {
			ev.Entry.Message.Parts = calls(ev.Entry.Message.Parts)
		}
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

// OnlyCalls says whether only the calls of sub-agents and their results are printed, and nothing else of what they say.
func (p *Printer) OnlyCalls(on bool) { p.calls.Store(on) }

// calls returns the calls and results among parts.
func calls(parts []msg.Part) (kept []msg.Part) {
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

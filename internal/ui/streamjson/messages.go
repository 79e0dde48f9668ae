package streamjson

import (
	"errors"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

// appended prints a history entry: an answer part by part, tool results one by one.
func (p *Printer) appended(e msg.Entry) {
	switch {
	case e.Message.Role == msg.Assistant:
		usage := e.Usage
		if e.ResponseID == p.message && p.usage != nil {
			usage = p.usage // clients expect the usage reported when the message began
		}
		p.answer(e, usage, nil)
	case e.ID == p.started.Prompt:
		if p.cfg.Replay {
			p.replay(e)
		}
	case !e.Hidden:
		p.said(e, nil)
	}
}

// replay prints a stored prompt under the ID that the client gave it.
func (p *Printer) replay(e msg.Entry) {
	o := &Object{}
	o.Str("type", "user")
	o.Object("message", func(o *Object) {
		o.Str("role", "user")
		o.Parts("content", e.Message.Parts...)
	})
	o.Null("parent_tool_use_id")
	o.Bool("isReplay", true)
	o.Str("timestamp", e.Time.UTC().Format(timeForm))
	p.emitAs(o, e.ID)
}

// answer prints an answer; by is the sub-agent that gave it, or nil.
func (p *Printer) answer(e msg.Entry, usage *msg.Usage, by *session.SubagentEvent) {
	for i, part := range e.Message.Parts {
		if use, ok := part.(*msg.ToolUse); ok && p.cfg.Seen != nil {
			part = p.cfg.Seen(use)
		}
		o := &Object{}
		o.Str("type", "assistant")
		o.Object("message", func(o *Object) {
			o.Str("id", e.ResponseID)
			o.Str("type", "message")
			o.Str("role", "assistant")
			o.Str("model", e.Model)
			o.Parts("content", part)
			o.Null("stop_reason")
			o.Null("stop_sequence")
			if usage != nil {
				o.Object("usage", func(o *Object) { appendUsage(o, *usage) })
			}
		})
		addSender(o, by)
		if e.RequestID != "" {
			o.Str("request_id", e.RequestID)
		}
		if e.Aborted {
			o.Bool("aborted", true)
		}
		o.Str("timestamp", e.Time.UTC().Format(timeForm))
		p.emitAs(o, lineID(e, i, len(e.Message.Parts)))
	}
}

// said prints a user message: each tool result on its own line, then the rest. To is the
// receiving sub-agent, or nil.
func (p *Printer) said(e msg.Entry, to *session.SubagentEvent) {
	var lines [][]msg.Part
	var rest []msg.Part
	for _, part := range e.Message.Parts {
		if _, ok := part.(*msg.ToolResult); ok {
			lines = append(lines, []msg.Part{part})
		} else {
			rest = append(rest, part)
		}
	}
	if len(rest) > 0 {
		lines = append(lines, rest)
	}
	for i, parts := range lines {
		o := &Object{}
		o.Str("type", "user")
		o.Object("message", func(o *Object) {
			o.Str("role", "user")
			o.Parts("content", parts...)
		})
		addSender(o, to)
		if r, ok := parts[0].(*msg.ToolResult); ok {
			toolUseResult(o, e, r)
		}
		o.Str("timestamp", e.Time.UTC().Format(timeForm))
		p.emitAs(o, lineID(e, i, len(lines)))
	}
}

// toolUseResult adds a call's structured result, or its text if it has none.
func toolUseResult(o *Object, e msg.Entry, r *msg.ToolResult) {
	switch value, ok := e.Structured[r.ID]; {
	case ok:
		o.Raw("tool_use_result", value)
	case r.IsError:
		o.Str("tool_use_result", "Error: "+msg.PlainText(r.Parts))
	default:
		o.Str("tool_use_result", msg.PlainText(r.Parts))
	}
}

// lineID returns the ID of the i-th of n lines for e. The last line has the entry's ID, so that
// the last line a client received identifies the entry.
func lineID(e msg.Entry, i, n int) string {
	if i == n-1 {
		return e.ID
	}
	return msg.NewID()
}

// failed prints the error that ended the turn.
func (p *Printer) failed(err error) {
	o := synthetic(p.cfg.Explain(err))
	o.Str("error", errorName(err))
	p.emit(o)
}

// synthetic returns an assistant message that no model wrote, for clients to show.
func synthetic(text string) *Object {
	o := &Object{}
	o.Str("type", "assistant")
	o.Object("message", func(o *Object) {
		o.Str("id", msg.NewID())
		o.Str("type", "message")
		o.Str("role", "assistant")
		o.Str("model", "<synthetic>")
		o.Parts("content", &msg.Text{Text: text})
		o.Null("stop_reason")
		o.Null("stop_sequence")
		o.Object("usage", func(o *Object) { appendUsage(o, msg.Usage{}) })
	})
	o.Null("parent_tool_use_id")
	return o
}

// errorName returns the protocol name for the kind of err.
func errorName(err error) string {
	switch model.KindOf(err) {
	case model.Auth:
		return "authentication_failed"
	case model.Quota:
		return "billing_error"
	case model.RateLimited:
		return "rate_limit"
	case model.Overloaded:
		return "overloaded"
	case model.NoModel:
		return "model_not_found"
	case model.ServerFault, model.Network, model.TLS, model.Broken:
		return "server_error"
	case model.TooLong, model.OverWindow, model.MediaTooLarge, model.BadSignature, model.Refused, model.Invalid, model.NoTools:
		return "invalid_request"
	}
	return "unknown"
}

func httpStatus(err error) int {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

package headless

import (
	"errors"

	"adze/internal/model"
	"adze/internal/msg"
)

// appended prints an entry of the history: an answer block by block, results one by one.
func (p *streamPrinter) appended(e msg.Entry) {
	switch {
	case e.Message.Role == msg.Assistant:
		p.answer(e)
	case e.ID == p.started.Prompt:
		if p.f.cfg.Replay {
			p.replay(e)
		}
	case !e.Hidden:
		p.said(e)
	}
}

// replay tells the host that what it said is stored, under the id that it gave.
func (p *streamPrinter) replay(e msg.Entry) {
	o := &object{}
	o.str("type", "user")
	o.object("message", func(o *object) {
		o.str("role", "user")
		o.parts("content", e.Message.Parts...)
	})
	o.null("parent_tool_use_id")
	o.bool("isReplay", true)
	o.str("timestamp", e.Time.UTC().Format(timeForm))
	p.f.emitAs(o, e.ID)
}

func (p *streamPrinter) answer(e msg.Entry) {
	usage := e.Usage
	if e.ResponseID == p.message && p.usage != nil {
		usage = p.usage // as clients know it: what was reported when the message began
	}
	for i, part := range e.Message.Parts {
		o := &object{}
		o.str("type", "assistant")
		o.object("message", func(o *object) {
			o.str("id", e.ResponseID)
			o.str("type", "message")
			o.str("role", "assistant")
			o.str("model", e.Model)
			o.parts("content", part)
			o.null("stop_reason")
			o.null("stop_sequence")
			if usage != nil {
				o.object("usage", func(o *object) { appendUsage(o, *usage) })
			}
		})
		o.null("parent_tool_use_id")
		if e.RequestID != "" {
			o.str("request_id", e.RequestID)
		}
		if e.Aborted {
			o.bool("aborted", true)
		}
		o.str("timestamp", e.Time.UTC().Format(timeForm))
		p.f.emitAs(o, lineID(e, i, len(e.Message.Parts)))
	}
}

// said prints a message of the user's side: each result on its own, then what else was said.
func (p *streamPrinter) said(e msg.Entry) {
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
		o := &object{}
		o.str("type", "user")
		o.object("message", func(o *object) {
			o.str("role", "user")
			o.parts("content", parts...)
		})
		o.null("parent_tool_use_id")
		if r, ok := parts[0].(*msg.ToolResult); ok {
			toolUseResult(o, e, r)
		}
		o.str("timestamp", e.Time.UTC().Format(timeForm))
		p.f.emitAs(o, lineID(e, i, len(lines)))
	}
}

// toolUseResult adds what a host gets beside the text of a result.
func toolUseResult(o *object, e msg.Entry, r *msg.ToolResult) {
	switch value, ok := e.Structured[r.ID]; {
	case ok:
		o.raw("tool_use_result", value)
	case r.IsError:
		o.str("tool_use_result", "Error: "+msg.PlainText(r.Parts))
	default:
		o.str("tool_use_result", msg.PlainText(r.Parts))
	}
}

// lineID returns the id of line i of n that e is printed as. The last one has the entry's own: a host
// that names the last line it saw names the entry.
func lineID(e msg.Entry, i, n int) string {
	if i == n-1 {
		return e.ID
	}
	return msg.NewID()
}

// failed prints the error that ended the turn.
func (p *streamPrinter) failed(err error) {
	o := synthetic(p.f.explain(err))
	o.str("error", errorName(err))
	p.f.emit(o)
}

// synthetic returns a message that no model wrote, which hosts show.
func synthetic(text string) *object {
	o := &object{}
	o.str("type", "assistant")
	o.object("message", func(o *object) {
		o.str("id", msg.NewID())
		o.str("type", "message")
		o.str("role", "assistant")
		o.str("model", "<synthetic>")
		o.parts("content", &msg.Text{Text: text})
		o.null("stop_reason")
		o.null("stop_sequence")
		o.object("usage", func(o *object) { appendUsage(o, msg.Usage{}) })
	})
	o.null("parent_tool_use_id")
	return o
}

// errorName returns the name that hosts know for the kind of err.
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
	case model.TooLong, model.OverWindow, model.MediaTooLarge, model.BadSignature, model.Refused, model.Invalid:
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

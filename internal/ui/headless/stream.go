package headless

import (
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

// A streamPrinter prints every message as a line of JSON when it is in the history.
type streamPrinter struct {
	f *Front

	started   session.Started
	message   string // id of the response that arrives
	usage     *msg.Usage
	requested time.Time
	first     bool // the first event of a response is awaited
	running   running
}

// timeForm is RFC 3339 with milliseconds, in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// emit writes o as a line, with the identity that every line has.
func (f *Front) emit(o *object) { f.emitAs(o, msg.NewID()) }

func (f *Front) emitAs(o *object, id string) {
	o.str("session_id", f.cfg.Session.ID())
	o.str("uuid", id)
	f.out.write(append(o.bytes(), '\n'))
}

func system(subtype string) *object {
	o := &object{}
	o.str("type", "system")
	o.str("subtype", subtype)
	return o
}

func (p *streamPrinter) begin(s session.Started) {
	if p.started = s; s.Note && !s.Chore {
		return
	}
	info := p.f.cfg.Info()
	o := system("init")
	o.str("cwd", info.Dir)
	var tools []string
	for _, spec := range p.f.cfg.Session.ToolSpecs() {
		tools = append(tools, spec.Name)
	}
	o.strs("tools", tools)
	var names []string
	for _, c := range p.f.commands() {
		names = append(names, c.Name)
	}
	o.strs("mcp_servers", nil)
	o.str("model", info.Model)
	o.str("permissionMode", info.Mode)
	o.strs("slash_commands", names)
	o.str("apiKeySource", info.KeySource)
	// The field's name is the protocol's; its value says whose version it is.
	o.str("claude_code_version", info.Version)
	o.str("output_style", "default")
	o.strs("agents", nil)
	o.strs("skills", nil)
	o.strs("plugins", nil)
	o.strs("capabilities", []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1"})
	p.f.emit(o)
	if p.f.host != nil {
		p.f.host.state(true)
	}
}

func (p *streamPrinter) end(r *result) {
	p.running.clear()
	if r.Local != nil && r.Local.Err == nil && r.Local.Text != "" {
		p.f.emit(synthetic(r.Local.Text))
	}
	if !r.note {
		p.f.emit(r.record())
	}
}

// changed tells of another permission mode. The model is in the next init.
func (p *streamPrinter) changed(c session.Changed) {
	if c.Mode == "" {
		return
	}
	o := system("status")
	o.null("status")
	o.str("permissionMode", c.Mode)
	p.f.emit(o)
}

func (p *streamPrinter) event(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Requesting:
		p.requesting()
	case agent.Delta:
		p.delta(ev.Event)
	case agent.Withdrawn:
		p.withdrawn()
	case agent.Appended:
		p.appended(ev.Entry)
	case agent.ToolStarted:
		p.running.add(ev.Use, p.f.cfg.Now())
	case agent.ToolDone:
		p.running.remove(ev.Use.ID)
		if ev.Denied {
			p.denied(ev)
		}
	case agent.Retrying:
		p.retrying(ev.Retrying)
	case agent.Notice:
		o := system("informational")
		o.str("content", ev.Text)
		o.str("level", level(ev))
		p.f.emit(o)
	case agent.Compacted:
		o := system("compact_boundary")
		trigger := "auto"
		if ev.Manual {
			trigger = "manual"
		}
		o.object("compact_metadata", func(o *object) {
			o.str("trigger", trigger)
			o.int("pre_tokens", int64(ev.Before))
			o.int("post_tokens", int64(ev.After))
		})
		p.f.emit(o)
	case agent.Failed:
		p.failed(ev.Err)
	}
}

func level(n agent.Notice) string {
	if n.Warning {
		return "warning"
	}
	return "info"
}

func (p *streamPrinter) requesting() {
	p.requested, p.first = p.f.cfg.Now(), true
	if p.f.cfg.Partial {
		o := system("status")
		o.str("status", "requesting")
		p.f.emit(o)
	}
}

func (p *streamPrinter) delta(ev model.Event) {
	switch ev := ev.(type) {
	case model.Start:
		p.message, p.usage = ev.ID, nil
	case model.Usage:
		if p.usage == nil {
			p.usage = &ev.Usage
		}
	case model.Raw:
		if !p.f.cfg.Partial {
			return
		}
		o := &object{}
		o.str("type", "stream_event")
		o.raw("event", ev.JSON)
		o.null("parent_tool_use_id")
		if p.first {
			o.int("ttft_ms", p.f.cfg.Now().Sub(p.requested).Milliseconds())
			p.first = false
		}
		p.f.emit(o)
	}
}

// withdrawn voids the events of a response that broke off. Without them there is nothing to void.
func (p *streamPrinter) withdrawn() {
	p.running.clear()
	if !p.f.cfg.Partial {
		return
	}
	o := system("tombstone")
	o.strOrNull("message_id", p.message)
	p.f.emit(o)
}

func (p *streamPrinter) denied(ev agent.ToolDone) {
	o := system("permission_denied")
	o.str("tool_name", ev.Use.Name)
	o.str("tool_use_id", ev.Use.ID)
	o.str("message", msg.PlainText(ev.Result.Parts))
	p.f.emit(o)
}

func (p *streamPrinter) retrying(r model.Retrying) {
	o := system("api_retry")
	o.int("attempt", int64(r.Attempt))
	o.int("max_retries", int64(r.Max))
	o.int("retry_delay_ms", r.After.Milliseconds())
	if status := httpStatus(r.Err); status != 0 {
		o.int("error_status", int64(status))
	} else {
		o.null("error_status")
	}
	o.str("error", errorName(r.Err))
	p.f.emit(o)
}

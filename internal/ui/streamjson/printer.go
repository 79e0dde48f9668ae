// Package streamjson encodes a session's turns as JSON lines: one for each message, event and
// result. It maps session events to the names that clients of the format expect.
package streamjson

import (
	"cmp"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
)

// Config configures a [Printer]. Only Hooks, Partial, Replay and Seen may be zero.
type Config struct {
	Out *Writer
	// SessionID returns the ID that every line carries.
	SessionID func() string
	// Info describes the session at the start of a turn.
	Info func() Info
	// Explain returns a user-facing explanation of an error.
	Explain func(error) string
	Now     func() time.Time
	// Partial adds the provider's own events, Replay the prompts when they are stored, and
	// Hooks all hook runs.
	Partial, Replay, Hooks bool
	// Seen returns a call as hosts should see it: a call of the actual tool, however the model
	// reached it. If nil, calls are printed as the model wrote them.
	Seen func(*msg.ToolUse) *msg.ToolUse
}

// An Agent is an agent type that can be launched.
type Agent struct {
	Name, Description string
	Model             string // empty means the current model
}

// An Info describes a session.
type Info struct {
	Dir, Model, Mode, KeySource, Version string
	Style                                string // output style; empty means the default
	Skills                               []string
	Agents                               []Agent
	// Tools and Commands are the names of the callable tools and of the commands.
	Tools, Commands []string
	// Servers are the MCP servers.
	Servers []Server
	// Plugins are the enabled plugins, and PluginErrors explain why others are not.
	Plugins      []Plugin
	PluginErrors []string
	// LeftOut lists the parts of the workspace that are not used, and why.
	LeftOut []string
}

// A Server is an MCP server: its configured name, its state, and who configured it.
type Server struct{ Name, Status, Source string }

// A Plugin is an enabled plugin: its name, its folder, and NAME@MARKETPLACE.
type Plugin struct{ Name, Path, Source string }

// A Printer prints each message as a line once it is in the history. Begin, Event, Beside,
// Task, End and Changed must be called from one goroutine; OnlyCalls, Watch and the methods of
// [hook.Observer] may be called concurrently.
type Printer struct {
	cfg Config

	started   session.Started
	message   string // ID of the incoming response
	usage     *msg.Usage
	requested time.Time
	first     bool // no event of the response has arrived yet
	running   openCalls

	compacting bool // a summary is being written

	taskPrinter
	filter
}

// New returns a Printer.
func New(cfg Config) *Printer {
	p := &Printer{cfg: cfg}
	p.taskPrinter = taskPrinter{emit: p.emit, now: cfg.Now}
	return p
}

// timeForm is RFC 3339 with milliseconds, in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// emit writes o with an ID of its own.
func (p *Printer) emit(o *Object) { p.emitAs(o, msg.NewID()) }

func (p *Printer) emitAs(o *Object, id string) { p.cfg.Out.Write(o.Identified(p.cfg.SessionID(), id)) }

func agentNames(agents []Agent) (names []string) {
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// Begin prints the start of a turn. A note, which needs no answer, has no such line.
func (p *Printer) Begin(s session.Started) {
	if p.started = s; s.Note && !s.Chore {
		return
	}
	info := p.cfg.Info()
	o := System("init")
	o.Str("cwd", info.Dir)
	o.Strs("tools", info.Tools)
	o.List("mcp_servers", len(info.Servers), func(i int, item *Object) {
		item.Str("name", info.Servers[i].Name)
		item.Str("status", info.Servers[i].Status)
		item.Str("source", info.Servers[i].Source)
	})
	o.Str("model", info.Model)
	o.Str("permissionMode", info.Mode)
	o.Strs("slash_commands", info.Commands)
	o.Str("apiKeySource", info.KeySource)
	// The field name is part of the protocol; the value is adze's version.
	o.Str("claude_code_version", info.Version)
	o.Str("output_style", cmp.Or(info.Style, "default"))
	o.Strs("agents", agentNames(info.Agents))
	o.Strs("skills", info.Skills)
	o.List("plugins", len(info.Plugins), func(i int, item *Object) {
		item.Str("name", info.Plugins[i].Name)
		item.Str("path", info.Plugins[i].Path)
		item.Str("source", info.Plugins[i].Source)
	})
	if len(info.PluginErrors) > 0 {
		o.List("plugin_errors", len(info.PluginErrors), func(i int, item *Object) {
			item.Str("type", "generic-error")
			item.Str("message", info.PluginErrors[i])
		})
	}
	if len(info.LeftOut) > 0 {
		o.Strs("left_out", info.LeftOut)
	}
	o.Strs("capabilities", []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1"})
	p.emit(o)
}

// End prints the result of a turn.
func (p *Printer) End(r *Result) {
	p.running.clear()
	p.compacted()
	if (r.Chore || r.Local != nil && r.Local.Err == nil) && r.Text() != "" {
		p.emit(synthetic(r.Text()))
	}
	if !r.Note {
		r.Prompt = p.started.Prompt
		p.emit(r.record())
	}
}

// Changed prints a permission mode change. A model change is in the next init line.
func (p *Printer) Changed(c session.Changed) {
	if c.Mode == "" {
		return
	}
	o := System("status")
	o.Null("status")
	o.Str("permissionMode", c.Mode)
	p.emit(o)
}

// Event prints an event of a turn.
func (p *Printer) Event(ev agent.Event) {
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
		p.running.add(ev.Use, p.cfg.Now())
	case agent.ToolDone:
		p.running.remove(ev.Use.ID)
		if ev.Denied {
			p.denied(ev, "")
		}
	case agent.Labelled:
		o := &Object{}
		o.Str("type", "tool_use_summary")
		o.Str("summary", ev.Text)
		o.Strs("preceding_tool_use_ids", ev.IDs)
		p.emit(o)
	case agent.Retrying:
		p.retrying(ev.Retrying)
	case agent.Notice:
		if ev.Compacting {
			p.compacting = true
			p.status("compacting")
			return
		}
		o := System("informational")
		o.Str("content", ev.Text)
		o.Str("level", level(ev))
		p.emit(o)
	case agent.Compacted:
		p.compacted()
		o := System("compact_boundary")
		trigger := "auto"
		if ev.Manual {
			trigger = "manual"
		}
		o.Object("compact_metadata", func(o *Object) {
			o.Str("trigger", trigger)
			o.Int("pre_tokens", int64(ev.Before))
			o.Int("post_tokens", int64(ev.After))
		})
		p.emit(o)
	case agent.Failed:
		p.failed(ev.Err)
	}
}

// status prints the session's activity; empty means none in particular.
func (p *Printer) status(doing string) {
	o := System("status")
	o.StrOrNull("status", doing)
	p.emit(o)
}

// compacted prints that compaction has ended, if it was active.
func (p *Printer) compacted() {
	if p.compacting {
		p.compacting = false
		p.status("")
	}
}

func level(n agent.Notice) string {
	if n.Warning {
		return "warning"
	}
	return "info"
}

func (p *Printer) requesting() {
	p.requested, p.first = p.cfg.Now(), true
	if p.cfg.Partial {
		p.status("requesting")
	}
}

func (p *Printer) delta(ev model.Event) {
	switch ev := ev.(type) {
	case model.Start:
		p.message, p.usage = ev.ID, nil
	case model.Usage:
		if p.usage == nil {
			p.usage = &ev.Usage
		}
	case model.Raw:
		if !p.cfg.Partial {
			return
		}
		o := &Object{}
		o.Str("type", "stream_event")
		o.Raw("event", ev.JSON)
		o.Null("parent_tool_use_id")
		if p.first {
			o.Int("ttft_ms", p.cfg.Now().Sub(p.requested).Milliseconds())
			p.first = false
		}
		p.emit(o)
	}
}

// withdrawn notifies clients that received events of a response that the response broke off and
// will not be stored.
func (p *Printer) withdrawn() {
	p.running.clear()
	if !p.cfg.Partial {
		return
	}
	o := System("tombstone")
	o.StrOrNull("message_id", p.message)
	p.emit(o)
}

// denied prints that a call was denied; by is the ID of the sub-agent that made it, or empty.
func (p *Printer) denied(ev agent.ToolDone, by string) {
	o := System("permission_denied")
	o.Str("tool_name", ev.Use.Name)
	o.Str("tool_use_id", ev.Use.ID)
	o.StrIf("agent_id", by)
	o.Str("message", msg.PlainText(ev.Result.Parts))
	p.emit(o)
}

func (p *Printer) retrying(r model.Retrying) {
	o := System("api_retry")
	o.Int("attempt", int64(r.Attempt))
	o.Int("max_retries", int64(r.Max))
	o.Int("retry_delay_ms", r.After.Milliseconds())
	if status := httpStatus(r.Err); status != 0 {
		o.Int("error_status", int64(status))
	} else {
		o.Null("error_status")
	}
	o.Str("error", errorName(r.Err))
	p.emit(o)
}

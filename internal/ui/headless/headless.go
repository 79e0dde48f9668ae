// Package headless is the front end for scripts and host programs. It prints a session's turns
// as text, as one JSON object or as a stream of JSON lines, and reads prompts and requests from
// a host.
package headless

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/hook"
	"adze/internal/mcp"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// A Format is an output format.
type Format string

// The formats.
const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// Config configures a Front.
type Config struct {
	Session        *session.Session
	Format         Format
	Stdout, Stderr io.Writer
	// Verbose reports calls on Stderr if the format is text. Partial adds the provider's own
	// events to the stream, provided the session forwards them. Replay adds the prompts when
	// they are stored, and Hooks adds all hook runs.
	Verbose, Partial, Replay, Hooks bool
	// Shown sanitizes text for Stdout, and ShownErr for Stderr; nil means unchanged.
	Shown, ShownErr func(string) string
	// Explain returns a user-facing explanation of an error from the given model; it may be
	// nil.
	Explain func(err error, model string) string
	// Commands are the commands that may be sent instead of prompts. If nil, everything is a
	// prompt.
	Commands *commands.Registry
	// Info describes the session to stream readers. Tools, Commands and Servers are filled in.
	Info func() streamjson.Info
	// Servers waits for the MCP servers at the start of a turn and returns them; it may be nil.
	Servers func() []mcp.Status
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// An Outcome describes how the last turn ended, and input and output errors.
type Outcome struct {
	Reason agent.Reason
	// Failed reports whether the result is an error.
	Failed bool
	// BadInput reports whether an input line from the host was invalid.
	BadInput bool
	// Unread reports whether writing to Stdout failed or took too long; Err is the write error,
	// or nil.
	Unread bool
	Err    error
}

// A Front prints the turns a session runs after the call to [New]. Either [Front.Turn] or
// [Front.Serve] must be called, once.
type Front struct {
	cfg    Config
	out    *streamjson.Writer
	err    *streamjson.Writer
	p      printer
	stream *streamjson.Printer // p, if the format is a stream
	after  session.Seq         // entries up to this one are not printed

	host   *server            // nil without a host
	result *streamjson.Result // result of the running turn
	last   Outcome
	stop   func() // interrupts the turns

	refusals map[string]bool   // reported calls, by name and input
	titles   map[string]string // titles of running calls, by ID
}

// A printer prints turns. Its methods are called from one goroutine; Begin and End are called
// once per turn.
type printer interface {
	Begin(session.Started)
	Event(agent.Event)
	End(*streamjson.Result)
	Changed(session.Changed)
}

// New returns the front end of a session.
func New(cfg Config) *Front {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	asIs := func(s string) string { return s }
	if cfg.Shown == nil {
		cfg.Shown = asIs
	}
	if cfg.ShownErr == nil {
		cfg.ShownErr = asIs
	}
	f := &Front{cfg: cfg, out: streamjson.NewWriter(cfg.Stdout), err: streamjson.NewWriter(cfg.Stderr), after: cfg.Session.Last()}
	switch notes := (&notes{f: f}); cfg.Format {
	case StreamJSON:
		f.stream = streamjson.New(streamjson.Config{
			Out: f.out, SessionID: cfg.Session.ID, Info: f.info, Explain: f.explain, Now: cfg.Now,
			Partial: cfg.Partial, Replay: cfg.Replay, Hooks: cfg.Hooks,
			Seen: func(u *msg.ToolUse) *msg.ToolUse { return cfg.Session.Pool().Forwarded(u) },
		})
		f.p = f.stream
	case JSON:
		f.p = &jsonPrinter{notes}
	default:
		f.p = &textPrinter{notes}
	}
	return f
}

// Observer returns an observer that prints hook runs, or nil if the format does not include
// them.
func (f *Front) Observer() hook.Observer {
	if f.stream == nil {
		return nil
	}
	return f.stream
}

// info describes the session.
func (f *Front) info() streamjson.Info {
	info := f.cfg.Info()
	if f.cfg.Servers != nil {
		for _, st := range f.cfg.Servers() {
			info.Servers = append(info.Servers, streamjson.Server{Name: st.Given, Status: hostapi.StateName(st.State), Source: hostapi.SourceName(st.Entry)})
		}
	}
	for _, spec := range f.cfg.Session.ToolSpecs() {
		info.Tools = append(info.Tools, spec.Name)
	}
	for _, t := range f.cfg.Session.Pool().Deferred() { // deferred tools can be called too
		info.Tools = append(info.Tools, t.Spec().Name)
	}
	for _, c := range f.commands() {
		info.Commands = append(info.Commands, c.Name)
	}
	return info
}

// explain returns a user-facing explanation of err.
func (f *Front) explain(err error) string {
	if f.cfg.Explain == nil {
		return err.Error()
	}
	return f.cfg.Explain(err, f.cfg.Session.Model())
}

// Turn runs one turn or command, prints it and closes the session. The turn is interrupted when
// ctx is done or a write to Stdout fails.
func (f *Front) Turn(ctx context.Context, parts ...msg.Part) Outcome {
	return f.follow(ctx, func(ctx context.Context) {
		p, command := f.interpret(ctx, session.Prompt{Parts: parts})
		var op session.Op = p
		if command != nil {
			op = command
		}
		f.cfg.Session.Submit(ctx, op) // ok: it is not closed yet
	})
}

// grace is how long a blocked write may take once ctx is done.
const grace = 2 * time.Second

// follow prints the session's entries while drive submits operations, until all operations are
// done. The context passed to drive is also canceled when a write to Stdout fails.
func (f *Front) follow(ctx context.Context, drive func(context.Context)) Outcome {
	s := f.cfg.Session
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f.stop = func() { stop(tool.AbortShutdown) }
	defer context.AfterFunc(ctx, func() {
		s.Submit(ctx, session.Interrupt{Queued: true, Cause: tool.AbortReason(ctx)}) // ok: it cannot fail
	})()

	printed := make(chan struct{})
	go func() {
		defer close(printed)
		// The entries end with the session: the rest of a turn is printed even after ctx is
		// done.
		for e := range s.Entries(context.WithoutCancel(ctx), f.after, session.Every) {
			f.show(ctx, e)
		}
	}()
	over := make(chan struct{})
	defer close(over)
	var watch sync.WaitGroup
	if f.stream != nil {
		watch.Go(func() { f.stream.Watch(printed, over) })
	}
	drive(ctx)
	s.Close()
	if !wait(ctx, printed) {
		return Outcome{Reason: agent.AbortedStreaming, Failed: true, Unread: true}
	}
	watch.Wait()
	f.last.Err = f.out.Err()
	f.last.Unread = f.last.Err != nil
	return f.last
}

// wait waits for printed, but no longer than grace once ctx is done. It reports whether printed
// was closed.
func wait(ctx context.Context, printed <-chan struct{}) bool {
	select {
	case <-printed:
		return true
	case <-ctx.Done():
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-printed:
		return true
	case <-t.C:
		return false
	}
}

// show prints one entry.
func (f *Front) show(ctx context.Context, e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		f.result = &streamjson.Result{Explain: f.explain, Note: ev.Note && !ev.Chore, Chore: ev.Chore}
		f.p.Begin(ev)
		if f.host != nil && !f.result.Note {
			f.host.state(true)
		}
	case session.Loop:
		f.result.Add(ev.Event)
		f.p.Event(ev.Event)
		f.note(ev.Event)
	case session.SubagentEvent:
		if p, ok := f.p.(interface{ Beside(session.SubagentEvent) }); ok {
			p.Beside(ev)
		}
	case session.Task:
		if f.stream != nil {
			f.stream.Task(ev)
		}
	case session.Finished:
		f.finished(ev)
	case session.Asked:
		f.asked(ctx, ev)
	case session.Settled:
		f.settled(ev)
	case session.Changed:
		f.p.Changed(ev)
	}
	if f.out.Err() != nil {
		f.stop()
	}
}

func (f *Front) finished(ev session.Finished) {
	f.result.Finished = ev
	f.p.End(f.result)
	if f.result.Note {
		return
	}
	_, failed := f.result.Subtype()
	f.last = Outcome{Reason: ev.Reason, Failed: failed}
	if f.host != nil {
		f.host.state(len(f.cfg.Session.Waiting()) > 0)
	}
}

// emit writes o as a line of the stream.
func (f *Front) emit(o *streamjson.Object) {
	f.out.Write(o.Identified(f.cfg.Session.ID(), msg.NewID()))
}

// note records call titles and reports refused calls to the user.
func (f *Front) note(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.ToolStarted:
		if f.titles == nil {
			f.titles = map[string]string{}
		}
		f.titles[ev.Use.ID] = ev.Title
	case agent.ToolDone:
		if ev.Denied && f.host == nil {
			f.refused(ev)
		}
		delete(f.titles, ev.Use.ID)
	}
}

// refused reports a refused call to the user, once for identical calls, together with the flag
// that would allow it. Hosts receive it as a message instead.
func (f *Front) refused(done agent.ToolDone) {
	call := done.Use.Name + string(done.Use.Input)
	if f.refusals[call] {
		return
	}
	if f.refusals == nil {
		f.refusals = make(map[string]bool)
	}
	f.refusals[call] = true
	title := cmp.Or(f.titles[done.Use.ID], tool.OneLine(done.Use.Name, 80))
	if done.Remedy != "" {
		f.warn(fmt.Sprintf("refused: %s; allow it with %s", title, done.Remedy))
		return
	}
	f.warn(fmt.Sprintf("refused: %s: %s", title, tool.OneLine(done.Refusal, 200)))
}

func (f *Front) warn(text string) {
	f.err.Write([]byte("adze: " + f.cfg.ShownErr(text) + "\n"))
}

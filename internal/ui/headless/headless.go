// Package headless is the front end without a user at it: it prints the turns of a session as text,
// as one JSON object or as a stream of JSON lines, and takes prompts and requests of a host program as
// lines. What a session is made of, and what exit code an outcome means, is left to the caller.
package headless

import (
	"context"
	"io"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/desk"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// A Format is how turns are printed.
type Format string

// The formats.
const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// A Config is what a front end needs to know.
type Config struct {
	Session        *session.Session
	Format         Format
	Stdout, Stderr io.Writer
	// Verbose makes text say on Stderr what is done. Partial adds the provider's own events to the
	// stream; the session must be asked for them. Replay adds the prompts, when they are stored, Hooks
	// what hooks do.
	Verbose, Partial, Replay, Hooks bool
	// Shown makes text fit for where Stdout leads, ShownErr for Stderr; nil leaves it as it is.
	Shown, ShownErr func(string) string
	// Explain says what an error means for the user, in the words of the given model.
	Explain func(err error, model string) string
	// Desk offers commands, which may be sent in place of prompts; nil makes all of them prompts.
	Desk *desk.Desk
	// Info describes the session to readers of the stream.
	Info func() Info
	// Now is replaced in tests; nil means the wall clock.
	Now func() time.Time
}

// An Info is what the stream says of a session at the start of each turn.
type Info struct {
	Dir, Model, Mode, KeySource, Version string
}

// An Outcome is how the last turn ended, and what went wrong around it.
type Outcome struct {
	Reason agent.Reason
	// Failed says that the result is an error.
	Failed bool
	// BadInput says that a line of the host could not be used.
	BadInput bool
	// Unread says that Stdout is no longer read.
	Unread bool
}

// A Front prints the turns of one session, from the moment it is made. [Front.Turn] or [Front.Serve]
// is called once.
type Front struct {
	cfg   Config
	out   *output
	err   *output
	p     printer
	after session.Seq // the entries before it are history

	host   *server // nil without a host
	result *result // of the turn that runs
	last   Outcome
	stop   func() // ends the turns when Stdout is no longer read
}

// A printer shows turns. Its methods are called from one goroutine, begin and end once for each turn.
type printer interface {
	begin(session.Started)
	event(agent.Event)
	end(*result)
	changed(session.Changed)
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
	f := &Front{cfg: cfg, out: &output{w: cfg.Stdout}, err: &output{w: cfg.Stderr}, after: cfg.Session.Last()}
	switch notes := (&notes{f: f}); cfg.Format {
	case StreamJSON:
		f.p = &streamPrinter{f: f}
	case JSON:
		f.p = &jsonPrinter{notes}
	default:
		f.p = &textPrinter{notes}
	}
	return f
}

// Turn runs one turn, or a command, prints it and closes the session. When Stdout is no longer read, or ctx is
// done, the turn is interrupted.
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

// grace is how long a reader that does not read is waited for once ctx is done.
const grace = 2 * time.Second

// follow prints the entries of the session while drive submits operations, and until what they ask
// for is done. The context of drive also ends when Stdout is no longer read.
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
		// The entries end with the session: what is left of a turn is printed after ctx is done, too.
		for e := range s.Entries(context.WithoutCancel(ctx), f.after, session.Every) {
			f.show(ctx, e)
		}
	}()
	over := make(chan struct{})
	defer close(over)
	var watch sync.WaitGroup
	if p, ok := f.p.(*streamPrinter); ok {
		watch.Go(func() { p.watch(printed, over) })
	}
	drive(ctx)
	s.Close()
	if !wait(ctx, printed) {
		return Outcome{Reason: agent.AbortedStreaming, Failed: true, Unread: true}
	}
	watch.Wait()
	f.last.Unread = f.out.closed()
	return f.last
}

// wait waits for printed, but once ctx is done only as long as a reader is waited for.
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
		f.result = &result{f: f, note: ev.Note && !ev.Chore}
		f.p.begin(ev)
	case session.Loop:
		f.result.add(ev.Event)
		f.p.event(ev.Event)
	case session.Finished:
		f.finished(ev)
	case session.Asked:
		f.asked(ctx, ev)
	case session.Settled:
		f.settled(ev)
	case session.Changed:
		f.p.changed(ev)
	}
	if f.out.closed() {
		f.stop()
	}
}

func (f *Front) finished(ev session.Finished) {
	f.result.Finished = ev
	f.p.end(f.result)
	if f.result.note {
		return // nothing was asked, so nothing came of it
	}
	_, failed := f.result.subtype()
	f.last = Outcome{Reason: ev.Reason, Failed: failed}
	if f.host != nil {
		f.host.state(len(f.cfg.Session.Waiting()) > 0)
	}
}

// warn tells the user something.
func (f *Front) warn(text string) {
	f.err.write([]byte("adze: " + f.cfg.ShownErr(text) + "\n"))
}

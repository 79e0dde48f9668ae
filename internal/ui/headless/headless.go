// Package headless is the front end without a person at it: it prints the turns of a session as text,
// as one JSON object or as a stream of JSON lines, and takes prompts and requests of a host program as
// lines. What a session is made of, and what exit code an outcome means, is left to the caller.
package headless

import (
	"context"
	"io"
	"time"

	"adze/internal/agent"
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
	// stream; the session must be asked for them.
	Verbose bool
	Partial bool
	// Shown makes text fit for where Stdout leads, ShownErr for Stderr; nil leaves it as it is.
	Shown, ShownErr func(string) string
	// Explain says what an error means for a person, in the words of the given model.
	Explain func(err error, model string) string
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
	// Unread says that nobody reads Stdout any more.
	Unread bool
}

// A Front prints the turns of one session.
type Front struct {
	cfg Config
	out *output
	err *output
	p   printer
}

// A printer shows turns. Its methods are called from one goroutine, begin and end once for each turn.
type printer interface {
	begin()
	event(agent.Event)
	end(*result)
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
	f := &Front{cfg: cfg, out: &output{w: cfg.Stdout}, err: &output{w: cfg.Stderr}}
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

// Turn runs one turn and prints it. When nobody reads what is printed, the turn is interrupted.
func (f *Front) Turn(ctx context.Context, parts ...msg.Part) Outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newResult(f)
	f.p.begin()
	for ev := range f.cfg.Session.Prompt(ctx, parts...) {
		r.add(ev)
		f.p.event(ev)
		if f.out.closed() {
			cancel(tool.AbortShutdown)
		}
	}
	r.finish()
	f.p.end(r)
	_, failed := r.subtype()
	return Outcome{Reason: r.ended.Reason, Failed: failed, Unread: f.out.closed()}
}

// warn tells the person something.
func (f *Front) warn(text string) {
	f.err.write([]byte("adze: " + f.cfg.ShownErr(text) + "\n"))
}

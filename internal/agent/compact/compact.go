// Package compact keeps a conversation within the context window. It clears old results from requests, replaces
// messages with a summary, and drops the oldest messages if there can be no summary. It works on the entries it
// is given and returns others: when to compact, and how a new segment gets into the history and its log, is
// decided by the caller.
package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// Limits are the limits of a model, in tokens.
type Limits struct {
	Window, MaxOutput int
	// Percent is how full the usable window may get before a conversation is compacted; values outside 50 to 95
	// mean 85.
	Percent int
}

const (
	unknownWindow  = 128_000
	reservedOutput = 20_000
	reservedSlack  = 3_000
	defaultPercent = 85
	warnPercent    = 75
)

// Usable returns the part of the window that a request may fill.
func (l Limits) Usable() int {
	window := l.Window
	if window <= 0 {
		window = unknownWindow
	}
	return window - min(l.MaxOutput, reservedOutput, window/2)
}

// Auto returns the size from which a conversation is compacted.
func (l Limits) Auto() int { return l.Usable() * l.percent() / 100 }

// Warn returns the size from which the user is warned.
func (l Limits) Warn() int { return l.Usable() * min(warnPercent, l.percent()) / 100 }

// Block returns the size above which a request is not sent.
func (l Limits) Block() int { return l.Usable() - min(reservedSlack, l.Usable()/10) }

func (l Limits) percent() int {
	if l.Percent < 50 || l.Percent > 95 {
		return defaultPercent
	}
	return l.Percent
}

// A Trigger is the cause of a compaction.
type Trigger string

// The triggers.
const (
	Auto   Trigger = "auto"
	Manual Trigger = "manual"
)

// Hooks run before and after compactions.
type Hooks interface {
	// Before returns what the summary must keep, or the reason the compaction is blocked.
	Before(ctx context.Context, t Trigger, focus string) (keep, block string)
	// After gets the summary and returns parts for the model to read after it.
	After(ctx context.Context, t Trigger, summary string) []msg.Part
}

// A Config configures a [Compactor]. Asker is required.
type Config struct {
	Asker aside.Asker
	// Language is that of the texts for the model.
	Language texts.Language
	// Clearable reports whether the old result of a call may be cleared. It may be nil.
	Clearable func(use *msg.ToolUse) bool
	// ReadTool names the only tool that a request for a summary offers when the conversation is not sent as
	// before, for providers that refuse calls in a conversation without tools; empty means none.
	ReadTool string
	// Transcript returns the path of the transcript, or ""; it may be nil.
	Transcript func() string
	// Notes returns notes to use instead of a summary; it may be nil.
	Notes Notes
	// Keep is how much of the conversation is kept beside the notes; an invalid value means [DefaultKeep].
	Keep Keep
	// Sources returns what may be restored beside a summary. It may be nil.
	Sources func(ctx context.Context) Sources
	Hooks   Hooks
	// Asking is called before a model is asked for a summary, which takes a while. It may be nil.
	Asking func()
	// NewID and Now are replaced in tests.
	NewID func() string
	Now   func() time.Time
}

// A Compactor compacts one conversation. It is for one goroutine at a time.
type Compactor struct {
	cfg      Config
	text     phrases
	gauges   map[string]*tokens.Gauge
	failures aside.Failures // to get a summary unasked
	heeded   bool
}

// New returns a compactor.
func New(cfg Config) *Compactor {
	if cfg.NewID == nil {
		cfg.NewID = msg.NewID
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Compactor{cfg: cfg, text: phrases{cfg.Language}, gauges: map[string]*tokens.Gauge{}}
}

// Gauge returns the gauge for requests to a model.
func (c *Compactor) Gauge(modelID string) *tokens.Gauge {
	g := c.gauges[modelID]
	if g == nil {
		g = tokens.New(modelID)
		c.gauges[modelID] = g
	}
	return g
}

// A Job is a conversation to compact, with the rest of its request.
type Job struct {
	Model  string
	Limits Limits
	System []msg.Part
	Tools  []msg.ToolSpec
	// Context is what each request says before the conversation.
	Context []msg.Part
	UserID  string
	// Sent is a request of the conversation, and SentEntries how many of the entries it tells of. A summary is
	// asked for after it, since the provider has it in its cache.
	Sent        *model.Request
	SentEntries int
	// Entries are the conversation since the last compaction.
	Entries []msg.Entry
	Trigger Trigger
	// Focus is what the user wants the summary to concentrate on; it may be empty.
	Focus string
	// Side is the part of Entries that is summarised, if not all of it, and At where it ends or begins.
	Side Side
	At   int
}

// A Side is a part of a conversation.
type Side int

// The sides. At [Job.At] one ends and the other begins.
const (
	Whole Side = iota
	Front
	Back
)

// fixed returns the size of the parts of a request that a compaction does not change.
func (j *Job) fixed(g *tokens.Gauge) int {
	return g.Request(j.System, j.Tools, nil) + g.Parts(j.Context...)
}

// A Segment is a conversation after a compaction: the summary, then entries that are kept, then entries that
// replace others.
type Segment struct {
	Summary msg.Entry
	Kept    []msg.Entry
	Recast  []msg.Entry
	// Last says that the summary comes after the kept entries, not before them.
	Last bool
	// Before and After are the sizes of the requests, in tokens.
	Before, After int
	// Text is the summary itself; empty if messages were dropped without one.
	Text string
	// Restored names the files that were restored completely beside the summary.
	Restored []string
}

// Entries returns the conversation.
func (s *Segment) Entries() []msg.Entry {
	summary := []msg.Entry{s.Summary}
	if s.Last {
		return slices.Concat(s.Kept, summary, s.Recast)
	}
	return slices.Concat(summary, s.Kept, s.Recast)
}

// KeptIDs returns the ids of the kept entries.
func (s *Segment) KeptIDs() []string {
	ids := make([]string, len(s.Kept))
	for i, e := range s.Kept {
		ids[i] = e.ID
	}
	return ids
}

var (
	// ErrNothing says that there is nothing to compact.
	ErrNothing = errors.New("there is nothing to compact yet")
	// ErrShort says that a summary would hardly be shorter than the conversation, or was not.
	ErrShort = errors.New("the conversation is too short to compact; it stays as it is")
	// ErrGivenUp says that summaries failed too often to be asked for again.
	ErrGivenUp = errors.New("summaries are turned off for this session after three failures in a row")
)

// worthwhile is how much of a conversation a summary must stand for, if the user asks for it, in tokens. A summary is
// seldom shorter.
const worthwhile = 500

// A BlockedError says that a hook blocked the compaction.
type BlockedError struct{ Reason string }

func (e *BlockedError) Error() string { return "a hook stopped the compaction: " + e.Reason }

// Compact returns the conversation of j with a summary in place of all but its end. It does not change the
// entries.
func (c *Compactor) Compact(ctx context.Context, j Job) (*Segment, error) {
	if j.Trigger == Auto && c.failures.TooMany() {
		return nil, ErrGivenUp
	}
	told, kept := c.divide(j)
	if len(withoutSummary(told)) == 0 {
		return nil, ErrNothing
	}
	if j.Trigger == Manual && j.Side == Whole && sum(c.Gauge(j.Model), told) < worthwhile {
		return nil, ErrShort // before anything is asked or paid for
	}
	keep, err := c.askHooks(ctx, j)
	if err != nil {
		return nil, err
	}
	seg, err := c.fromNotes(ctx, j)
	if err != nil || seg == nil {
		seg, err = c.summarise(ctx, j, told, kept, keep)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		if j.Trigger == Auto {
			c.failures.Count(err)
		}
		return nil, err
	}
	c.failures, c.heeded = 0, false
	return seg, nil
}

// divide returns the entries to summarise and the entries to keep.
func (c *Compactor) divide(j Job) (told, kept []msg.Entry) {
	at := min(max(0, j.At), len(j.Entries))
	switch j.Side {
	case Whole:
		at = tail(j.Entries, c.Gauge(j.Model))
	case Back:
		return j.Entries[at:], j.Entries[:at]
	}
	return j.Entries[:at], j.Entries[at:]
}

// Relieve shortens the conversation if a request of the given size is too long. It returns nil if nothing has to
// be done. If there can be no summary, the request may grow up to the limit; beyond it, messages are dropped, so
// that there may be an error beside the segment.
func (c *Compactor) Relieve(ctx context.Context, j Job, size int) (*Segment, error) {
	if size <= j.Limits.Auto() {
		return nil, nil
	}
	seg, err := c.Compact(ctx, j)
	if err == nil || ctx.Err() != nil || size <= j.Limits.Block() {
		return seg, err
	}
	for _, budget := range []int{j.Limits.Auto(), j.Limits.Block()} {
		if seg, ok := c.Shorten(j, budget); ok {
			return seg, err
		}
	}
	return nil, err
}

// GivenUp reports whether summaries have failed so often that only the user can ask for one.
func (c *Compactor) GivenUp() bool { return c.failures.TooMany() }

// askHooks returns what hooks want to be kept. One that forbids a compaction which has to be is heeded
// once.
func (c *Compactor) askHooks(ctx context.Context, j Job) (keep string, err error) {
	if c.cfg.Hooks == nil {
		return "", nil
	}
	keep, block := c.cfg.Hooks.Before(ctx, j.Trigger, j.Focus)
	switch {
	case block == "":
		return keep, nil
	case j.Trigger == Manual:
		return "", &BlockedError{Reason: block}
	case !c.heeded && c.Size(j) <= j.Limits.Block():
		c.heeded = true
		return "", &BlockedError{Reason: block}
	}
	return keep, nil
}

// Size returns the estimate for the request that j would send.
func (c *Compactor) Size(j Job) int { return c.Fixed(j) + sum(c.Gauge(j.Model), j.Entries) }

// Fixed returns the part of that size outside the conversation.
func (c *Compactor) Fixed(j Job) int { return j.fixed(c.Gauge(j.Model)) }

// finish measures a segment and returns an error if it is not shorter.
func (c *Compactor) finish(j Job, seg *Segment) error {
	g := c.Gauge(j.Model)
	fixed := j.fixed(g)
	seg.Before, seg.After = fixed+sum(g, j.Entries), fixed+sum(g, seg.Entries())
	switch {
	case seg.After >= seg.Before:
		return fmt.Errorf("%w: the summary is longer than what it summarises", ErrShort)
	case seg.After > j.Limits.Auto() && j.Side == Whole:
		return errors.New("the summary leaves too little room")
	}
	return nil
}

func sum(g *tokens.Gauge, entries []msg.Entry) int {
	n := 0
	for i := range entries {
		n += g.Messages(entries[i].Message)
	}
	return n
}

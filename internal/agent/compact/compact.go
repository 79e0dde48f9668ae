// Package compact keeps a conversation within the context window. It clears old results from
// requests, replaces messages with a summary, and drops the oldest messages if there can be no
// summary. It does not modify the entries it is given; the caller decides when to compact and
// stores the new segment.
package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// Limits are a model's limits, in tokens.
type Limits struct {
	Window, MaxOutput int
	// Percent is how full the usable window may get before a conversation is compacted. Values
	// outside 50 to 95 mean 85.
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

// Auto returns the size at which a conversation is compacted automatically.
func (l Limits) Auto() int { return l.Usable() * l.percent() / 100 }

// Warn returns the size at which the user is warned.
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
	// Before returns information the summary must keep, or the reason the compaction is
	// blocked.
	Before(ctx context.Context, t Trigger, focus string) (keep, block string)
	// After receives the summary and returns parts for the model to read after it.
	After(ctx context.Context, t Trigger, summary string) []msg.Part
}

// A Config configures a [Compactor]. Asker is required.
type Config struct {
	Asker sidequery.Asker
	// Language selects the language of the model-facing texts.
	Language texts.Language
	// Clearable reports whether a call's old result may be cleared. It may be nil.
	Clearable func(use *msg.ToolUse) bool
	// ReadTool names the only tool offered when a summary is requested with a rewritten
	// conversation, for providers that reject calls in a conversation without tools; empty
	// means none.
	ReadTool string
	// Transcript returns the transcript's path, or "". It may be nil.
	Transcript func() string
	// Notes provides notes to use instead of a summary. It may be nil.
	Notes Notes
	// KeepPolicy controls how much of the conversation is kept along with the notes; an invalid value
	// means [DefaultKeep].
	Keep KeepPolicy
	// Sources returns the content that may be restored after a summary. It may be nil.
	Sources func(ctx context.Context) Sources
	Hooks   Hooks
	// OnSummarize, if non-nil, is called before requesting a summary from a model, which takes a
	// while.
	OnSummarize func()
	// NewID and Now are overridden in tests.
	NewID func() string
	Now   func() time.Time
}

// A Compactor compacts one conversation. It is not safe for concurrent use.
type Compactor struct {
	cfg      Config
	text     phrases
	gauges   map[string]*tokens.Estimator
	failures sidequery.Failures // consecutive automatic summary failures
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
	return &Compactor{cfg: cfg, text: phrases{cfg.Language}, gauges: map[string]*tokens.Estimator{}}
}

// Gauge returns the token gauge for a model.
func (c *Compactor) Gauge(modelID string) *tokens.Estimator {
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
	// Context is sent in each request before the conversation.
	Context []msg.Part
	UserID  string
	// Sent is a request of the conversation, and SentEntries the number of entries it covers.
	// The summary request extends it, since the provider has it cached.
	Sent        *model.Request
	SentEntries int
	// Entries is the conversation since the last compaction.
	Entries []msg.Entry
	Trigger Trigger
	// Focus is the user's instruction for the summary. It may be empty.
	Focus string
	// Side selects the part of Entries to summarize, and At is the index where it ends or
	// begins.
	Side Side
	At   int
}

// A Side is a part of a conversation.
type Side int

// The sides. Front ends and Back begins at [Job.At].
const (
	Whole Side = iota
	Front
	Back
)

// fixed returns the size of a request's parts that a compaction does not change.
func (j *Job) fixed(g *tokens.Estimator) int {
	return g.Request(j.System, j.Tools, nil) + g.Parts(j.Context...)
}

// A Segment is a conversation after a compaction: the summary, then the kept entries, then
// entries that replace others.
type Segment struct {
	Summary msg.Entry
	Kept    []msg.Entry
	Recast  []msg.Entry
	// Last is true if the summary comes after the kept entries rather than before them.
	Last bool
	// Before and After are the request sizes, in tokens.
	Before, After int
	// Text is the summary itself; it is empty if messages were dropped without one.
	Text string
	// Restored names the files that were restored in full after the summary.
	Restored []string
}

// Entries returns the compacted conversation.
func (s *Segment) Entries() []msg.Entry {
	summary := []msg.Entry{s.Summary}
	if s.Last {
		return slices.Concat(s.Kept, summary, s.Recast)
	}
	return slices.Concat(summary, s.Kept, s.Recast)
}

// KeptIDs returns the IDs of the kept entries.
func (s *Segment) KeptIDs() []string {
	ids := make([]string, len(s.Kept))
	for i, e := range s.Kept {
		ids[i] = e.ID
	}
	return ids
}

var (
	// ErrNothing is returned if there is nothing to compact.
	ErrNothing = errors.New("there is nothing to compact yet")
	// ErrShort is returned if a summary would hardly be shorter than the conversation, or was
	// not.
	ErrShort = errors.New("the conversation is too short to compact; it stays as it is")
	// ErrGivenUp is returned if summaries failed too often to be requested again.
	ErrGivenUp = errors.New("summaries are turned off for this session after three failures in a row")
)

// worthwhile is the minimum size of a conversation to summarize when the user requests it, in
// tokens. A summary is seldom shorter.
const worthwhile = 500

// A BlockedError is returned if a hook blocked the compaction.
type BlockedError struct{ Reason string }

func (e *BlockedError) Error() string { return "a hook stopped the compaction: " + e.Reason }

// Compact returns j's conversation with a summary in place of all but its end. It does not
// change the entries.
func (c *Compactor) Compact(ctx context.Context, j Job) (*Segment, error) {
	if j.Trigger == Auto && c.failures.TooMany() {
		return nil, ErrGivenUp
	}
	told, kept := c.divide(j)
	if len(withoutSummary(told)) == 0 {
		return nil, ErrNothing
	}
	if j.Trigger == Manual && j.Side == Whole && sum(c.Gauge(j.Model), told) < worthwhile {
		return nil, ErrShort // fail before spending anything
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

// divide returns the entries to summarize and the entries to keep.
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

// Relieve shortens the conversation if a request of the given size is too long. It returns nil
// if nothing has to be done. If there can be no summary, the request may grow up to the limit;
// beyond it, messages are dropped, and Relieve returns both a segment and the error.
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

// GivenUp reports whether summaries have failed so often that only the user can request one.
func (c *Compactor) GivenUp() bool { return c.failures.TooMany() }

// askHooks returns the information hooks want the summary to keep. A hook can always block a
// manual compaction, but an automatic one only once, and only while the request still fits.
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

// Size estimates the size of the request that j would send.
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
		return fmt.Errorf("%w: the summary is longer than the original", ErrShort)
	case seg.After > j.Limits.Auto() && j.Side == Whole:
		return errors.New("the summary leaves too little room")
	}
	return nil
}

func sum(g *tokens.Estimator, entries []msg.Entry) int {
	n := 0
	for i := range entries {
		n += g.Messages(entries[i].Message)
	}
	return n
}

// Package window keeps a conversation within the model's context window. Before each request,
// steps omit parts of the conversation; if that is not enough, the conversation is replaced
// with a summary.
package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session/notes"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// Config configures a Window. The zero value of a field disables it.
type Config struct {
	// Off disables automatic summarization.
	Off bool
	// Percent is the part of the usable window at which the conversation is summarized; 0 means
	// the default.
	Percent int
	// Reactive restricts automatic summarization to requests that the provider rejects as too
	// long.
	Reactive bool
	// Steps omit parts of the conversation from requests, in this order.
	Steps []Step
	// State holds the saved states of the steps, by kind.
	State map[string]json.RawMessage

	// Language is the language of texts for the model.
	Language texts.Language
	// Transcript returns the path of the complete transcript.
	Transcript func() string
	Sources    func(ctx context.Context) compact.Sources
	Hooks      compact.Hooks
	// Notes are maintained in the background and used in place of a summary; Keep is how much
	// of the conversation stays unchanged then. LastTurn is true if no turn follows that could
	// use the notes.
	Notes    *notes.Keeper
	Keep     compact.KeepPolicy
	LastTurn bool
	// Tools names the tools that the window uses.
	Tools ToolNames
	// Cleared, if not nil, is called with calls whose results the model no longer sees.
	Cleared func(uses []*msg.ToolUse)
	// Done is called after a compaction, when the model no longer sees earlier files except the
	// restored ones.
	Done func(restored []string)
}

// ToolNames names the tools that the window uses if they are offered.
type ToolNames struct {
	Read string // offered with a summary request that does not reuse the last request
}

// A Conversation is the conversation that a window manages.
type Conversation struct {
	History History
	Asker   sidequery.Asker // used for summaries
	Pool    func() *tool.Pool
	UserID  string
	// Withheld holds the answers whose reasoning must not be sent again. It may be nil.
	Withheld *agent.WithheldReasoning
	// Tell sends an event to the front ends. Note writes a note to the log.
	Tell  func(agent.Event)
	Note  func(store.Note)
	NewID func() string
	Now   func() time.Time
	Log   *slog.Logger // may be nil
}

// A History is a conversation that can be replaced.
type History interface {
	Entries() []msg.Entry
	// Restart replaces the conversation with the result of a compaction.
	Restart(seg *compact.Segment, b store.Boundary)
	// Attempt is like Restart, but the log is not written before the next entry. Until then it
	// can be undone. It reports whether this is the first attempt.
	Attempt(seg *compact.Segment, b store.Boundary) (first bool)
	// Settle makes attempts permanent.
	Settle()
	// Retreat undoes the attempts since the last entry, and reports whether there were any.
	Retreat() bool
}

// A Window keeps a conversation within the context window. It is not safe for concurrent use.
type Window struct {
	cfg     Config
	conv    Conversation
	compact *compact.Compactor
	clears  map[string]bool // whether results may be cleared, by tool
	saved   [][]byte        // states of the steps before the pending attempts
	last    request
	sent    sentRequest
	noted   int  // number of entries seen by the notes keeper
	gaveUp  bool // reported that it gave up
	warned  bool // warned that the window fills up
}

// A request describes the last request, so that its reported usage can correct the gauge.
type request struct {
	first   string // ID of the first entry
	entries int
	counted int // tokens
}

// New returns a Window for a conversation.
func New(cfg Config, conv Conversation) *Window {
	w := &Window{cfg: cfg, conv: conv, clears: map[string]bool{}}
	for _, s := range cfg.Steps {
		if state := cfg.State[s.Kind()]; state != nil {
			s.Restore(state)
		}
	}
	cc := compact.Config{
		Asker: conv.Asker, Language: cfg.Language, Clearable: w.clearable, Transcript: cfg.Transcript,
		Sources: cfg.Sources, Hooks: cfg.Hooks, Keep: cfg.Keep, NewID: conv.NewID, Now: conv.Now,
		ReadTool: cfg.Tools.Read,
		OnSummarize: func() {
			conv.Tell(agent.Notice{Text: "The conversation is being summarised to make room.", Compacting: true})
		},
	}
	if cfg.Notes != nil {
		cc.Notes = cfg.Notes
	}
	w.compact = compact.New(cc)
	return w
}

// Close stops background work. It is a no-op on a nil window.
func (w *Window) Close() {
	if w == nil {
		return
	}
	if w.cfg.Notes != nil {
		w.cfg.Notes.Close()
	}
	for _, s := range w.cfg.Steps {
		if c, ok := s.(interface{ Close() }); ok {
			c.Close()
		}
	}
}

// Force makes the steps apply pending changes with the next request, and returns their number.
// It reports whether any step supports this.
func (w *Window) Force() (n int, ok bool) {
	if w == nil {
		return 0, false
	}
	for _, s := range w.cfg.Steps {
		if f, can := s.(interface{ Force() int }); can {
			n, ok = n+f.Force(), true
		}
	}
	return n, ok
}

// clearable reports whether the old result of a call may be cleared. The tool actually called
// decides, even if the model called it through another.
func (w *Window) clearable(use *msg.ToolUse) bool {
	if yes, known := w.clears[use.Name]; known {
		return yes
	}
	pool := w.conv.Pool()
	name := pool.Forwarded(use).Name // only resolved names are cached
	yes, known := w.clears[name]
	if !known {
		t, _, ok := pool.Lookup(name)
		if !ok {
			return false // its server may still connect
		}
		yes = t.Traits().Clearable
		w.clears[name] = yes
	}
	return yes
}

// forget withholds the reasoning in entries if the model accepts it only after an unchanged
// prefix.
func (w *Window) forget(m agent.Model, entries []msg.Entry) {
	if m.Bound && w.conv.Withheld != nil {
		w.conv.Withheld.Add(entries)
	}
}

// keep saves the state of a step, so that a resumed session sends the same requests.
func (w *Window) keep(s Step) {
	w.conv.Note(store.Other{Kind: s.Kind(), Fields: s.State()})
}

// drain makes the steps apply prepared changes, and reports whether there were any.
func (w *Window) drain() bool {
	drained := false
	for _, s := range w.cfg.Steps {
		if d, ok := s.(interface{ Drain() bool }); ok && d.Drain() {
			w.keep(s)
			drained = true
		}
	}
	return drained
}

// save stores the states of the steps, in case the attempt is undone.
func (w *Window) save() {
	w.saved = make([][]byte, len(w.cfg.Steps))
	for i, s := range w.cfg.Steps {
		w.saved[i], _ = json.Marshal(s.State()) // ok: it is also marshaled for the log
	}
}

// retreat undoes the attempts to shorten the conversation, and reports whether there were any.
func (w *Window) retreat() bool {
	if !w.conv.History.Retreat() {
		return false
	}
	for i, s := range w.cfg.Steps {
		s.Restore(w.saved[i])
		w.keep(s)
	}
	w.saved, w.last, w.sent = nil, request{}, sentRequest{}
	w.conv.Tell(agent.Notice{Text: "The conversation was left as it was before this was tried."})
	return true
}

// restart updates the state after the conversation was replaced with seg.
func (w *Window) restart(seg *compact.Segment) {
	w.last, w.sent, w.noted, w.warned = request{first: seg.Entries()[0].ID}, sentRequest{}, 0, false
	for _, s := range w.cfg.Steps {
		if s.Restart(seg) {
			w.keep(s)
		}
	}
	if w.cfg.Done != nil {
		w.cfg.Done(seg.Restored)
	}
	if seg.Text == "" {
		w.conv.Tell(agent.Notice{Text: "The oldest messages are no longer sent to the model, to make room. The transcript keeps them."})
	}
}

// Rewound updates the state after a rewind or its undo. It is a no-op on a nil window.
func (w *Window) Rewound() {
	if w == nil {
		return
	}
	entries := w.conv.History.Entries()
	w.last, w.sent, w.noted, w.warned = request{}, sentRequest{}, len(entries), false
	for _, s := range w.cfg.Steps {
		if s.Restart(&compact.Segment{Kept: entries, Last: true}) { // remaining parts stay omitted
			w.keep(s)
		}
	}
	if w.cfg.Notes != nil {
		w.cfg.Notes.Forget()
	}
}

// report notifies the user of a failed summary, where relevant.
func (w *Window) report(err error) {
	if err == nil || errors.Is(err, compact.ErrNothing) {
		return
	}
	if w.conv.Log != nil {
		w.conv.Log.Warn("the conversation was not summarised", "err", err)
	}
	if w.compact.GivenUp() && !w.gaveUp {
		w.gaveUp = true
		w.conv.Tell(agent.Notice{Text: fmt.Sprintf("The conversation could not be summarised: %v. From now on its oldest messages are dropped instead; /compact tries again.", err), Warning: true})
	}
}

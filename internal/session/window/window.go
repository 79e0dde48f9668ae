// Package window keeps a conversation within the context window of its model. Before each request it lets
// steps leave something out of what is sent, and when that is not enough it replaces the conversation by a
// summary. How a summary is made is left to package compact, the turns and the log to the session.
package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/aside"
	"adze/internal/agent/compact"
	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/session/notes"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// A Config says how a conversation is kept within the window. Whatever is zero is done without.
type Config struct {
	// Off leaves it to the user to compact: nothing is summarised unasked.
	Off bool
	// Percent of the usable window is where the conversation is summarised; 0 means the default.
	Percent int
	// Reactive summarises unasked only when the provider says that a request is too long.
	Reactive bool
	// Steps leave something out of what is sent, in this order.
	Steps []Step
	// State is what earlier processes noted of the steps, by kind.
	State map[string]json.RawMessage

	// Language is that of the texts for the model.
	Language texts.Language
	// Transcript returns where the whole conversation can be read.
	Transcript func() string
	Sources    func(ctx context.Context) compact.Sources
	Hooks      compact.Hooks
	// Notes are kept beside the conversation and take the place of a summary; Keep is how much of the
	// conversation stays as it is then. LastTurn says that no turn follows that could use what is noted.
	Notes    *notes.Keeper
	Keep     compact.Keep
	LastTurn bool
	// Tools are the names of tools that are made use of.
	Tools ToolNames
	// Cleared is told of calls whose results the model no longer sees. It may be nil.
	Cleared func(uses []*msg.ToolUse)
	// Done is called after a compaction: the model no longer sees what it has seen, except for the files that
	// were put back.
	Done func(restored []string)
}

// ToolNames names the tools that the window makes use of if they are offered.
type ToolNames struct {
	Read string // offered with a request for a summary of a conversation that is not sent as before
}

// A Conversation is what a window works on.
type Conversation struct {
	History History
	Asker   aside.Asker // for summaries
	Pool    func() *tool.Pool
	UserID  string
	// Withheld are the answers whose reasoning is no longer sent. It may be nil.
	Withheld *agent.Withheld
	// Tell tells the front ends, and Note keeps something in the log.
	Tell  func(agent.Event)
	Note  func(store.Note)
	NewID func() string
	Now   func() time.Time
	Log   *slog.Logger // it may be nil
}

// A History is a conversation that can start over.
type History interface {
	Entries() []msg.Entry
	// Restart starts the conversation over, with what a compaction left of it.
	Restart(seg *compact.Segment, b store.Boundary)
	// Attempt is like Restart, but the log is not told before the next entry, and until then it can be taken
	// back. It reports whether there was no attempt before it.
	Attempt(seg *compact.Segment, b store.Boundary) (first bool)
	// Settle makes attempts final.
	Settle()
	// Retreat takes back the attempts since the last entry, and reports whether there were any.
	Retreat() bool
}

// A Window keeps one conversation within the context window. It is for one goroutine at a time.
type Window struct {
	cfg     Config
	conv    Conversation
	compact *compact.Compactor
	clears  map[string]bool // whether results of a tool may be cleared
	saved   [][]byte        // states of the steps, before the attempts that may be taken back
	last    request
	sent    sent
	noted   int  // entries that the keeper of the notes has seen
	gaveUp  bool // and said so
	warned  bool // that the window fills up
}

// A request is what is known of the last one, so that its reported usage teaches the gauge.
type request struct {
	first   string // ID of the first entry
	entries int
	counted int // tokens
}

// New returns the window of a conversation.
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
		Asking: func() {
			conv.Tell(agent.Notice{Text: "The conversation is being summarised to make room.", Compacting: true})
		},
	}
	if cfg.Notes != nil {
		cc.Notes = cfg.Notes
	}
	w.compact = compact.New(cc)
	return w
}

// Close ends what is done in the background. A nil window has nothing to end.
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

// Force lets the steps do with the next request what they would do later, and returns how many things that
// are. It reports whether there is a step that can.
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

// clearable reports whether the old result of a call may be cleared. The tool that was called decides, whatever the
// model reached it through.
func (w *Window) clearable(use *msg.ToolUse) bool {
	if yes, known := w.clears[use.Name]; known {
		return yes
	}
	pool := w.conv.Pool()
	name := pool.Forwarded(use).Name // of one that forwards nothing is noted
	yes, known := w.clears[name]
	if !known {
		t, _, ok := pool.Lookup(name)
		yes = ok && t.Traits().Clearable
		w.clears[name] = yes
	}
	return yes
}

// forget withholds the reasoning in entries from a model that takes it only behind what was before it.
func (w *Window) forget(m agent.Model, entries []msg.Entry) {
	if m.Bound && w.conv.Withheld != nil {
		w.conv.Withheld.Add(entries)
	}
}

// keep notes the state of a step, so that a session that is resumed sends the same.
func (w *Window) keep(s Step) {
	w.conv.Note(store.Other{Kind: s.Kind(), Fields: s.State()})
}

// drain makes the steps use what they have prepared, and reports whether there was anything.
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

// save remembers the states of the steps, in case that the attempt that begins is taken back.
func (w *Window) save() {
	w.saved = make([][]byte, len(w.cfg.Steps))
	for i, s := range w.cfg.Steps {
		w.saved[i], _ = json.Marshal(s.State()) // ok: it is written to the log the same way
	}
}

// retreat takes the conversation back to where it was before the attempts to shorten it, and reports
// whether there were any.
func (w *Window) retreat() bool {
	if !w.conv.History.Retreat() {
		return false
	}
	for i, s := range w.cfg.Steps {
		s.Restore(w.saved[i])
		w.keep(s)
	}
	w.saved, w.last, w.sent = nil, request{}, sent{}
	w.conv.Tell(agent.Notice{Text: "The conversation was left as it was before this was tried."})
	return true
}

// restart takes note that the conversation is seg.
func (w *Window) restart(seg *compact.Segment) {
	w.last, w.sent, w.noted, w.warned = request{first: seg.Entries()[0].ID}, sent{}, 0, false
	for _, s := range w.cfg.Steps {
		if s.Restart(seg) {
			w.keep(s)
		}
	}
	if w.cfg.Done != nil {
		w.cfg.Done(seg.Restored)
	}
	if seg.Text == "" {
		w.conv.Tell(agent.Notice{Text: "The oldest messages were dropped from what the model sees, to make room. The transcript keeps them."})
	}
}

// Rewound takes note that the conversation went back, or that it no longer does. A nil window need not know.
func (w *Window) Rewound() {
	if w == nil {
		return
	}
	entries := w.conv.History.Entries()
	w.last, w.sent, w.noted, w.warned = request{}, sent{}, len(entries), false
	for _, s := range w.cfg.Steps {
		if s.Restart(&compact.Segment{Kept: entries, Last: true}) { // what is still there stays left out
			w.keep(s)
		}
	}
	if w.cfg.Notes != nil {
		w.cfg.Notes.Forget()
	}
}

// report tells why there is no summary, where the user should know.
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

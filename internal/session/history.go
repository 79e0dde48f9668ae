package session

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/msg"
	"adze/internal/session/store"
)

// A history is the conversation in memory; every entry is written to the log first. If that fails, the entry is
// kept in memory, the conversation continues, and the user is told.
type history struct {
	log Log

	mu      sync.Mutex
	entries []msg.Entry
	before  []msg.Entry    // what an attempt took the place of; nil if there was none
	undone  []msg.Entry    // what a rewind took the place of; nil if something was said since
	pending []func() error // tell the log of it
	warn    string         // not told yet
	unsaved bool           // the log is behind
	kept    bool           // the log keeps results that were not appended yet
}

func (h *history) Entries() []msg.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries[:len(h.entries):len(h.entries)]
}

func (h *history) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.entries) == 0 {
		return ""
	}
	return h.entries[len(h.entries)-1].ID
}

// has reports whether an entry has that id.
func (h *history) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.entries, func(e msg.Entry) bool { return e.ID == id })
}

func (h *history) Append(_ context.Context, e msg.Entry) error {
	h.Settle()
	var err error
	if h.log != nil {
		err = h.log.Append(e)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept && err == nil {
		h.kept = h.log.(PartialLog).DropPartial() != nil // ok: a file that is left does not follow the last message any more
	}
	e.Structured = nil // it is in the log, and nothing that is sent needs it
	h.entries, h.undone = append(h.entries, e), nil
	h.saved(err)
	if l, ok := h.log.(Noticer); ok && h.warn == "" {
		h.warn = l.Notice()
	}
	return nil
}

// Keep implements [agent.Keeper].
func (h *history) Keep(e msg.Entry) error {
	l, ok := h.log.(PartialLog)
	if !ok {
		return nil
	}
	h.mu.Lock()
	h.kept = true
	h.mu.Unlock()
	return l.AddPartial(e)
}

// A Noticer is a [Log] that may have to tell the user something about its file.
type Noticer interface {
	// Notice returns it once.
	Notice() string
}

// rewind leaves out the entries from at on. Until something is appended, restore brings them back.
func (h *history) rewind(at int) {
	h.Settle()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undone = h.entries
	h.end(h.entries[:at:at])
}

// restore brings back what was left out, and reports whether there was anything.
func (h *history) restore() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.undone == nil {
		return false
	}
	entries := h.undone
	h.undone = nil
	h.end(entries)
	return true
}

// end makes entries, which the log has already, the conversation.
func (h *history) end(entries []msg.Entry) {
	h.entries = entries
	if h.log == nil {
		return
	}
	leaf := ""
	if n := len(entries); n > 0 {
		leaf = entries[n-1].ID
	}
	h.saved(h.log.Note(store.Rewind(leaf)))
}

// A Compacter is a [Log] that keeps compactions.
type Compacter interface {
	// Compact stores a boundary and the entries that follow it.
	Compact(b store.Boundary, then ...msg.Entry) error
}

// Restart implements [window.History], as do the next three.
func (h *history) Restart(seg *compact.Segment, b store.Boundary) {
	h.Attempt(seg, b)
	h.Settle()
}

func (h *history) Attempt(seg *compact.Segment, b store.Boundary) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if first = h.before == nil; first {
		h.before = h.entries
	}
	h.entries, h.undone = seg.Entries(), nil
	if l, ok := h.log.(Compacter); ok {
		h.pending = append(h.pending, func() error { return l.Compact(b, append([]msg.Entry{seg.Summary}, seg.Recast...)...) })
	}
	return first
}

func (h *history) Settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, write := range h.pending {
		h.saved(write())
	}
	h.before, h.pending = nil, nil
}

func (h *history) Retreat() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.before == nil {
		return false
	}
	h.entries, h.before, h.pending = h.before, nil, nil
	return true
}

// unbind returns what withholds the reasoning of a model when requests to it begin otherwise than before, if it
// takes reasoning back only behind what was before it.
func (h *history) unbind(w *agent.Withheld) func(agent.Model) {
	return func(m agent.Model) {
		if m.Bound {
			w.Add(slices.DeleteFunc(slices.Clone(h.Entries()), func(e msg.Entry) bool { return e.Model != m.ID }))
		}
	}
}

// saved records whether the log is behind.
func (h *history) saved(err error) {
	switch {
	case err != nil && !h.unsaved:
		h.unsaved = true
		h.warn = fmt.Sprintf("Transcript not saved: %v. The conversation continues, and saving is retried with each message.", err)
	case err == nil && h.unsaved && h.warn != "":
		h.unsaved, h.warn = false, "" // it was mended before the user knew
	case err == nil && h.unsaved:
		h.unsaved = false
		h.warn = "The transcript is saved again; nothing is missing from it."
	}
}

func (h *history) Sync() error {
	if h.log == nil {
		return nil
	}
	return h.log.Sync()
}

// warning returns a message about the log for the user, once.
func (h *history) warning() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.warn
	h.warn = ""
	return w
}

// A journal stores notes about a session for when it is resumed.
type journal struct {
	log   Log // nil keeps nothing
	debug *slog.Logger
}

// note stores a note about the session. A failing log is reported with the next message.
func (j journal) note(n store.Note) {
	if j.log == nil {
		return
	}
	if err := j.log.Note(n); err != nil && j.debug != nil {
		j.debug.Error("a note about the session was not saved", "err", err)
	}
}

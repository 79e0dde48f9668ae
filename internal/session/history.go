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

// A history is the conversation in memory. Every entry is written to the log first. If that
// fails, the entry is still kept in memory, the conversation continues, and the user gets a
// warning.
type history struct {
	log Log

	mu      sync.Mutex
	entries []msg.Entry
	before  []msg.Entry    // entries replaced by an attempt; nil if none
	undone  []msg.Entry    // entries before a rewind; nil after the next append
	pending []func() error // log writes of the attempt
	warn    string         // openQuestion warning for the user
	unsaved bool           // the log is behind
	kept    bool           // the log holds results that are not appended yet
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

// has reports whether an entry has this ID.
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
		h.kept = h.log.(PartialLog).DropPartial() != nil // ok: a leftover file no longer follows the last message
	}
	e.Structured = nil // requests do not need it, and the log has it
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

// A Noticer is a [Log] that may have a message about its file for the user.
type Noticer interface {
	// Notice returns the message once.
	Notice() string
}

// rewind drops the entries from at on. Until the next append, restore can bring them back.
func (h *history) rewind(at int) {
	h.Settle()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undone = h.entries
	h.end(h.entries[:at:at])
}

// restore undoes the last rewind, and reports whether there was one.
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

// end sets the conversation to entries, which are already in the log.
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

// A Compacter is a [Log] that stores compactions.
type Compacter interface {
	// Compact stores a boundary and the entries after it.
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

// unbind returns a function to call when requests to a model start differently than before. If
// the model accepts its reasoning only after an unchanged prefix, the function withholds the
// earlier reasoning.
func (h *history) unbind(w *agent.WithheldReasoning) func(agent.Model) {
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
		h.unsaved, h.warn = false, "" // recovered before the user was warned
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

// A journal stores notes for resuming a session.
type journal struct {
	log   Log // nil disables storing
	debug *slog.Logger
}

// note stores a note about the session. A log error is reported with the next message.
func (j journal) note(n store.Note) {
	if j.log == nil {
		return
	}
	if err := j.log.Note(n); err != nil && j.debug != nil {
		j.debug.Error("a note about the session was not saved", "err", err)
	}
}

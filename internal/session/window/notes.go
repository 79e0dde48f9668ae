package window

import (
	"context"
	"errors"

	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/session/notes"
)

// ErrNoNotes reports that the session has no notes.
var ErrNoNotes = errors.New("no notes are kept of this session")

// Notes updates the session notes and returns them.
func (t *Turn) Notes(ctx context.Context) (string, error) {
	if t.cfg.Notes == nil {
		return "", ErrNoNotes
	}
	entries := t.conv.History.Entries()
	if len(entries) == 0 {
		return "", nil
	}
	m := t.moment(entries)
	m.Said, m.Last = t.said(entries), entries[len(entries)-1].ID
	if !t.sent.matches(entries, t.model) {
		m.Tokens = t.gauge.Messages(m.Said.Request.Messages...)
	}
	m.Room = t.room(m)
	return t.cfg.Notes.Update(ctx, m)
}

// note reports the state of the conversation to the notes keeper: during a turn up to the last
// request, which is in the provider's cache, and at the end of a turn with the answer.
func (t *Turn) note(ended bool) {
	entries := t.conv.History.Entries()
	if t.cfg.Notes == nil || t.narrow() || !t.sent.matches(entries, t.model) {
		return
	}
	m := t.moment(entries)
	m.Said, m.Last = sidequery.Conversation{Request: t.sent.request}, entries[t.sent.entries-1].ID
	if ended {
		m.Said, m.Last, m.Ended = t.said(entries), entries[len(entries)-1].ID, true
	}
	m.Room = t.room(m)
	t.cfg.Notes.See(m)
}

// narrow reports whether the messages kept by a compaction with notes could fill the window.
// Such a compaction usually falls back to a summary, so notes would not be used.
func (t *Turn) narrow() bool {
	return t.limits.Usable() < t.cfg.Keep.MaxTokens+t.corrected(nil)
}

// room returns how many tokens are free in a request with the conversation of m.
func (t *Turn) room(m notes.Snapshot) int {
	return m.Usable - m.Tokens - t.gauge.Correct(t.count(m.Said.Since))
}

// moment returns the state of the conversation for the notes keeper, without Said.
func (t *Turn) moment(entries []msg.Entry) notes.Snapshot {
	m := notes.Snapshot{Tokens: t.gauge.Correct(t.sent.size), Usable: t.limits.Usable()}
	for _, e := range entries[min(t.noted, len(entries)):] {
		m.Calls += len(e.Message.Uses())
	}
	t.noted = len(entries)
	return m
}

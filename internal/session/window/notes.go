package window

import (
	"context"
	"errors"
	"slices"

	"adze/internal/msg"
	"adze/internal/session/notes"
)

// ErrNoNotes says that no notes are kept.
var ErrNoNotes = errors.New("no notes are kept of this session")

// A page is what a request sent, for the keeper of the notes.
type page struct {
	messages []msg.Message // the loop writes into the first of them later
	first    msg.Message   // as it was
	entries  int           // how many the history had then
}

func pageOf(messages []msg.Message, entries int) page {
	p := page{messages: messages, entries: entries}
	if len(messages) > 0 {
		p.first = messages[0]
	}
	return p
}

// with returns the messages of the page and those of the entries that came since.
func (p page) with(entries []msg.Entry) []msg.Message {
	all := slices.Clone(p.messages)
	if len(all) > 0 {
		all[0] = p.first
	}
	for _, e := range entries[min(p.entries, len(entries)):] {
		all = append(all, e.Message)
	}
	return all
}

// Notes brings the session notes up to date and returns them.
func (t *Turn) Notes(ctx context.Context) (string, error) {
	if t.cfg.Notes == nil {
		return "", ErrNoNotes
	}
	entries := t.conv.History.Entries()
	view := conversation(entries)
	for _, s := range t.cfg.Steps {
		view = t.apply(s, view, 0)
	}
	t.seen = pageOf(view, len(entries))
	t.size = t.count(view)
	m, ok := t.moment()
	if !ok {
		return "", nil
	}
	return t.cfg.Notes.Update(ctx, m)
}

// note lets the keeper of the notes see how far the conversation has come.
func (t *Turn) note(ended bool) {
	if t.cfg.Notes == nil {
		return
	}
	if m, ok := t.moment(); ok {
		m.Ended = ended
		t.cfg.Notes.See(m)
	}
}

// moment returns the conversation as it is now, or false if there is nothing to note, or nothing to note it
// with.
func (t *Turn) moment() (notes.Moment, bool) {
	at := slices.IndexFunc(t.tools(), func(s msg.ToolSpec) bool { return s.Name == t.cfg.Tools.Edit })
	entries := t.conv.History.Entries()
	if at < 0 || len(entries) == 0 {
		return notes.Moment{}, false
	}
	m := notes.Moment{
		Model: t.model.ID, System: t.preamble.System, Last: entries[len(entries)-1].ID, Edit: t.tools()[at],
		Messages: func() []msg.Message { return t.seen.with(t.conv.History.Entries()) },
		Tokens:   t.gauge.Correct(max(0, t.size-t.fixed)), // the conversation was counted for the request
	}
	for _, e := range entries[min(t.noted, len(entries)):] {
		m.Calls += len(e.Message.Uses())
	}
	t.noted = len(entries)
	return m, true
}

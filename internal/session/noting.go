package session

import (
	"slices"

	"adze/internal/msg"
	"adze/internal/session/notes"
)

// see keeps a view for the keeper of the notes.
func (t *turnRoom) see(view []msg.Message) {
	t.view, t.viewed = view, len(t.s.hist.Entries())
	if len(view) > 0 {
		t.first = view[0]
	}
}

// said returns the conversation as it is sent, also what was added since.
func (t *turnRoom) said() []msg.Message {
	all := slices.Clone(t.view)
	if len(all) > 0 {
		all[0] = t.first
	}
	entries := t.s.hist.Entries()
	for _, e := range entries[min(t.viewed, len(entries)):] {
		all = append(all, e.Message)
	}
	return all
}

// note lets the keeper of the notes see how far the conversation has come.
func (t *turnRoom) note(ended bool) {
	if t.cfg.Notes == nil {
		return
	}
	if m, ok := t.moment(); ok {
		m.Ended = ended
		t.cfg.Notes.See(m)
	}
}

func (t *turnRoom) moment() (notes.Moment, bool) {
	at := slices.IndexFunc(t.tools(), func(s msg.ToolSpec) bool { return s.Name == t.cfg.Tools.Edit })
	if at < 0 {
		return notes.Moment{}, false
	}
	entries := t.s.hist.Entries()
	if len(entries) == 0 {
		return notes.Moment{}, false
	}
	m := notes.Moment{Model: t.model.ID, System: t.system, Messages: t.said, Last: entries[len(entries)-1].ID, Edit: t.tools()[at]}
	m.Tokens = t.gauge().Correct(max(0, t.size-t.fixed)) // the conversation was counted for the request
	for _, e := range entries[min(t.noted, len(entries)):] {
		m.Calls += len(e.Message.Uses())
	}
	t.noted = len(entries)
	return m, true
}

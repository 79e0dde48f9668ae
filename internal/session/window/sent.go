package window

import (
	"adze/internal/agent"
	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/msg"
)

// A sentRequest is the last answered request of the conversation. Queries about the conversation start
// with it, because it is in the provider's cache.
type sentRequest struct {
	request *model.Request // nil if none yet
	first   string         // ID of the first entry
	entries int            // number of entries included
	size    int            // counted size of its conversation, in tokens
}

// matches reports whether the request went to m and contains the start of entries.
func (s sentRequest) matches(entries []msg.Entry, m agent.Model) bool {
	return s.request != nil && s.request.Model == m.ID && s.entries > 0 && s.entries <= len(entries) && s.first == entries[0].ID
}

// answered records that a request was answered. Its answer is not in the history yet.
func (t *Turn) answered(req *model.Request) {
	entries := t.conv.History.Entries()
	if len(entries) > 0 {
		t.sent = sentRequest{req, entries[0].ID, len(entries), max(0, t.size-t.fixed)}
	}
}

// request returns the last request of the conversation and the number of entries in it. Without
// one, as in a resumed session, it returns the request that the loop would send next.
func (t *Turn) request(entries []msg.Entry) (req *model.Request, told int) {
	if t.sent.matches(entries, t.model) {
		return t.sent.request, t.sent.entries
	}
	view := agent.Messages(entries, t.model, t.conv.Withheld)
	for _, s := range t.cfg.Steps {
		view = t.apply(s, view, 0)
	}
	return agent.NewRequest(t.options, t.preamble, t.model, view, t.tools()), len(entries)
}

// said returns the whole conversation.
func (t *Turn) said(entries []msg.Entry) sidequery.Conversation {
	req, told := t.request(entries)
	said := sidequery.Conversation{Request: req}
	for _, e := range entries[told:] {
		said.Since = append(said.Since, e.Message)
	}
	return said
}

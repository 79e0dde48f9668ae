package agent

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/msg"
)

// WithheldReasoning tracks the answers whose reasoning must not be sent again, because the content
// before it has changed or because the provider rejected it. Later reasoning is sent. The zero
// value is ready; it is not safe for concurrent use.
type WithheldReasoning struct {
	// Changed, if non-nil, is called with all withheld IDs whenever some are added.
	Changed func(ids []string)

	ids map[string]bool
}

// Restore adds the IDs withheld by an earlier process.
func (w *WithheldReasoning) Restore(ids []string) {
	for _, id := range ids {
		w.put(id)
	}
}

// Add withholds the reasoning in entries and reports whether any of it was not withheld before.
func (w *WithheldReasoning) Add(entries []msg.Entry) bool {
	had := len(w.ids)
	for _, e := range entries {
		if slices.ContainsFunc(e.Message.Parts, msg.IsThinking) {
			w.put(e.ID)
		}
	}
	if len(w.ids) == had {
		return false
	}
	if w.Changed != nil {
		w.Changed(slices.Sorted(maps.Keys(w.ids)))
	}
	return true
}

// AddFrom withholds the reasoning in messages, which were built from entries. It reports
// whether any of it was not withheld before.
func (w *WithheldReasoning) AddFrom(messages []msg.Message, entries []msg.Entry) bool {
	parts := map[msg.Part]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if msg.IsThinking(p) {
				parts[p] = true
			}
		}
	}
	var of []msg.Entry
	for _, e := range entries {
		if slices.ContainsFunc(e.Message.Parts, func(p msg.Part) bool { return parts[p] }) {
			of = append(of, e)
		}
	}
	return w.Add(of)
}

func (w *WithheldReasoning) put(id string) {
	if w.ids == nil {
		w.ids = map[string]bool{}
	}
	w.ids[id] = true
}

// refused withholds the reasoning that the provider rejected in a request: from the message
// that the error names on, or all of it. It reports whether the next request will have less
// reasoning.
func (w *WithheldReasoning) refused(err error, req *model.Request, entries []msg.Entry) bool {
	at := 0
	var e *model.Error
	if errors.As(err, &e) {
		at = named(e.Message)
	}
	return at < len(req.Messages) && w.AddFrom(req.Messages[at:], entries) || w.AddFrom(req.Messages, entries)
}

// named returns the index of the message that an error names, or 0.
func named(text string) int {
	_, rest, _ := strings.Cut(text, "messages.")
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

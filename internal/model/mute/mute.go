// Package mute hides references to certain files in a conversation from a provider: reminders
// about them and calls that worked on them. The conversation itself is not changed.
package mute

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"

	"adze/internal/model"
	"adze/internal/msg"
)

// A Provider forwards requests without references to the hidden files.
type Provider struct {
	model.Provider
	names func() []string
	note  string

	mu   sync.Mutex
	mute map[msg.Part]msg.Part // replacements by part; reused, so that encoders recognize them
}

// New returns p muted. names is called for each request and returns the hidden files as written
// in calls and results; while it is empty nothing is hidden. note replaces omitted content.
func New(p model.Provider, note string, names func() []string) *Provider {
	return &Provider{Provider: p, names: names, note: note, mute: map[msg.Part]msg.Part{}}
}

// Unwrap returns the wrapped provider; see [model.As].
func (m *Provider) Unwrap() model.Provider { return m.Provider }

// Stream implements [model.Provider].
func (m *Provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	if names := m.names(); len(names) > 0 {
		r := *req
		r.Messages = m.hide(req.Messages, names)
		req = &r
	}
	return m.Provider.Stream(ctx, req)
}

// hide returns messages that do not mention the files.
func (m *Provider) hide(messages []msg.Message, names []string) []msg.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := map[string]bool{} // IDs of calls that mention the files
	kept := slices.Clone(messages)
	for i, one := range kept {
		parts := make([]msg.Part, 0, len(one.Parts))
		for _, p := range one.Parts {
			switch p := p.(type) {
			case *msg.Text:
				if tells(p, names) {
					continue
				}
			case *msg.ToolUse:
				if calls[p.ID] = mentions(p.Input, names); calls[p.ID] {
					parts = append(parts, m.instead(p, func() msg.Part { return m.blank(p) }))
					continue
				}
			case *msg.ToolResult:
				if calls[p.ID] || mentions([]byte(msg.PlainText(p.Parts)), names) {
					parts = append(parts, m.instead(p, func() msg.Part {
						return &msg.ToolResult{ID: p.ID, Parts: []msg.Part{&msg.Text{Text: m.note}}, IsError: p.IsError}
					}))
					continue
				}
			}
			parts = append(parts, p)
		}
		if len(parts) == 0 {
			parts = append(parts, &msg.Text{Text: m.note})
		}
		kept[i].Parts = parts
	}
	return kept
}

// instead returns a part's replacement, always the same one.
func (m *Provider) instead(p msg.Part, other func() msg.Part) msg.Part {
	if m.mute[p] == nil {
		m.mute[p] = other()
	}
	return m.mute[p]
}

// blank returns a use with its string inputs replaced by the note.
func (m *Provider) blank(u *msg.ToolUse) msg.Part {
	var fields map[string]any
	if json.Unmarshal(u.Input, &fields) != nil {
		fields = map[string]any{}
	}
	for name, v := range fields {
		if _, ok := v.(string); ok {
			fields[name] = m.note
		}
	}
	input, err := json.Marshal(fields)
	if err != nil {
		input = []byte("{}")
	}
	return msg.NewToolUse(u.ID, u.Name, string(input))
}

// tells reports whether a part is a reminder whose first line names a hidden file.
func tells(p msg.Part, names []string) bool {
	text, ok := msg.ReminderText(p)
	label, _, _ := strings.Cut(text, "\n")
	return ok && mentions([]byte(label), names)
}

func mentions(text []byte, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(text, []byte(name)) })
}

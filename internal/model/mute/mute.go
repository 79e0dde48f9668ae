// Package mute hides from a provider what a conversation says about certain files, for as long as it should:
// reminders that tell of them, and calls that worked on them. The conversation itself is not changed. Which
// files these are, and when they are hidden, is left to others.
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

// A Provider forwards requests without what they say of the hidden files.
type Provider struct {
	model.Provider
	names func() []string
	note  string

	mu   sync.Mutex
	mute map[msg.Part]msg.Part // what stands for a part; always the same, so that encoders know it again
}

// New returns p muted. Names returns how the hidden files are written in calls and results, for each request;
// while it is empty nothing is hidden. Note stands where something was left out.
func New(p model.Provider, note string, names func() []string) *Provider {
	return &Provider{Provider: p, names: names, note: note, mute: map[msg.Part]msg.Part{}}
}

// Unwrap returns the provider that is muted; see [model.As].
func (m *Provider) Unwrap() model.Provider { return m.Provider }

// Stream implements [model.Provider].
func (m *Provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	if names := m.names(); len(names) > 0 {
		r := *req
		r.Messages = m.without(req.Messages, names)
		req = &r
	}
	return m.Provider.Stream(ctx, req)
}

// without returns messages in which nothing names one of the files.
func (m *Provider) without(messages []msg.Message, names []string) []msg.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := map[string]bool{} // that work on the files
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

// instead returns what stands for a part, the same one every time.
func (m *Provider) instead(p msg.Part, other func() msg.Part) msg.Part {
	if m.mute[p] == nil {
		m.mute[p] = other()
	}
	return m.mute[p]
}

// blank returns a use without what it says.
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

// tells reports whether a part is a reminder about one of the files, which its first line names.
func tells(p msg.Part, names []string) bool {
	text, ok := msg.Reminded(p)
	label, _, _ := strings.Cut(text, "\n")
	return ok && mentions([]byte(label), names)
}

func mentions(text []byte, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(text, []byte(name)) })
}

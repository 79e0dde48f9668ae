package agent

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

// TestRefusedThinking checks that rejected reasoning is remembered block by block: from the
// message the error names on, or everything sent.
//
// Proves PROV-41.
func TestRefusedThinking(t *testing.T) {
	entry := func(id string, parts ...msg.Part) msg.Entry {
		return msg.Entry{ID: id, Model: "m", Message: msg.Message{Role: msg.Assistant, Parts: parts}}
	}
	text := &msg.Text{Text: "so"}
	entries := []msg.Entry{
		{ID: "q", Message: msg.UserText("go")},
		entry("a", &msg.Thinking{Text: "A", Signature: "1"}, text), {Message: msg.UserText("on")},
		entry("b", &msg.Redacted{Data: "B"}, text), {Message: msg.UserText("on")},
		entry("c", &msg.Thinking{Text: "C", Signature: "3"}, text), {Message: msg.UserText("on")},
		entry("d", text),
	}
	for _, tt := range []struct {
		name, error string
		had         []string
		want        []string
	}{
		{"the last", "messages.5.content.0: Invalid `signature` in `thinking` block", nil, []string{"c"}},
		{"one in the middle", "messages.3.content.0: Invalid `signature`. Changed: messages.2", nil, []string{"b", "c"}},
		{"the second call of a message", "messages.1.content.2: Invalid `signature`", nil, []string{"a", "b", "c"}},
		{"none is named", "thinking blocks cannot be modified", nil, []string{"a", "b", "c"}},
		{"a call that is withheld already", "messages.5.content.0: Invalid", []string{"c"}, []string{"a", "b", "c"}},
		{"a missing call", "messages.99.content.0: Invalid", nil, []string{"a", "b", "c"}},
		{"nonsense", "messages.-3.x", nil, []string{"a", "b", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			w := WithheldReasoning{Changed: func(ids []string) { got = ids }}
			w.Restore(tt.had)
			req := &model.Request{Messages: Messages(entries, Model{ID: "m"}, &w)}
			if !w.refused(&model.Error{Kind: model.BadSignature, Message: tt.error}, req, entries) {
				t.Error("nothing is withheld")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("withheld (-want +got):\n%s", diff)
			}
			for i, m := range Messages(entries, Model{ID: "m"}, &w) {
				if slices.ContainsFunc(m.Parts, msg.IsThinking) == slices.Contains(tt.want, entries[i].ID) && m.Role == msg.Assistant && entries[i].ID != "d" {
					t.Errorf("the reasoning of %s is sent, or missing", entries[i].ID)
				}
			}
			req = &model.Request{Messages: Messages(entries, Model{ID: "m"}, &w)}
			if len(tt.want) == 3 && w.refused(&model.Error{Kind: model.BadSignature}, req, entries) {
				t.Error("there is nothing left to be withheld")
			}
		})
	}
}

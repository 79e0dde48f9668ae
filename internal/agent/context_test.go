package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
)

// TestContextGoesBeforeTheFirstMessage checks that the preamble's context is part of the first
// message but not of the history.
func TestContextGoesBeforeTheFirstMessage(t *testing.T) {
	said := msg.Reminder("Use tabs.")
	p := Preamble{Context: func() []msg.Part { return []msg.Part{said} }}
	user, reply := msg.UserText("Hi."), msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "Hello."}}}
	tests := []struct {
		name     string
		messages []msg.Message
		want     []msg.Message
	}{
		{"conversation", []msg.Message{user, reply}, []msg.Message{{Role: msg.User, Parts: []msg.Part{said, user.Parts[0]}}, reply}},
		{"the model speaks first", []msg.Message{reply}, []msg.Message{{Role: msg.User, Parts: []msg.Part{said}}, reply}},
		{"nothing", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, p.open(tt.messages)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if len(user.Parts) != 1 {
		t.Error("the message itself was changed")
	}
	p.Context = nil
	if got := p.open([]msg.Message{user}); len(got[0].Parts) != 1 {
		t.Error("unexpected text")
	}
}

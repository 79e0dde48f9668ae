package window

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent/collapse"
	"adze/internal/agent/compact"
	"adze/internal/agent/snip"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// TestStepsKeepTheirState checks that a later process continues from the saved state of a step,
// and ignores an unreadable state.
func TestStepsKeepTheirState(t *testing.T) {
	conversation := func() []msg.Message {
		return []msg.Message{
			msg.UserText("look"),
			{Role: msg.Assistant, Parts: []msg.Part{msg.NewToolUse("u1", "Read", "{}")}},
			{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "u1", Parts: []msg.Part{&msg.Text{Text: "what is in the file"}}}}},
			{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "I see."}}},
			msg.UserText("go on"),
		}
	}
	for _, tt := range []struct {
		make         func() Step
		kind, state  string
		none, beside string // the notes of an empty and of a malformed state
	}{
		{func() Step { return Clear(compact.DefaultMicro) }, "cleared-output", `{"keys":["u1"]}`, `{"keys":[]}`, `{"keys":1}`},
		{func() Step { return Snip(new(snip.Snipper), "Snip") }, "snipped-steps", `{"steps":[1]}`, `{"steps":[]}`, `{"steps":"x"}`},
		{func() Step { return Fold(collapse.New(collapse.Config{})) }, "conversation-folds",
			`{"folds":[{"from":1,"to":3,"text":"They looked."}]}`, `{"folds":[]}`, `[]`},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			sent := func(s Step) []msg.Message {
				messages, from := s.Apply(View{
					Messages: conversation(), Gauge: tokens.New("m"), Limit: 1000, Usable: 1000,
					Size:    func([]msg.Message) int { return 0 },
					TooLong: func([]msg.Message) bool { return false }, Offered: func(string) bool { return true },
					Clearable: func(*msg.ToolUse) bool { return true },
				})
				if from != Unchanged {
					t.Error("the state changed without a reason")
				}
				return messages
			}
			s := tt.make()
			if s.Kind() != tt.kind {
				t.Errorf("kind %s", s.Kind())
			}
			whole := sent(s)
			s.Restore(json.RawMessage(tt.state))
			if got, _ := json.Marshal(s.State()); string(got) != tt.state {
				t.Errorf("state %s, want %s", got, tt.state)
			}
			if cmp.Equal(whole, sent(s)) {
				t.Error("nothing is left out")
			}
			if !s.Restart(&compact.Segment{}) {
				t.Error("the state did not change when the conversation began anew")
			}
			if got, _ := json.Marshal(s.State()); string(got) != tt.none {
				t.Errorf("state %s after a restart", got)
			}
			s.Restore(json.RawMessage(tt.beside))
			if diff := cmp.Diff(whole, sent(s)); diff != "" {
				t.Errorf("a state that cannot be read leaves something out (-whole +sent):\n%s", diff)
			}
		})
	}
}

package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"adze/internal/msg"
)

// TestRecent checks that a resumed session shows the last turns: the user's messages, the
// answers and the calls.
func TestRecent(t *testing.T) {
	text := func(role msg.Role, s string) msg.Entry {
		return msg.Entry{Message: msg.Message{Role: role, Parts: []msg.Part{&msg.Text{Text: s}}}}
	}
	var all []msg.Entry
	for _, prompt := range []string{"one", "two", "three", "four"} {
		use := &msg.ToolUse{ID: prompt, Name: "Bash", Input: json.RawMessage(`{"command":"echo ` + prompt + `"}`)}
		all = append(all, text(msg.User, prompt),
			msg.Entry{Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{use}}},
			msg.Entry{Message: msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: prompt}}}},
			text(msg.Assistant, "done "+prompt))
	}
	var got []string
	for _, e := range Recent(all) {
		if s := MessageText(e.Message); s != "" {
			got = append(got, s)
		}
		got = append(got, CallLines(e.Message)...)
	}
	if want := "two|Bash echo two|done two|three|Bash echo three|done three|four|Bash echo four|done four"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	if len(Recent(nil)) != 0 {
		t.Error("there is nothing")
	}
}

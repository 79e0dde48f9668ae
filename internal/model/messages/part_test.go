package messages

import (
	"testing"

	"adze/internal/msg"
)

// TestAppendPart checks that tool input is sent as the model wrote it, and only if it was an
// object.
func TestAppendPart(t *testing.T) {
	for _, tt := range []struct {
		name string
		part msg.Part
		want string
	}{
		{"line breaks", msg.NewToolUse("t1", "Read", "{\n\"a\": 1}"), "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\",\"input\":{\n\"a\": 1}}"},
		{"white space around", msg.NewToolUse("t1", "Read", ` {"a":1}`), `{"type":"tool_use","id":"t1","name":"Read","input": {"a":1}}`},
		{"malformed", msg.NewToolUse("t1", "Read", `{"a`), `{"type":"tool_use","id":"t1","name":"Read","input":{}}`},
		{"no input", &msg.ToolUse{ID: "t1", Name: "Read"}, `{"type":"tool_use","id":"t1","name":"Read","input":{}}`},
		{"result", &msg.ToolResult{ID: "t1", Parts: []msg.Part{&msg.Text{Text: "a"}, &msg.Opaque{Raw: []byte("{}")}, &msg.Text{Text: "b"}}, IsError: true},
			`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"is_error":true}`},
		{"text", &msg.Text{Text: "hi"}, `{"type":"text","text":"hi"}`},
	} {
		if got := string(appendPart(nil, tt.part)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

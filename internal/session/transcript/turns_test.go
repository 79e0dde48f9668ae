package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// described returns events, one per line.
func described(events []agent.Event) string {
	var b strings.Builder
	for _, ev := range events {
		switch ev := ev.(type) {
		case agent.Appended:
			fmt.Fprintf(&b, "%s: %s\n", ev.Entry.Message.Role, strings.Join(msg.TypedTexts(ev.Entry.Message), "|"))
		case agent.ToolDone:
			fmt.Fprintf(&b, "%s: %v %v %s %s\n", ev.Use.Name, ev.Display, ev.Result.IsError, ev.Refusal, msg.PlainText(ev.Result.Parts))
		case agent.Notice:
			fmt.Fprintf(&b, "notice: %s\n", ev.Text)
		}
	}
	return b.String()
}

// lookTool is a tool whose results say how they are displayed.
func lookTool() tool.Tool {
	return tool.New(tool.Def{
		Name: "Look", Doc: "look", Schema: json.RawMessage(`{"type":"object"}`),
		Traits: tool.Traits{Redisplay: func(structured json.RawMessage) tool.Display { return tool.Plain{Text: string(structured)} }},
	}, func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) {
		return tool.Text("seen"), nil
	})
}

// TestTurns checks that the last turns come back as events, across a compaction and a damaged line.
//
// Proves SESS-20.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	lines := []string{
		user("u0", "", "long ago"), answer("a0", "u0", "Yes."),
		user("u1", "a0", "first"), answer("a1", "u1", "Fine."),
		`{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a1","compact_metadata":{"trigger":"manual","preserved_segment":{"summary_uuid":"s"}}}`,
		`{"type":"user","uuid":"s","parentUuid":null,"isMeta":true,"timestamp":"2026-11-03T12:00:00Z","message":{"role":"user","content":[{"type":"text","text":"<summary>x</summary>"}]}}`,
		"garbage",
		user("u2", "s", "second"),
		`{"type":"assistant","uuid":"a2","parentUuid":"u2","timestamp":"2026-11-03T12:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"1","name":"Look","input":{}},{"type":"tool_use","id":"2","name":"Gone","input":{}},{"type":"tool_use","id":"3","name":"Look","input":{}}]}}`,
		`{"type":"user","uuid":"r2","parentUuid":"a2","timestamp":"2026-11-03T12:00:00Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"seen"},{"type":"tool_result","tool_use_id":"2","is_error":true,"content":"The user rejected this call and says: «no». Take that into account."}]},"toolUseResult":{"1":{"n":1}}}`,
		user("u3", "r2", "[Request interrupted by user]"),
		user("u4", "u3", "third"),
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := store.Load(path, store.LoadOptions{Structured: true, Older: shownEntries})
	if err != nil {
		t.Fatal(err)
	}
	want := `user: first
assistant: Fine.
notice: The conversation was summarised here.
user: second
assistant: I look.
Look: {{"n":1}} false  seen
Gone: <nil> true you said no: no The user rejected this call and says: «no». Take that into account.
Look: <nil> true  adze ended before it finished.
notice: Stopped.
user: third
`
	if got := described(Turns([]tool.Tool{lookTool()}, c, false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Turns(nil, nil, false); got != nil {
		t.Errorf("a new session: %v", got)
	}
}

// TestTurnsAreBounded checks that a turn with many calls is shown from its end, with its prompt.
func TestTurnsAreBounded(t *testing.T) {
	c := &store.Contents{}
	say := func(role msg.Role, text string) {
		c.Entries = append(c.Entries, msg.Entry{ID: fmt.Sprint(len(c.Entries)), Message: msg.Message{Role: role, Parts: []msg.Part{&msg.Text{Text: text}}}})
	}
	for i := range 50_000 {
		if i%5000 == 0 {
			say(msg.User, fmt.Sprintf("prompt %d", i))
		}
		say(msg.Assistant, "words")
	}
	got := Turns(nil, c, false)
	if n := len(got); n == 0 || n > shownEntries+2 || !strings.HasPrefix(described(got), "user: prompt 45000\n") {
		t.Errorf("%d events: %.100s", n, described(got))
	}
}

func user(id, parent, text string) string   { return line("user", id, parent, text) }
func answer(id, parent, text string) string { return line("assistant", id, parent, text) }

func line(role, id, parent, text string) string {
	before := "null"
	if parent != "" {
		before = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"timestamp":"2026-11-03T12:00:00Z","message":{"role":%[1]q,"content":[{"type":"text","text":%[4]q}]}}`, role, id, before, text)
}

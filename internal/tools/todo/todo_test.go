package todo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// memory stores a list.
type memory struct{ items []Item }

func (m *memory) replace(items []Item) []Item {
	old := m.items
	m.items = items
	return old
}

func TestContract(t *testing.T) {
	var m memory
	tooltest.Run(t, New(Config{Replace: m.replace}), tooltest.Cases{Input: Input{}, Dir: t.TempDir(), Good: map[string]string{
		"none": `{"todos":[]}`,
		"two":  `{"todos":[{"content":"Fix","status":"in_progress","activeForm":"Fixing"},{"content":"Test","status":"pending","activeForm":"Testing"}]}`,
	}})
}

// TestWrite checks that the list is replaced as a whole, that hosts get the old and the new
// list, and that errors name the invalid field.
//
// Proves X-010, TASK-02.
func TestWrite(t *testing.T) {
	var m memory
	write := func(input string) (tool.Result, error) {
		c, err := New(Config{Replace: m.replace}).Bind(json.RawMessage(input))
		if err != nil {
			return tool.Result{}, err
		}
		return c.Run(t.Context(), func(tool.Progress) {})
	}
	if _, err := write(`{"todos":[{"content":"a","status":"pending","activeForm":"A"}]}`); err != nil {
		t.Fatal(err)
	}
	r, err := write(`{"todos":[{"content":"a","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress","activeForm":"B"},{"content":"c","status":"pending","activeForm":"C"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := msg.PlainText(r.Parts); got != "The to-do list was updated: 1 of 3 done." {
		t.Error(got)
	}
	if diff := cmp.Diff(tool.Checklist{{Text: "a", State: tool.Done}, {Text: "B", State: tool.Doing}, {Text: "c"}}, r.Display); diff != "" {
		t.Error(diff)
	}
	want := Output{[]Item{{"a", "pending", "A"}}, []Item{{"a", "completed", "A"}, {"b", "in_progress", "B"}, {"c", "pending", "C"}}}
	if diff := cmp.Diff(want, r.Structured); diff != "" {
		t.Error(diff)
	}
	for input, want := range map[string]string{
		`{"todos":[{"content":"a","status":"done","activeForm":"A"}]}`:             "status",
		`{"todos":[{"content":"a","status":"pending","activeForm":"A","id":"1"}]}`: "id",
		`{"todos":[{"content":"","status":"pending","activeForm":"A"}]}`:           "content",
		`{"todos":[{"content":"a","status":"pending"}]}`:                           "activeForm",
		`{}`: "todos",
	} {
		if _, err := write(input); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", input, err)
		}
	}
	if len(m.items) != 3 {
		t.Error("a list that was refused is kept")
	}
}

// TestReminder checks that the model gets a single reminder when three items are closed and
// none of them verifies the work.
//
// Proves TASK-02.
func TestReminder(t *testing.T) {
	var m memory
	c := Config{Replace: m.replace, Language: func() texts.Language { return texts.Chinese }}
	reminded := func(closed int, subjects ...string) bool {
		var items []Item
		for i, s := range subjects {
			item := Item{s, "pending", s}
			if i < closed {
				item.Status = "completed"
			}
			items = append(items, item)
		}
		r, err := c.write(t.Context(), Input{items}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(fmt.Sprint(r.Reminders), "验证")
	}
	for _, step := range []struct {
		closed int
		want   bool
	}{{2, false}, {3, true}, {3, false}, {4, false}, {5, true}} {
		if got := reminded(step.closed, "a", "b", "c", "d", "e"); got != step.want {
			t.Errorf("%d closed: %v", step.closed, got)
		}
	}
	if reminded(3, "a", "b", "Run the Tests") || reminded(3, "a", "b", "c", "验证") {
		t.Error("reminded though one verifies")
	}
}

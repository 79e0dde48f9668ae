package snip

import (
	"encoding/json"
	"errors"
	"testing"

	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// marks holds the marked steps; step 9 cannot be marked.
type marks struct{ steps []int }

func (m *marks) Mark(steps ...int) error {
	if steps[0] == 9 {
		return errors.New("no step 9")
	}
	m.steps = append(m.steps, steps...)
	return nil
}

func TestContract(t *testing.T) {
	tooltest.Run(t, New(&marks{}), tooltest.Cases{
		Input: Input{}, Dir: t.TempDir(), Good: map[string]string{"two": `{"steps":[1,4]}`},
	})
}

// Proves CTX-51, X-033.
func TestMark(t *testing.T) {
	var m marks
	for input, want := range map[string]string{
		`{"steps":[3]}`:   "Marked 1 step; to be cut when it saves enough.",
		`{"steps":[5,6]}`: "Marked 2 steps; to be cut when it saves enough.",
		`{"steps":[9]}`:   "",
	} {
		c, err := New(&m).Bind(json.RawMessage(input))
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Run(t.Context(), func(tool.Progress) {})
		if got := msg.PlainText(res.Parts); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", input, got, err)
		}
	}
	if len(m.steps) != 3 {
		t.Errorf("marked %v", m.steps)
	}
}

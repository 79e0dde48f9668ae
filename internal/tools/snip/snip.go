// Package snip is the tool by which the model says which steps of the conversation are stale. When they
// are left out of what is sent is decided elsewhere.
package snip

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/tool"
)

// Name is the name of the tool.
const Name = "Snip"

// A Marker takes the model's word that steps are stale. An error means that none was marked.
type Marker interface{ Mark(steps ...int) error }

//go:embed snip.md
var doc string

//go:embed snip.zh.md
var chinese string

//go:embed snip.schema.json
var inputSchema string

// An Input is what the model gives.
type Input struct {
	Steps []int `json:"steps"`
}

// OpenWorld says that nothing outside is touched.
func (in Input) OpenWorld() bool { return false }

// ReadOnly says that no file is changed.
func (in Input) ReadOnly() bool { return true }

// Access says that nothing but the conversation is touched.
func (in Input) Access() []tool.Access { return nil }

// Title returns one line for dialogs and logs.
func (in Input) Title() string { return "Cut " + count(in.Steps) + " out of the conversation" }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Marking " + count(in.Steps) }

func count(steps []int) string {
	if len(steps) == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", len(steps))
}

// New returns the tool. Without a marker it is not offered.
func New(m Marker) tool.Tool {
	return tool.New(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Traits: tool.Traits{Translate: tool.InChinese(chinese), Hint: "cut stale steps out of the conversation", Enabled: func() error {
			if m == nil {
				return errors.New("the setting snip.enabled is off")
			}
			return nil
		}},
	}, func(_ context.Context, in Input, _ func(tool.Progress)) (tool.Result, error) {
		if err := m.Mark(in.Steps...); err != nil {
			return tool.Result{}, err
		}
		return tool.Text("Marked " + count(in.Steps) + "; to be cut when it saves enough."), nil
	})
}

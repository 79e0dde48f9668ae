// Package snip implements the tool with which the model marks steps of the conversation as
// stale.
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

// Name is the tool's name.
const Name = "Snip"

// A Marker marks steps as stale. If it returns an error, no step was marked.
type Marker interface{ Mark(steps ...int) error }

//go:embed snip.md
var doc string

//go:embed snip.zh.md
var chinese string

//go:embed snip.schema.json
var inputSchema string

// Input is the tool's input.
type Input struct {
	Steps []int `json:"steps"`
}

// OpenWorld returns false: the call reaches nothing outside.
func (in Input) OpenWorld() bool { return false }

// ReadOnly returns true: the call changes no file.
func (in Input) ReadOnly() bool { return true }

// Access returns nil: the call accesses only the conversation.
func (in Input) Access() []tool.Access { return nil }

// Title returns a line for dialogs and logs.
func (in Input) Title() string { return "Cut " + count(in.Steps) + " out of the conversation" }

// Activity returns the spinner text.
func (in Input) Activity() string { return "Marking " + count(in.Steps) }

func count(steps []int) string {
	if len(steps) == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", len(steps))
}

// New returns the tool. If m is nil, it is not offered.
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

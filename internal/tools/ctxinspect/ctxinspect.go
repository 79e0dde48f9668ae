// Package ctxinspect implements the tool that shows the model its use of the context window.
package ctxinspect

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/tool"
)

//go:embed ctxinspect.md
var doc string

//go:embed ctxinspect.zh.md
var chinese string

// Input is the tool's empty input.
type Input struct{}

// OpenWorld returns false: the call reaches nothing outside.
func (in Input) OpenWorld() bool { return false }

// ReadOnly returns true: the call changes nothing.
func (in Input) ReadOnly() bool { return true }

// Concurrent returns true: inspecting does not affect other calls.
func (in Input) Concurrent() bool { return true }

// Access returns nil: the call accesses only the conversation.
func (in Input) Access() []tool.Access { return nil }

// Title returns a line for dialogs and logs.
func (in Input) Title() string { return "Inspect the context" }

// Activity returns the spinner text.
func (in Input) Activity() string { return "Inspecting the context" }

// New returns the tool. The report function returns the text to show; if nil, the tool is not
// offered.
func New(report func() string) tool.Tool {
	return tool.New(tool.Def{
		Name:   "CtxInspect",
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Traits: tool.Traits{Translate: tool.InChinese(chinese), Hint: "inspect the use of the context window", Enabled: func() error {
			if report == nil {
				return errors.New("the setting contextCollapse.enabled is off")
			}
			return nil
		}},
	}, func(context.Context, Input, func(tool.Progress)) (tool.Result, error) {
		return tool.Text(report()), nil
	})
}

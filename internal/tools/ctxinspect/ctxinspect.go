// Package ctxinspect is the tool by which the model looks at its use of the context window. What there is
// to see is known to the package that folds the conversation.
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

// An Input is what the model gives: nothing.
type Input struct{}

// OpenWorld says that nothing outside is touched.
func (in Input) OpenWorld() bool { return false }

// ReadOnly says that nothing is changed.
func (in Input) ReadOnly() bool { return true }

// Concurrent says that looking disturbs no other call.
func (in Input) Concurrent() bool { return true }

// Access says that nothing but the conversation is touched.
func (in Input) Access() []tool.Access { return nil }

// Title returns one line for dialogs and logs.
func (in Input) Title() string { return "Inspect the context" }

// Activity returns what a spinner shows.
func (in Input) Activity() string { return "Inspecting the context" }

// New returns the tool; report says what there is to see. Without it the tool is not offered.
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

// Package structured is the tool by which the model hands over its final answer as a value of a given
// shape. It checks the value and keeps it; when a turn is over, and who gets the value, is left to
// others.
package structured

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Name is what the model calls the tool.
const Name = "StructuredOutput"

// MaxTries is how many values that do not fit are one too many.
const MaxTries = 5

//go:embed structured.md
var doc string

//go:embed structured.zh.md
var chinese string

// An Output is the tool, and what it was given in the turn that runs. Until [Output.Expect] it is not
// offered. It is safe for concurrent use.
type Output struct {
	mu     sync.Mutex
	schema *Schema
	fixed  bool // a turn has begun: the schema stays
	value  json.RawMessage
	tries  int
	last   error // of the values that did not fit
}

// Expect says which shape the value has to have. Once a turn has begun it cannot be changed.
func (o *Output) Expect(s *Schema) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fixed && o.schema != s {
		return errors.New("the schema of the output cannot be changed after the first turn")
	}
	o.schema = s
	return nil
}

// Begin says that a turn begins, and reports whether it has to end in a value.
func (o *Output) Begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.value, o.tries, o.last, o.fixed = nil, 0, nil, true
	return o.schema != nil
}

// Value returns what the model handed over in this turn, or nil. The error says what is wrong with the
// value that was one too many.
func (o *Output) Value() (json.RawMessage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.value == nil && o.tries >= MaxTries {
		return nil, fmt.Errorf("%d values did not fit the schema; the last one: %w", o.tries, o.last)
	}
	return o.value, nil
}

// take checks a value and keeps it if it fits.
func (o *Output) take(value json.RawMessage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.schema == nil {
		return errNotWanted
	}
	if err := o.schema.Check(value); err != nil {
		o.tries++
		o.last = err
		return err
	}
	o.value = value
	return nil
}

var errNotWanted = errors.New("no structured output was asked for; answer in text")

// Spec implements [tool.Tool].
func (o *Output) Spec() msg.ToolSpec {
	spec := msg.ToolSpec{Name: Name, Description: strings.TrimSpace(doc), Schema: json.RawMessage(`{"type":"object"}`)}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.schema != nil {
		spec.Schema = o.schema.source
	}
	return spec
}

// Traits implements [tool.Tool].
func (o *Output) Traits() tool.Traits {
	return tool.Traits{
		Hint: "return the final answer as checked JSON", AlwaysLoad: true, Translate: tool.InChinese(chinese),
		Enabled: func() error {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.schema == nil {
				return errNotWanted
			}
			return nil
		},
	}
}

// Bind implements [tool.Tool]. Whether the value fits is found out when the call runs: a value that
// does not fit counts.
func (o *Output) Bind(input json.RawMessage) (tool.Call, error) {
	return &call{o, Input{input}}, nil
}

// Input is the value as the model wrote it.
type Input struct{ value json.RawMessage }

// MarshalJSON returns the value itself.
func (in Input) MarshalJSON() ([]byte, error) { return in.value, nil }

// The call touches nothing.
func (Input) ReadOnly() bool        { return true }
func (Input) OpenWorld() bool       { return false }
func (Input) Access() []tool.Access { return []tool.Access{} }
func (Input) Title() string         { return "Hand over the answer" }

type call struct {
	o  *Output
	in Input
}

func (c *call) Input() any { return c.in }

func (c *call) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	if err := c.o.take(c.in.value); err != nil {
		return tool.Result{}, err
	}
	r := tool.Text("The value was received. There is nothing more to do.")
	r.Structured = c.in
	return r, nil
}

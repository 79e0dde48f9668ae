// Package structured implements the tool with which the model delivers its final answer as a
// value that matches a schema.
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

// Name is the tool's name.
const Name = "StructuredOutput"

// MaxTries is the number of invalid values at which the turn fails.
const MaxTries = 5

//go:embed structured.md
var doc string

//go:embed structured.zh.md
var chinese string

// An Output is the tool, and the value delivered in the current turn. It is not offered before
// [Output.Expect]. It is safe for concurrent use.
type Output struct {
	mu     sync.Mutex
	schema *Schema
	fixed  bool // a turn has started: the schema cannot change
	value  json.RawMessage
	tries  int
	last   error // error of the last invalid value
}

// Expect sets the schema of the value. It cannot be changed once a turn has started.
func (o *Output) Expect(s *Schema) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fixed && o.schema != s {
		return errors.New("the schema of the output cannot be changed after the first turn")
	}
	o.schema = s
	return nil
}

// Begin starts a turn, and reports whether the turn has to produce a value.
func (o *Output) Begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.value, o.tries, o.last, o.fixed = nil, 0, nil, true
	return o.schema != nil
}

// Value returns the value delivered in this turn, or nil. After MaxTries invalid values, the
// error describes the last one.
func (o *Output) Value() (json.RawMessage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.value == nil && o.tries >= MaxTries {
		return nil, fmt.Errorf("%d values did not fit the schema; the last one: %w", o.tries, o.last)
	}
	return o.value, nil
}

// take validates a value and stores it if it is valid.
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

var errNotWanted = errors.New("this session expects no structured output; answer in text")

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
		Hint: "return the final answer as checked JSON", Core: true, Background: true, Translate: tool.InChinese(chinese),
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

// Bind implements [tool.Tool]. The value is validated when the call runs, so that an invalid
// value counts as a try.
func (o *Output) Bind(input json.RawMessage) (tool.Call, error) {
	return &call{o, Input{input}}, nil
}

// Input is the value as the model wrote it.
type Input struct{ value json.RawMessage }

// MarshalJSON returns the value itself.
func (in Input) MarshalJSON() ([]byte, error) { return in.value, nil }

// The call accesses nothing.
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

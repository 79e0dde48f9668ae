package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"adze/internal/msg"
	"adze/internal/tool/schema"
)

// A Forwarder is a tool that forwards its uses to another tool, named in its input. The
// executor follows it: from there on the use belongs to the other tool, and only the model's
// own block shows the original.
type Forwarder interface {
	Tool
	// Forward returns the tool named in an input, as the model wrote it, and that tool's input.
	// It is pure, and its error is shown to the model.
	Forward(input json.RawMessage) (name string, params json.RawMessage, err error)
}

// NewForwarder returns a tool that passes the object "params" of its input to the tool named in
// "tool_name".
func NewForwarder(d Def) Forwarder {
	if err := CheckName(d.Name); err != nil {
		panic("tool.NewForwarder: " + err.Error())
	}
	return &forwarder{def: d}
}

type forwarder struct{ def Def }

func (f *forwarder) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: f.def.Name, Description: f.def.Doc, Schema: f.def.Schema, Strict: f.def.Strict}
}

func (f *forwarder) Traits() Traits { return f.def.Traits }

// Bind always fails: the tool named in the input is bound instead.
func (f *forwarder) Bind(input json.RawMessage) (Call, error) {
	if _, _, err := f.Forward(input); err != nil {
		return nil, err
	}
	return nil, errors.New(f.def.Name + " runs nothing by itself")
}

// forwarded returns the schemas of an input that names a tool, with and without params.
var forwarded = sync.OnceValues(func() (with, without *schema.Schema) {
	const properties = `{"type":"object","properties":{"tool_name":{"type":"string","minLength":1},"params":{}},"additionalProperties":false,"required":[`
	read := func(text string) *schema.Schema {
		s, err := schema.Parse(json.RawMessage(text))
		if err != nil {
			panic("tool: " + err.Error()) // constant, so it cannot fail
		}
		return s
	}
	return read(properties + `"tool_name","params"]}`), read(properties + `"tool_name"]}`)
})

// Forward parses an input. Params given as a JSON string containing an object count as the
// object, and missing params as an empty object; the target tool validates them.
func (f *forwarder) Forward(input json.RawMessage) (string, json.RawMessage, error) {
	with, without := forwarded()
	fixed, err := without.Check(input)
	for _, s := range []*schema.Schema{with, without} {
		if err == nil {
			break
		}
		if repaired, ok := s.Repair(input, otherForwards); ok {
			if again, unfit := without.Check(repaired); unfit == nil {
				fixed, err = again, nil
			}
		}
	}
	if err != nil {
		return "", nil, &InputError{fmt.Errorf("invalid input for %s: %w", f.def.Name, err)}
	}
	var in struct {
		Name   string          `json:"tool_name"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(fixed, &in); err != nil {
		return "", nil, &InputError{fmt.Errorf("invalid input for %s: %s", f.def.Name, decodeError(err))}
	}
	switch params := bytes.TrimSpace(in.Params); {
	case len(params) == 0 || string(params) == "null":
		in.Params = json.RawMessage("{}")
	case params[0] == '"':
		var text string
		var object map[string]json.RawMessage
		if json.Unmarshal(params, &text) == nil && json.Unmarshal([]byte(text), &object) == nil && object != nil {
			in.Params = json.RawMessage(text)
		}
	}
	return in.Name, in.Params, nil
}

// otherForwards returns alternative field names that models use.
func otherForwards(field string) []string {
	switch field {
	case "tool_name":
		return []string{"name", "tool"}
	case "params":
		return []string{"parameters", "arguments", "args", "input", "tool_input"}
	}
	return nil
}

// Forwarders maps names and aliases to forwarding tools.
type Forwarders map[string]Forwarder

// ForwardersOf returns the forwarders among tools.
func ForwardersOf(tools []Tool) Forwarders {
	all := Forwarders{}
	for _, t := range tools {
		if f, ok := t.(Forwarder); ok {
			all[f.Spec().Name] = f
			for _, alias := range f.Traits().Aliases {
				all[alias] = f
			}
		}
	}
	return all
}

// See returns a forwarded use as a use of the target tool, with the same ID, under the name
// that the model wrote. Any other use is returned unchanged.
func (f Forwarders) See(u *msg.ToolUse) *msg.ToolUse {
	by := f[u.Name]
	if by == nil || u.Malformed != "" {
		return u
	}
	name, params, err := by.Forward(u.Input)
	if err != nil {
		return u
	}
	return &msg.ToolUse{ID: u.ID, Name: name, Input: params}
}

// A Target is the tool that a use reaches, with its input.
type Target struct {
	Tool  Tool   // nil if the tool does not exist or cannot be called
	Name  string // canonical name, or the model's if the tool does not exist
	Input json.RawMessage
	// By is the tool that forwarded the use; nil if the model named the target itself.
	By Forwarder
}

// Target follows a use to the tool that it reaches. The error is the reason it cannot be
// forwarded.
func (p *Pool) Target(u *msg.ToolUse) (Target, error) {
	to := Target{Name: p.Canonical(u.Name), Input: u.Input}
	var err error
	if by := p.forwarders[to.Name]; by != nil && u.Malformed == "" {
		var name string
		var params json.RawMessage
		if name, params, err = by.Forward(u.Input); err == nil {
			to = Target{Name: p.Canonical(name), Input: params, By: by}
		}
	}
	to.Tool = p.tools[to.Name]
	return to, err
}

// Forwarded returns u as a use of the tool that it reaches, with the same ID, for users, hooks
// and logs. A direct use is returned unchanged.
func (p *Pool) Forwarded(u *msg.ToolUse) *msg.ToolUse {
	name := p.Canonical(u.Name)
	if p.forwarders[name] == nil {
		return u
	}
	named := *u
	named.Name = name
	seen := p.forwarders.See(&named)
	if seen == &named {
		return u
	}
	seen.Name = p.Canonical(seen.Name)
	return seen
}

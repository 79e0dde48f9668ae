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

// A Forwarder is a tool whose uses are uses of another tool, which its input names. The executor follows it: from
// there on everything about the use is the other tool's, and only the model's own block says otherwise.
type Forwarder interface {
	Tool
	// Forward returns the tool that an input names, as the model wrote it, and the input for it. It is pure, and its
	// error is shown to the model.
	Forward(input json.RawMessage) (name string, params json.RawMessage, err error)
}

// NewForwarder returns a tool that forwards to the tool "tool_name" of its input the object "params".
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

// Bind fails: what is bound is the tool that the input names.
func (f *forwarder) Bind(input json.RawMessage) (Call, error) {
	if _, _, err := f.Forward(input); err != nil {
		return nil, err
	}
	return nil, errors.New(f.def.Name + " runs nothing by itself")
}

// forwarded are the schemas of an input that names a tool, with its params and without.
var forwarded = sync.OnceValues(func() (with, without *schema.Schema) {
	const properties = `{"type":"object","properties":{"tool_name":{"type":"string","minLength":1},"params":{}},"additionalProperties":false,"required":[`
	read := func(text string) *schema.Schema {
		s, err := schema.Parse(json.RawMessage(text))
		if err != nil {
			panic("tool: " + err.Error()) // it is constant
		}
		return s
	}
	return read(properties + `"tool_name","params"]}`), read(properties + `"tool_name"]}`)
})

// Forward reads an input. Params that are an object as a JSON string count as the object, and absent ones as an
// empty object; whether others fit is for the tool to say.
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

// otherForwards returns what models write in place of a field.
func otherForwards(field string) []string {
	switch field {
	case "tool_name":
		return []string{"name", "tool"}
	case "params":
		return []string{"parameters", "arguments", "args", "input", "tool_input"}
	}
	return nil
}

// Forwarders are the tools that forward uses, by their names and aliases.
type Forwarders map[string]Forwarder

// ForwardersOf returns those among tools.
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

// See returns a use as a use of the tool that it was forwarded to, with the same id, under the name that the model
// wrote. Any other use is returned as it is.
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

// A Target is the tool that a use reaches, and the input that it gets.
type Target struct {
	Tool  Tool   // nil if there is none that can be called
	Name  string // that rules and the log use, or the one that the model wrote if there is no such tool
	Input json.RawMessage
	// By is the tool that forwarded the use; nil if the model named the target itself.
	By Forwarder
}

// Target follows a use to the tool that it reaches. The error says why what forwards it cannot.
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

// Forwarded returns u as a use of the tool that it reaches, with the same id: what users, hooks and logs are to see
// of it. A use of a tool by its own name is returned as it is.
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

package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// parameters returns a tool's schema in the form that the service accepts, or nothing for a
// tool without input. It returns an error if the schema cannot be expressed.
func parameters(schema []byte, openAPI bool) ([]byte, error) {
	if len(bytes.TrimSpace(schema)) == 0 {
		return nil, nil
	}
	ms, err := wire.Members(schema)
	if err != nil {
		return nil, fmt.Errorf("the schema is %w", err)
	}
	if v := find(ms, "type"); v != nil && !jsonscan.Is(v, "object") {
		return nil, errors.New("the schema is not that of an object")
	}
	if !openAPI {
		return schema, nil
	}
	n := normalizer{defs: map[string][]byte{}}
	for _, place := range []string{"$defs", "definitions"} {
		defs, err := wire.Members(find(ms, place))
		if err != nil {
			continue // no definitions
		}
		for _, d := range defs {
			n.defs["#/"+place+"/"+d.Name] = d.Value
		}
	}
	out, err := n.schema(schema, nil)
	if err != nil {
		return nil, err
	}
	if top, _ := wire.Members(out); find(top, "properties") == nil { // ok: valid JSON
		return nil, nil // an object without properties is rejected
	}
	return out, nil
}

func find(ms []wire.Member, name string) []byte {
	for _, m := range ms {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// A normalizer converts JSON Schema to the OpenAPI subset that older servers support:
// references are resolved, alternatives become anyOf, and other keywords move to the
// description.
type normalizer struct{ defs map[string][]byte }

// kept lists the keywords that are the same in both.
var kept = []string{
	"title", "enum", "maxItems", "minItems", "required", "minProperties", "maxProperties", "minLength", "maxLength",
	"pattern", "minimum", "maximum", "propertyOrdering", "nullable",
}

// silent lists keywords that are irrelevant to a model.
var silent = []string{"$schema", "$id", "$defs", "definitions", "$comment", "additionalProperties", "default", "examples", "$ref", "description", "type"}

// schema returns raw, normalized. refs holds the references that led to it.
func (n normalizer) schema(raw []byte, refs []string) ([]byte, error) {
	switch strings.TrimSpace(string(raw)) {
	case "true", "{}":
		return []byte("{}"), nil
	case "false":
		return nil, errors.New("the schema has a part that nothing fits")
	}
	ms, err := wire.Members(raw)
	if err != nil {
		return nil, fmt.Errorf("the schema is %w", err)
	}
	if ref, ok := jsonscan.String(find(ms, "$ref")); ok {
		if slices.Contains(refs, ref) {
			return nil, fmt.Errorf("the schema refers to itself by %s", ref)
		}
		target, ok := n.defs[ref]
		if !ok {
			return nil, fmt.Errorf("the schema refers to %s, which is not in it", ref)
		}
		refs = append(slices.Clone(refs), ref)
		inner, err := wire.Members(target)
		if err != nil {
			return nil, fmt.Errorf("the schema is %w", err)
		}
		for _, m := range ms { // siblings of a reference extend it
			if m.Name != "$ref" {
				inner = wire.SetMember(slices.Clone(inner), m.Name, m.Value)
			}
		}
		return n.object(inner, refs)
	}
	return n.object(ms, refs)
}

func (n normalizer) object(ms []wire.Member, refs []string) ([]byte, error) {
	var out []wire.Member
	var said []string
	add := func(name string, value []byte) { out = wire.SetMember(out, name, value) }
	if err := n.kind(find(ms, "type"), ms, refs, add); err != nil {
		return nil, err
	}
	for _, m := range ms {
		var err error
		switch {
		case slices.Contains(silent, m.Name):
		case m.Name == "enum" && !allStrings(m.Value), m.Name == "format" && !knownFormat(m.Value):
			said = append(said, m.Name+": "+string(m.Value))
		case slices.Contains(kept, m.Name) || m.Name == "format":
			add(m.Name, m.Value)
		case m.Name == "const":
			if jsonscan.IsNull(m.Value) || m.Value[0] != '"' {
				said = append(said, "always "+string(m.Value))
				break
			}
			add("enum", slices.Concat([]byte("["), m.Value, []byte("]")))
			add("type", []byte(`"string"`))
		case m.Name == "properties":
			err = n.properties(m.Value, refs, add)
		case m.Name == "items":
			var inner []byte
			if inner, err = n.schema(m.Value, refs); err == nil {
				add("items", inner)
			}
		case m.Name == "anyOf" || m.Name == "oneOf":
			err = n.anyOf(m.Value, refs, add)
		default:
			said = append(said, m.Name+": "+string(m.Value))
		}
		if err != nil {
			return nil, err
		}
	}
	if jsonscan.Is(find(out, "type"), "object") && empty(find(out, "properties")) { // rejected by the service
		add("type", []byte(`"string"`))
		said = append(said, "a JSON object as text")
		out = slices.DeleteFunc(out, func(m wire.Member) bool { return m.Name == "properties" || m.Name == "required" })
	}
	about, _ := jsonscan.String(find(ms, "description")) // ok: empty if missing
	if len(said) > 0 {
		about = strings.TrimSpace(about + " (" + strings.Join(said, "; ") + ")")
	}
	if about != "" {
		add("description", msg.AppendString(nil, about))
	}
	return append(wire.Options(out), '}'), nil
}

// empty reports whether an object has no members.
func empty(object []byte) bool {
	ms, err := wire.Members(object)
	return err != nil || len(ms) == 0
}

// kind adds the type. A list of types becomes a nullable type or alternatives.
func (n normalizer) kind(value []byte, ms []wire.Member, refs []string, add func(string, []byte)) error {
	if jsonscan.IsNull(value) {
		if find(ms, "properties") != nil {
			add("type", []byte(`"object"`))
		}
		return nil
	}
	if value[0] == '"' {
		if jsonscan.Is(value, "null") {
			add("nullable", []byte("true"))
			return nil
		}
		add("type", value)
		return nil
	}
	var types [][]byte
	null := false
	if err := jsonscan.List(value, func(v []byte) error {
		if null = null || jsonscan.Is(v, "null"); !jsonscan.Is(v, "null") {
			types = append(types, v)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("the schema has a type that is %w", err)
	}
	if null {
		add("nullable", []byte("true"))
	}
	if len(types) == 1 {
		add("type", types[0])
		return nil
	}
	list := []byte("[")
	for i, t := range types {
		if i > 0 {
			list = append(list, ',')
		}
		list = slices.Concat(list, []byte(`{"type":`), t, []byte("}"))
	}
	return n.anyOf(append(list, ']'), refs, add)
}

func (n normalizer) properties(value []byte, refs []string, add func(string, []byte)) error {
	props, err := wire.Members(value)
	if err != nil {
		return fmt.Errorf("the schema has properties that are %w", err)
	}
	for i := range props {
		if props[i].Value, err = n.schema(props[i].Value, refs); err != nil {
			return err
		}
	}
	if len(props) > 0 {
		add("properties", append(wire.Options(props), '}'))
	}
	return nil
}

// anyOf adds alternatives. If one is null, the others become nullable.
func (n normalizer) anyOf(value []byte, refs []string, add func(string, []byte)) error {
	var all [][]byte
	err := jsonscan.List(value, func(v []byte) error {
		if ms, err := wire.Members(v); err == nil && jsonscan.Is(find(ms, "type"), "null") {
			add("nullable", []byte("true"))
			return nil
		}
		inner, err := n.schema(v, refs)
		all = append(all, inner)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(all) == 1:
		ms, _ := wire.Members(all[0]) // ok: valid JSON
		for _, m := range ms {
			add(m.Name, m.Value)
		}
	case len(all) > 1:
		add("anyOf", slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]")))
	}
	return nil
}

// allStrings reports whether a list contains only strings.
func allStrings(list []byte) bool {
	err := jsonscan.List(list, func(v []byte) error {
		if v[0] != '"' {
			return errors.New("no string")
		}
		return nil
	})
	return err == nil
}

// knownFormat reports whether the service accepts a format.
func knownFormat(value []byte) bool {
	f, _ := jsonscan.String(value) // ok: a non-string is not known
	return slices.Contains([]string{"date-time", "enum", "int32", "int64", "float", "double"}, f)
}

package mcptool

import (
	"bytes"
	"encoding/json"
	"slices"

	"adze/internal/tool/schema/draft"
)

// maxTidied is the maximum size of a schema that is rewritten, in bytes.
const maxTidied = 512 << 10

// tidy returns a schema in which properties with defaults are not required: generators list
// such properties, and servers fill them in. Everything else is unchanged, in the same order.
// Invalid JSON is returned unchanged.
func tidy(schema json.RawMessage) json.RawMessage {
	if len(schema) > maxTidied || draft.Deep(schema) || !bytes.Contains(schema, []byte(`"default"`)) || !bytes.Contains(schema, []byte(`"required"`)) {
		return schema
	}
	if fresh, ok := rewrite(schema); ok {
		return fresh
	}
	return schema
}

// unversioned removes a schema's version identifier, which is useless to a model.
func unversioned(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"$schema"`)) {
		return schema
	}
	all, ok := members(schema)
	if !ok {
		return schema
	}
	return object(slices.DeleteFunc(all, func(m member) bool { return m.key == "$schema" }))
}

// A member is a member of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of a JSON object, in order.
func members(data json.RawMessage) ([]member, bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	var all []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		m := member{key: key.(string)}
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// object encodes members as a JSON object.
func object(all []member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(m.key) // ok: a string always marshals
		out = append(append(append(out, key...), ':'), m.value...)
	}
	return append(out, '}')
}

// rewrite applies tidy to a schema and its subschemas.
func rewrite(schema json.RawMessage) (json.RawMessage, bool) {
	all, ok := members(schema)
	if !ok {
		return nil, false
	}
	var filled []string
	for i, m := range all {
		switch m.key {
		case "properties", "$defs", "definitions", "patternProperties":
			inner, ok := members(m.value)
			if !ok {
				continue
			}
			for j, p := range inner {
				if fresh, ok := rewrite(p.value); ok {
					inner[j].value = fresh
				}
				if own, ok := members(p.value); ok && m.key == "properties" && slices.ContainsFunc(own, func(m member) bool { return m.key == "default" }) {
					filled = append(filled, p.key)
				}
			}
			all[i].value = object(inner)
		case "items", "additionalProperties", "not":
			if fresh, ok := rewrite(m.value); ok {
				all[i].value = fresh
			}
		case "anyOf", "oneOf", "allOf":
			var list []json.RawMessage
			if json.Unmarshal(m.value, &list) != nil {
				continue
			}
			for j, s := range list {
				if fresh, ok := rewrite(s); ok {
					list[j] = fresh
				}
			}
			all[i].value, _ = json.Marshal(list) // ok: its elements were JSON
		}
	}
	for i, m := range all {
		var names []string
		if m.key != "required" || json.Unmarshal(m.value, &names) != nil {
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(filled, name) })
		all[i].value, _ = json.Marshal(append([]string{}, names...)) // ok: strings always marshal
	}
	return object(all), true
}

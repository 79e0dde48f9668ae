package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// Repair returns the intended form of an input that s refuses, if it is unambiguous. An unknown
// field is renamed to a missing field, required ones first, if their names differ only in case
// and separators, or if others lists it as an alternative name. A null for an optional,
// non-nullable field counts as absent. Repair does not check the result.
func (s *Schema) Repair(input json.RawMessage, others func(field string) []string) (repaired json.RawMessage, ok bool) {
	v, err := read(input)
	if err != nil || v.kind != object || !s.closed {
		return nil, false
	}
	r := repairer{input: input, others: others}
	out, ok := r.object(nil, s, v)
	return out, ok && r.changed
}

// A repairer copies an input and repairs its field names.
type repairer struct {
	input   []byte
	others  func(field string) []string
	changed bool
}

// object appends v with its fields named as in s. It returns false if that is ambiguous.
func (r *repairer) object(out []byte, s *Schema, v value) ([]byte, bool) {
	var missing, absent []string
	for _, p := range s.properties {
		if _, there := v.field(p.name); there {
			continue
		}
		if slices.Contains(s.required, p.name) {
			missing = append(missing, p.name)
		} else {
			absent = append(absent, p.name)
		}
	}
	out = append(out, '{')
	for i, f := range v.fields {
		key, sub := f.key, s.property(f.key)
		switch {
		case f.repeated:
			return nil, false
		case sub == nil:
			if key = meant(f.key, missing, r.others); key == "" {
				key = meant(f.key, absent, r.others)
			}
			if key == "" {
				return nil, false
			}
			is := func(name string) bool { return name == key }
			missing, absent = slices.DeleteFunc(missing, is), slices.DeleteFunc(absent, is)
			sub, r.changed = s.property(key), true
		case f.kind == null && sub.kinds != 0 && sub.kinds&null == 0 && !slices.Contains(s.required, f.key):
			r.changed = true
			continue
		}
		if i > 0 && out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		name, _ := json.Marshal(key) // ok: a string always marshals
		out = append(append(out, name...), ':')
		var ok bool
		if out, ok = r.value(out, sub, f.value); !ok {
			return nil, false
		}
	}
	return append(out, '}'), len(missing) == 0
}

// value appends v, repairing the objects in a list.
func (r *repairer) value(out []byte, s *Schema, v value) ([]byte, bool) {
	if v.kind != array || s.items == nil || !s.items.closed {
		return append(out, v.raw(r.input)...), true
	}
	out = append(out, '[')
	for i, item := range v.items {
		if i > 0 {
			out = append(out, ',')
		}
		if item.kind != object {
			out = append(out, item.raw(r.input)...)
			continue
		}
		var ok bool
		if out, ok = r.object(out, s.items, item); !ok {
			return nil, false
		}
	}
	return append(out, ']'), true
}

// meant returns the field that key refers to, or "" if that is ambiguous or unknown.
func meant(key string, fields []string, others func(field string) []string) string {
	found := ""
	for _, name := range fields {
		plain := func(other string) bool { return letters(other) == letters(key) }
		if !plain(name) && !slices.ContainsFunc(others(name), plain) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// letters returns a name in lower case without separators.
func letters(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

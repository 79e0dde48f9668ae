package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// Repair returns an input that s refuses in the form that was meant, if there is only one. A field that s does not
// know becomes a required one that is missing if their names differ in case and separators only, or if
// others lists it among the names that others use; and a null for a field that is not required and may not be null
// counts as its absence. It does not check the outcome.
func (s *Schema) Repair(input json.RawMessage, others func(field string) []string) (repaired json.RawMessage, ok bool) {
	v, err := read(input)
	if err != nil || v.kind != object || !s.closed {
		return nil, false
	}
	var missing []string
	for _, name := range s.required {
		if _, there := v.field(name); !there {
			missing = append(missing, name)
		}
	}
	out := []byte{'{'}
	for _, f := range v.fields {
		key, sub := f.key, s.property(f.key)
		switch {
		case f.repeated:
			return nil, false
		case sub == nil:
			if key = meant(f.key, missing, others); key == "" {
				return nil, false
			}
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == key })
			ok = true
		case f.kind == null && sub.kinds != 0 && sub.kinds&null == 0 && !slices.Contains(s.required, f.key):
			ok = true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(key) // ok: a string always marshals
		out = append(append(append(out, name...), ':'), f.raw(input)...)
	}
	return append(out, '}'), ok && len(missing) == 0
}

// meant returns the one of fields that key stands for, or nothing if there is none or more than one.
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

// letters returns a name without case and separators.
func letters(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/platform/fs/scope"
)

// Bool returns the value of a boolean key. Like the other getters, it panics if no such key of
// that kind is declared.
func (s *Settings) Bool(id string) bool { return get[bool](s, id) }

// Int returns the value of an integer key, or 0 if unset.
func (s *Settings) Int(id string) int { return get[int](s, id) }

// Float returns the value of a number key, or 0 if unset.
func (s *Settings) Float(id string) float64 { return get[float64](s, id) }

// Text returns the value of a string key, or "" if unset.
func (s *Settings) Text(id string) string { return get[string](s, id) }

// Strings returns the value of a key that holds strings, rules or directories. The caller must
// not modify it.
func (s *Settings) Strings(id string) []string { return get[[]string](s, id) }

// Object returns the value of an object key, or nil if unset.
func (s *Settings) Object(id string) json.RawMessage { return get[json.RawMessage](s, id) }

func get[T any](s *Settings, id string) T {
	v, ok := s.values[id].v.(T)
	if !ok {
		panic(fmt.Sprintf("config: no key %q of type %T is declared", id, v))
	}
	return v
}

// Origin returns the source of a key's value, or "" for its default.
func (s *Settings) Origin(id string) string { return s.values[id].origin }

// ScopeOf returns the scope of the file that sets a key, directly or through env. It reports
// false if the value does not come from a file.
func (s *Settings) ScopeOf(id string) (scope.Scope, bool) {
	v := s.values[id]
	return v.scope, v.file
}

// Key returns the declaration of the key with this name or alias.
func (s *Settings) Key(name string) (Key, bool) {
	k, ok := s.keys[name]
	if !ok {
		return Key{}, false
	}
	return *k, true
}

// JSON returns a key's value as it would be written in a file, or null if unset.
func (s *Settings) JSON(id string) json.RawMessage {
	v := s.values[id]
	switch x := v.v.(type) {
	case json.RawMessage:
		if x != nil {
			return x
		}
	case []string:
		if x != nil {
			return marshal(x)
		}
	case string:
		if x != "" || v.origin != "" {
			return marshal(x)
		}
	default:
		if k := s.keys[id]; k != nil && (v.origin != "" || k.Default != "") {
			return marshal(x)
		}
	}
	return json.RawMessage("null")
}

// marshal encodes a value that is known to be valid, without HTML escaping.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("config: %v", err))
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// A Part is one file's value for a key.
type Part struct {
	Scope        scope.Scope
	File         string
	Dir          string // base directory for relative paths
	Line, Column int
	JSON         json.RawMessage // comments removed
}

// Parts returns the files' effective values at a path, declared or not, lowest precedence
// first.
func (s *Settings) Parts(path string) []Part { return s.parts[path] }

// A Var is an environment variable for programs that adze starts.
type Var struct {
	Name, Value string
	Scope       scope.Scope

	where string
	own   bool // set by the user or an administrator, so it also applies to adze itself
}

// Outdone returns messages about variables that are overridden by a synonymous variable with
// another value.
func (s *Settings) Outdone() []string { return s.outdone }

// Env returns the variables from the settings, by name.
func (s *Settings) Env() []Var { return s.vars }

func shortened(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return text
}

// quoted formats a value for an error message.
func quoted(text string) string { return strconv.Quote(shortened(text)) }

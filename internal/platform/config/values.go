package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/platform/scope"
)

// Bool returns the value of a boolean key. Like the other getters it panics when no such key of that
// kind is declared: every key that is read is in the table.
func (s *Settings) Bool(id string) bool { return get[bool](s, id) }

// Int returns the value of an integer key, 0 if it has none.
func (s *Settings) Int(id string) int { return get[int](s, id) }

// Float returns the value of a number, 0 if it has none.
func (s *Settings) Float(id string) float64 { return get[float64](s, id) }

// Text returns the value of a text, empty if it has none.
func (s *Settings) Text(id string) string { return get[string](s, id) }

// Strings returns the value of a list of texts, rules or directories. The caller does not change it.
func (s *Settings) Strings(id string) []string { return get[[]string](s, id) }

// Object returns the value of an object, nil if it has none.
func (s *Settings) Object(id string) json.RawMessage { return get[json.RawMessage](s, id) }

func get[T any](s *Settings, id string) T {
	v, ok := s.values[id].v.(T)
	if !ok {
		panic(fmt.Sprintf("config: no key %q of type %T is declared", id, v))
	}
	return v
}

// Origin says where the value of a key comes from, or nothing for its default.
func (s *Settings) Origin(id string) string { return s.values[id].origin }

// ScopeOf says which scope the value of a key comes from, if it comes from a file, be it as a variable.
func (s *Settings) ScopeOf(id string) (scope.Scope, bool) {
	v := s.values[id]
	return v.scope, v.file
}

// Key returns the declaration of the key that has this name, or had it elsewhere.
func (s *Settings) Key(name string) (Key, bool) {
	k, ok := s.keys[name]
	if !ok {
		return Key{}, false
	}
	return *k, true
}

// JSON returns the value of a key as a file would have it, or null if it has none.
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

// marshal writes what is certainly JSON, without escapes that users do not expect.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("config: %v", err))
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// A Part is what one file says at a key.
type Part struct {
	Scope        scope.Scope
	File         string
	Dir          string // what paths in it are relative to
	Line, Column int
	JSON         json.RawMessage // without comments
}

// Parts returns what the files say at a path, declared or not, lowest first. What does not count is not
// in it.
func (s *Settings) Parts(path string) []Part { return s.parts[path] }

// A Var is a variable for the programs that adze starts.
type Var struct {
	Name, Value string
	Scope       scope.Scope

	where string
	own   bool // the user's or an administrator's: it holds for adze itself too
}

// Outdone says, in sentences, which variables do not count because another one of the same meaning says something else.
func (s *Settings) Outdone() []string { return s.outdone }

// Env returns the variables of the settings, by name.
func (s *Settings) Env() []Var { return s.vars }

func shortened(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return text
}

// quoted writes a text as an error shows it.
func quoted(text string) string { return strconv.Quote(shortened(text)) }

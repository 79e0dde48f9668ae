// Package config finds, merges and decodes settings. It knows how a setting is declared, not which
// ones there are: the composition root declares the keys, reads the values, and hands each part of
// the program its own. A wrong value never stops the program: it is reported, and the next best
// source counts.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Sources are where settings come from. Later fields win over earlier ones.
type Sources struct {
	// File is the user's settings file. It need not exist.
	File string
	// Extra is another file, or settings themselves as a JSON object; see --settings.
	Extra string
	// Getenv returns the value of a variable; an empty one counts as not set.
	Getenv func(name string) string

	// Closest returns up to n words of among that may have been meant by word. It may be nil.
	Closest func(word string, among []string, n int) []string
}

// A Warning says what is wrong with the settings, in a line for a person.
type Warning struct {
	Where string // file:line:column, a variable, or --settings
	Text  string
}

// String returns the line.
func (w Warning) String() string { return w.Where + ": " + w.Text }

// Settings are the values in force. It does not change and may be used from any goroutine.
type Settings struct {
	keys   map[string]*Key
	values map[string]value
	raw    map[string]json.RawMessage
}

type value struct {
	v      any
	origin string // empty for the default
}

// Load reads the sources and returns the value of every key, and what is wrong. It panics on keys
// that are declared wrongly.
func Load(src Sources, keys []Key) (*Settings, []Warning) {
	s := &Settings{
		keys:   make(map[string]*Key, len(keys)),
		values: make(map[string]value, len(keys)),
		raw:    map[string]json.RawMessage{},
	}
	for i := range keys {
		k := &keys[i]
		s.keys[k.ID()] = k
		s.values[k.ID()] = value{v: k.mustDefault()}
	}
	var warnings []Warning
	for _, read := range []func() (*document, error){
		func() (*document, error) { return readFile(src.File, true) },
		func() (*document, error) { return readExtra(src.Extra) },
	} {
		doc, err := read()
		if err != nil {
			warnings = append(warnings, Warning{doc.name, err.Error() + "; none of its settings are used"})
			continue
		}
		warnings = append(warnings, s.take(doc, src.Closest)...)
	}
	return s, append(warnings, s.takeEnv(keys, src.Getenv)...)
}

// readFile reads the settings file of that name. One that is missing is as good as an empty one if
// it is optional.
func readFile(name string, optional bool) (*document, error) {
	doc := &document{name: name}
	if name == "" {
		return doc, nil
	}
	data, err := os.ReadFile(name)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err // the name is said already
	}
	if err != nil {
		return doc, fmt.Errorf("cannot be read: %w", err)
	}
	return doc, doc.parse(data)
}

func readExtra(extra string) (*document, error) {
	if strings.HasPrefix(strings.TrimSpace(extra), "{") {
		doc := &document{name: "--settings"}
		return doc, doc.parse([]byte(extra))
	}
	return readFile(extra, false)
}

// take takes over the settings of a document.
func (s *Settings) take(doc *document, closest func(string, []string, int) []string) (warnings []Warning) {
	for _, m := range doc.members(s.branch) {
		k, known := s.keys[m.path]
		if m.path == "$schema" { // for editors
			continue
		}
		s.raw[m.path] = m.raw
		if !known {
			warnings = append(warnings, Warning{doc.at(m.offset), "there is no setting " + m.path + s.suggestion(m.path, closest)})
			continue
		}
		v, err := k.decode(m.raw)
		if err != nil {
			warnings = append(warnings, Warning{doc.at(m.offset), k.complaint(k.Name, string(m.raw), err)})
			continue
		}
		s.values[k.ID()] = value{v, doc.at(m.offset)}
	}
	return warnings
}

// branch reports whether settings lie below path, so that an object there is not a value.
func (s *Settings) branch(path string) bool {
	for _, k := range s.keys {
		if strings.HasPrefix(k.Name, path) && strings.HasPrefix(k.Name[len(path):], ".") {
			return true
		}
	}
	return false
}

func (s *Settings) suggestion(path string, closest func(string, []string, int) []string) string {
	const kept = "; it is kept but has no effect"
	if closest == nil {
		return kept
	}
	var names []string
	for _, k := range s.keys {
		if k.Name != "" {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	if near := closest(path, names, 1); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	return kept
}

// takeEnv takes over the environment: of each key the first variable that is set.
func (s *Settings) takeEnv(keys []Key, getenv func(string) string) (warnings []Warning) {
	if getenv == nil {
		return nil
	}
	for i := range keys {
		k := &keys[i]
		for _, name := range k.Env {
			text := getenv(name)
			if text == "" {
				continue
			}
			v, err := k.parse(text)
			if err != nil {
				warnings = append(warnings, Warning{name, k.complaint(name, text, err)})
				continue
			}
			s.values[k.ID()] = value{v, name}
			break
		}
	}
	return warnings
}

// Bool returns the value of a boolean key. Like the other getters it panics when no such key of that
// kind is declared: every key that is read is in the table.
func (s *Settings) Bool(id string) bool { return get[bool](s, id) }

// Int returns the value of an integer key, 0 if it has none.
func (s *Settings) Int(id string) int { return get[int](s, id) }

// Float returns the value of a number, 0 if it has none.
func (s *Settings) Float(id string) float64 { return get[float64](s, id) }

// Text returns the value of a text, empty if it has none.
func (s *Settings) Text(id string) string { return get[string](s, id) }

// Strings returns the value of a list of texts. The caller does not change it.
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

// Raw returns what the files say at a path, declared or not.
func (s *Settings) Raw(path string) (json.RawMessage, bool) {
	raw, ok := s.raw[path]
	return raw, ok
}

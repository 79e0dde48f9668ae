package skill

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Safe reports whether a skill requests nothing but to be read, so that it may be called
// without a prompt. Front matter fields not listed here are unsafe by default.
func Safe(h Head) bool {
	v := reflect.ValueOf(h)
	for i := range v.NumField() {
		switch v.Type().Field(i).Name {
		case "Title", "Description", "When", "Hint", "Arguments", "Version", // description
			"Hidden", "Manual", "Paths", // restrictions on its use
			"Model", "Effort", "Fork", "As": // how it is answered
			continue
		}
		if meaningful(v.Field(i)) {
			return false
		}
	}
	return true
}

// meaningful reports whether a field is set and is not an empty list or object.
func meaningful(v reflect.Value) bool {
	if raw, ok := v.Interface().(json.RawMessage); ok {
		switch strings.TrimSpace(string(raw)) {
		case "", "null", "{}", "[]", `""`:
			return false
		}
		return true
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	}
	return !v.IsZero()
}

// A Hook is one hook from front matter.
type Hook struct {
	Event, Matcher string
	Handler        json.RawMessage
}

// Hooks returns the hooks in an object keyed by event, ordered by event. Invalid hooks are
// omitted, as they are not run either.
func Hooks(data json.RawMessage) (all []Hook) {
	var events map[string][]struct {
		Matcher json.RawMessage   `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if len(data) == 0 || json.Unmarshal(data, &events) != nil {
		return nil
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		for _, group := range events[event] {
			var matcher string
			if json.Unmarshal(group.Matcher, &matcher) != nil {
				matcher = string(group.Matcher)
			}
			for _, h := range group.Hooks {
				all = append(all, Hook{event, matcher, h})
			}
		}
	}
	return all
}

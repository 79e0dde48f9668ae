package frontmatter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Hooks returns a value that holds hooks, as JSON in the form of settings: lists of groups by event, each with a matcher
// and hooks. It returns nil if there are none.
func Hooks(v Value) (json.RawMessage, error) {
	if v.Text == "" && len(v.List) == 0 && len(v.Fields) == 0 {
		return nil, nil
	}
	if v.Fields == nil {
		return nil, errors.New("expected events with hooks")
	}
	events := map[string][]map[string]any{}
	for _, event := range slices.Sorted(maps.Keys(v.Fields)) {
		for _, group := range v.Fields[event].List {
			g, ok := hookGroup(group.Fields)
			if !ok {
				return nil, fmt.Errorf("%s: expected groups of hooks, each with a list called hooks", short(event))
			}
			events[event] = append(events[event], g)
		}
		if len(v.Fields[event].List) == 0 {
			return nil, fmt.Errorf("%s: expected a list", short(event))
		}
	}
	return json.Marshal(events)
}

// short returns the beginning of a name that may be long.
func short(name string) string {
	const limit = 100
	if r := []rune(name); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return name
}

// hookGroup returns a group with a matcher and hooks, and reports whether it has what it needs.
func hookGroup(fields Fields) (map[string]any, bool) {
	list := fields["hooks"].List
	if len(list) == 0 {
		return nil, false
	}
	hooks := make([]any, len(list))
	for i, hook := range list {
		if hook.Fields["type"].Text == "" {
			return nil, false
		}
		h := map[string]any{}
		for name, v := range hook.Fields {
			h[name] = hookValue(name, v)
		}
		hooks[i] = h
	}
	group := map[string]any{}
	for name, v := range fields {
		group[name] = v.JSON(AsTexts)
	}
	group["hooks"] = hooks
	return group, true
}

// hookValue returns the value of a field of a hook. Front matter does not tell numbers and texts apart; the name of the
// field does.
func hookValue(name string, v Value) any {
	switch name {
	case "timeout", "once", "async", "asyncRewake", "asksUser", "input":
		return v.JSON(AsTyped)
	}
	return v.JSON(AsTexts)
}

package frontmatter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Hooks converts a value that holds hooks to JSON in the format of settings: lists of groups by
// event, each with a matcher and hooks. It returns nil if v is empty.
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

// short truncates a long name.
func short(name string) string {
	const limit = 100
	if r := []rune(name); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return name
}

// hookGroup returns a group with a matcher and hooks, and reports whether it is complete.
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

// hookValue returns the value of a hook's field. Front matter doesn't distinguish numbers from
// strings, so the field name decides.
func hookValue(name string, v Value) any {
	switch name {
	case "timeout", "once", "async", "asyncRewake", "asksUser", "input":
		return v.JSON(AsTyped)
	}
	return v.JSON(AsTexts)
}

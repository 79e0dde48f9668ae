package skill

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"adze/internal/platform/frontmatter"
)

// hooks returns a field that holds hooks, as JSON: lists of groups by event, each with a matcher and hooks. They run
// programs, so that ones that cannot be read disable the skill.
func (r *headReader) hooks(field string) json.RawMessage {
	v, _ := r.get(field)
	if v.Text == "" && len(v.List) == 0 && len(v.Fields) == 0 {
		return nil
	}
	if v.Fields == nil {
		r.fail(field, "expected events with hooks")
		return nil
	}
	events := map[string][]map[string]any{}
	for _, event := range slices.Sorted(maps.Keys(v.Fields)) {
		for _, group := range v.Fields[event].List {
			g, ok := hookGroup(group.Fields)
			if !ok {
				r.fail(field, "%s: expected groups of hooks, each with a list called hooks", cut(event, 100))
				return nil
			}
			events[event] = append(events[event], g)
		}
		if len(v.Fields[event].List) == 0 {
			r.fail(field, "%s: expected a list", cut(event, 100))
			return nil
		}
	}
	data, err := json.Marshal(events)
	if err != nil {
		r.fail(field, "%v", err)
		return nil
	}
	return data
}

// hookGroup returns a group with a matcher and hooks, and reports whether it has what it needs.
func hookGroup(fields frontmatter.Fields) (map[string]any, bool) {
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
		group[name] = jsonValue(v, false)
	}
	group["hooks"] = hooks
	return group, true
}

// hookValue returns the value of a field of a hook. Front matter does not tell numbers and texts apart; the name of the
// field does.
func hookValue(name string, v frontmatter.Value) any {
	switch name {
	case "timeout", "once", "async", "asyncRewake", "input":
		return jsonValue(v, true)
	}
	return jsonValue(v, false)
}

// jsonValue returns a value as JSON has it. With typed, texts that are numbers or booleans in JSON become that.
func jsonValue(v frontmatter.Value, typed bool) any {
	switch {
	case v.Fields != nil:
		object := map[string]any{}
		for name, item := range v.Fields {
			object[name] = jsonValue(item, typed)
		}
		return object
	case v.List != nil:
		list := make([]any, len(v.List))
		for i, item := range v.List {
			list[i] = jsonValue(item, typed)
		}
		return list
	case typed && v.Text != "" && strings.IndexByte("tf-0123456789", v.Text[0]) >= 0 && json.Valid([]byte(v.Text)):
		return json.RawMessage(v.Text)
	}
	return v.Text
}

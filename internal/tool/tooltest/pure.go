package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"adze/internal/tool"
)

// Pure checks that a call's capabilities are deterministic and leave the input unchanged.
func Pure(t *testing.T, call tool.Call) {
	t.Helper()
	for _, problem := range impure(call) {
		t.Error(problem)
	}
}

// impure queries every capability of a call twice and returns the problems. It queries the
// capabilities directly, so that a panic is not mistaken for the cautious answer.
func impure(call tool.Call) (problems []string) {
	input, err := json.Marshal(call.Input())
	if err != nil {
		return []string{err.Error()}
	}
	first, second := answers(call), answers(call)
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if !reflect.DeepEqual(first[name], second[name]) {
			problems = append(problems, fmt.Sprintf("%s answers %v, then %v", name, first[name], second[name]))
		}
	}
	for _, name := range []string{"Title", "Activity", "DisplayName", "Observe"} {
		if answer, ok := first[name]; ok && (answer == "" || answer == nil) {
			problems = append(problems, name+" answers nothing")
		}
	}
	if c := tool.CommandOf(call); c != nil && (c.Script == nil) == (c.Foreign == nil) {
		problems = append(problems, "a command has either a script or a foreign one")
	}
	if after, err := json.Marshal(call.Input()); err != nil || string(after) != string(input) {
		problems = append(problems, fmt.Sprintf("a capability changed the input to %s, from %s", after, input))
	}
	return problems
}

// answers returns the answers of a call's capabilities, by name.
func answers(call tool.Call) map[string]any {
	all := map[string]any{}
	ask(all, call, "Access", func(c tool.Accesser) any { return c.Access() })
	ask(all, call, "ReadOnly", func(c tool.ReadOnly) any { return c.ReadOnly() })
	ask(all, call, "Destructive", func(c tool.Destructive) any { return c.Destructive() })
	ask(all, call, "OpenWorld", func(c tool.OpenWorld) any { return c.OpenWorld() })
	ask(all, call, "Concurrent", func(c tool.Concurrent) any { return c.Concurrent() })
	ask(all, call, "Title", func(c tool.Titler) any { return c.Title() })
	ask(all, call, "Activity", func(c tool.Activity) any { return c.Activity() })
	ask(all, call, "Past", func(c tool.Past) any {
		verb, object := c.Past()
		return []string{verb, object}
	})
	ask(all, call, "DisplayName", func(c tool.Named) any { return c.DisplayName() })
	ask(all, call, "Path", func(c tool.Pather) any { return c.Path() })
	ask(all, call, "Paths", func(c tool.Locator) any {
		set, err := c.Paths("a")
		return []any{set.All, said(err)}
	})
	ask(all, call, "Fold", func(c tool.Folder) any { return c.Fold() })
	ask(all, call, "Validate", func(c tool.Validator) any { return said(c.Validate()) })
	ask(all, call, "Observe", func(c tool.Observer) any { return c.Observe() })
	ask(all, call, "NeedsPerson", func(c tool.UserOnly) any { return c.NeedsPerson() })
	ask(all, call, "Server", func(c tool.ServerCall) any { return c.Server() })
	ask(all, call, "StandsFor", func(c tool.AliasOf) any { return c.StandsFor() })
	ask(all, call, "Planning", func(c tool.Planning) any { return c.Planning() })
	ask(all, call, "Match", func(c tool.Matcher) any {
		ok, err := c.Match("x*")
		return []any{ok, said(err)}
	})
	ask(all, call, "Amend", func(c tool.Amender) any {
		input, err := json.Marshal(call.Input())
		if err != nil {
			return said(err)
		}
		amended, err := c.Amend(input)
		if err != nil {
			return said(err)
		}
		return amended.Input()
	})
	ask(all, call, "Draft", func(c tool.Drafter) any { return c.Draft() })
	ask(all, call, "Preview", func(c tool.Previewer) any {
		shown, err := c.Preview(context.Background())
		return []any{shown, said(err)}
	})
	ask(all, call, "Command", func(c tool.Commander) any { return c.Command() })
	ask(all, call, "of Command", func(c tool.Commander) any { return command(c.Command()) })
	return all
}

// command returns a command's properties.
func command(c *tool.Command) []any {
	all := []any{c.Line, said(c.Doubt), c.Warning, c.Leaves}
	if c.Edits != nil {
		all = append(all, c.Edits())
	}
	if f := c.Foreign; f != nil {
		text, ok := f.Suspected("x*")
		all = append(all, f.Dynamic, f.Mentions, f.Packs, f.Removes, f.Unsure, f.Suggest, text, ok, f.Covered([]string{"x*"}))
	}
	return all
}

// ask records the answer of a call's capability T, if present.
func ask[T any](all map[string]any, call tool.Call, name string, answer func(T) any) {
	if c, ok := tool.As[T](call); ok {
		all[name] = answer(c)
	}
}

// said returns an error's text, or "".
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

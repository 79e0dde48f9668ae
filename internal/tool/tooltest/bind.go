package tooltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"adze/internal/tool"
)

// bindIsPure passes arbitrary input to Bind. It must not panic, must be deterministic, must
// have no side effects, and the capabilities of accepted calls must behave the same way.
func bindIsPure(t *testing.T, tl tool.Tool, c Cases) {
	declared := parse(t, tl.Spec().Schema)
	var before []string
	if c.Dir != "" {
		before = snapshot(t, c.Dir)
	}
	started := processes()
	for name, input := range c.Good {
		call, err := tl.Bind(json.RawMessage(input))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Run(name, func(t *testing.T) { Pure(t, call) })
		t.Run(name+"/odd", func(t *testing.T) { oddTextsBind(t, tl, input) })
	}
	rapid.Check(t, func(t *rapid.T) {
		input := inputs(declared).Draw(t, "input")
		given := bytes.Clone(input)
		first, err := tl.Bind(input)
		second, again := tl.Bind(input)
		if !bytes.Equal(input, given) {
			t.Fatalf("binding made %s of %s", input, given)
		}
		if (err == nil) != (again == nil) || err != nil && err.Error() != again.Error() {
			t.Fatalf("bound twice: %v, then %v", err, again)
		}
		if err != nil {
			if err.Error() == "" || tool.IsFatal(err) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if !reflect.DeepEqual(first.Input(), second.Input()) {
			t.Fatalf("bound twice: %v, then %v", first.Input(), second.Input())
		}
		for _, problem := range speaks(tl.Spec().Name, first) {
			t.Fatal(problem)
		}
	})
	if c.Dir != "" {
		if diff := cmp.Diff(before, snapshot(t, c.Dir)); diff != "" {
			t.Errorf("binding changed files:\n%s", diff)
		}
	}
	if processes() != started {
		t.Error("a call started a process before it was run")
	}
}

// oddTextsBind puts each odd text into each string of a good input, one at a time.
func oddTextsBind(t *testing.T, tl tool.Tool, good string) {
	var object map[string]any
	if err := json.Unmarshal([]byte(good), &object); err != nil {
		t.Fatal(err)
	}
	for key, value := range object {
		if _, isText := value.(string); !isText {
			continue
		}
		for _, text := range oddTexts() {
			object[key] = text
			input, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			call, err := tl.Bind(input)
			if err != nil {
				continue
			}
			for _, problem := range speaks(tl.Spec().Name, call) {
				t.Errorf("%s: %s", input, problem)
			}
		}
		object[key] = value
	}
}

// speaks queries all of a call's capabilities and returns the problems.
func speaks(name string, call tool.Call) []string {
	problems := impure(call)
	for _, line := range []string{tool.TitleOf(name, call), tool.ActivityOf(name, call)} {
		if line != tool.OneLine(line, 80) {
			problems = append(problems, fmt.Sprintf("%q is not one short line", line))
		}
	}
	return problems
}

// oddTexts returns texts that a tool meets sooner or later.
func oddTexts() []string {
	return []string{"", " ", "\t\n", "\u200b", "a", "~/x", "../..", "/dev/zero", "a\x00b", "//host/x", "12", "true", "x.png", "ls | head"}
}

// inputs yields input that a model might write for the schema: mostly objects with its keys.
func inputs(s *jsonschema.Schema) *rapid.Generator[json.RawMessage] {
	keys := append(slices.Sorted(maps.Keys(s.Properties)), "xyzzy", "")
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		if rapid.IntRange(0, 9).Draw(t, "noise") == 9 {
			return json.RawMessage(rapid.String().Draw(t, "bytes"))
		}
		object := map[string]any{}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID).Draw(t, "keys") {
			object[key] = values(s.Properties[key]).Draw(t, key)
		}
		for _, key := range s.Required { // otherwise hardly anything would be accepted
			if _, ok := object[key]; !ok && rapid.IntRange(0, 3).Draw(t, "keep") > 0 {
				object[key] = values(s.Properties[key]).Draw(t, key)
			}
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return data
	})
}

// values yields values for a property, mostly of its type.
func values(s *jsonschema.Schema) *rapid.Generator[any] {
	text := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom(oddTexts()),
	).AsAny()
	wrong := rapid.OneOf(text, rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.Just[any]([]any{1}), rapid.Float64Range(-9, 9).AsAny())
	if s == nil {
		return wrong
	}
	right := wrong
	switch s.Type {
	case "string":
		right = text
	case "integer":
		right = rapid.IntRange(-2, 1000).AsAny()
	case "boolean":
		right = rapid.Bool().AsAny()
	}
	return rapid.OneOf(right, right, right, wrong)
}

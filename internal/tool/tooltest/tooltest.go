// Package tooltest tests the contract of tools: declarations are complete and agree with the
// code, binding is pure, results have the declared shape, and canceled calls end.
package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Cases holds the calls used to test a tool's contract.
type Cases struct {
	// Input is the zero value of the struct the tool's input is decoded into.
	Input any
	// Good holds inputs whose calls return a result, by name; at least one.
	Good map[string]string
	// Slow is an input whose call takes very long unless canceled; empty means none.
	Slow string
	// Dir is the directory the calls work in; binding must not change it.
	Dir string
}

// Limits on the data sent to the model with every request.
const (
	maxDoc    = 10_000
	maxSchema = 10_000
)

// Run tests the contract of tl.
func Run(t *testing.T, tl tool.Tool, c Cases) {
	t.Run("declares", func(t *testing.T) {
		for _, problem := range declares(tl) {
			t.Error(problem)
		}
	})
	t.Run("texts", func(t *testing.T) { Translated(t, tl) })
	t.Run("schema", func(t *testing.T) { schemaAgrees(t, tl, c.Input) })
	t.Run("bind", func(t *testing.T) { bindIsPure(t, tl, c) })
	t.Run("unknown", func(t *testing.T) { unknownKeys(t, tl, c) })
	for name, input := range c.Good {
		t.Run("result/"+name, func(t *testing.T) { result(t, tl, input) })
	}
	if c.Slow != "" {
		t.Run("cancel", func(t *testing.T) { cancelled(t, tl, c.Slow) })
	}
}

// declares returns the problems with a tool's fixed properties.
func declares(tl tool.Tool) (problems []string) {
	spec, traits := tl.Spec(), tl.Traits()
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if diff := cmp.Diff(spec, tl.Spec()); diff != "" {
		problem("the description changes:\n%s", diff)
	}
	for _, name := range append([]string{spec.Name}, traits.Aliases...) {
		if err := tool.CheckName(name); err != nil {
			problem("%v", err)
		}
	}
	if n := len(spec.Description); n == 0 || n > maxDoc || spec.Description != strings.TrimSpace(spec.Description) {
		problem("the description has %d bytes, or blank ends", n)
	}
	if n := len(strings.Fields(traits.Hint)); traits.Origin == "" && (n < 3 || n > 10) {
		problem("the hint %q has %d words, want 3 to 10", traits.Hint, n)
	}
	if traits.MaxChars < 0 || traits.MaxChars > 150_000 {
		problem("results are capped at %d characters", traits.MaxChars)
	}
	return problems
}

// strictOnly returns the keywords that providers do not accept in strict schemas.
func strictOnly() []string {
	return []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"}
}

func schemaAgrees(t *testing.T, tl tool.Tool, input any) {
	spec := tl.Spec()
	var compact bytes.Buffer
	if err := json.Compact(&compact, spec.Schema); err != nil || !bytes.Equal(compact.Bytes(), spec.Schema) {
		t.Errorf("the schema is not compact JSON: %v", err)
	}
	if len(spec.Schema) > maxSchema {
		t.Errorf("the schema has %d bytes", len(spec.Schema))
	}
	if spec.Strict {
		for _, keyword := range strictOnly() {
			if bytes.Contains(spec.Schema, []byte(`"`+keyword+`":`)) {
				t.Errorf("a strict schema cannot have %s", keyword)
			}
		}
	}
	declared := parse(t, spec.Schema)
	derived, err := jsonschema.ForType(reflect.TypeOf(input), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outline(derived), outline(declared)); diff != "" {
		t.Errorf("the schema and the struct disagree (-struct +schema):\n%s", diff)
	}
	for name, property := range declared.Properties {
		if property.Description == "" {
			t.Errorf("%s is not described", name)
		}
	}
}

func parse(t *testing.T, source json.RawMessage) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(source, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// A shape is the common description of a schema and a Go type.
type shape struct {
	Kind     string
	Fields   map[string]shape
	Required []string
	Closed   bool
	Items    *shape
}

func outline(s *jsonschema.Schema) shape {
	o := shape{Kind: s.Type, Required: slices.Sorted(slices.Values(s.Required))}
	for _, kind := range s.Types { // a pointer means the value or null
		if kind != "null" {
			o.Kind = kind
		}
	}
	if o.Kind == "object" {
		o.Closed = s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
		o.Fields = map[string]shape{}
		for name, p := range s.Properties {
			o.Fields[name] = outline(p)
		}
	}
	if s.Items != nil {
		items := outline(s.Items)
		o.Items = &items
	}
	return o
}

func unknownKeys(t *testing.T, tl tool.Tool, c Cases) {
	for name, input := range c.Good {
		odd := strings.Replace(strings.TrimSuffix(strings.TrimSpace(input), "}")+`,"xyzzy":1}`, "{,", "{", 1)
		if _, err := tl.Bind(json.RawMessage(odd)); err == nil || !strings.Contains(err.Error(), "xyzzy") {
			t.Errorf("%s with an unknown key: %v", name, err)
		}
	}
	if len(c.Good) == 0 {
		t.Error("no good case")
	}
}

func result(t *testing.T, tl tool.Tool, input string) {
	call, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	res, err := call.Run(t.Context(), func(tool.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Parts {
		switch p.(type) {
		case *msg.Text, *msg.Image, *msg.Document:
		default:
			t.Errorf("a result cannot hold a %T", p)
		}
	}
	if len(res.Parts) == 0 && res.Body == nil {
		t.Error("the result is empty")
	}
	if err := conforms(tl.Traits().Output, res.Structured); err != nil {
		t.Error(err)
	}
	if err := redisplays(tl.Traits().Redisplay, res); err != nil {
		t.Error(err)
	}
}

// redisplays checks that a stored result is displayed in the same form as a new one, and that
// results of other programs do no harm.
func redisplays(redisplay func(json.RawMessage) tool.Display, res tool.Result) error {
	if redisplay == nil {
		return nil
	}
	data, err := json.Marshal(res.Structured)
	if err != nil {
		return err
	}
	if got := redisplay(data); fmt.Sprintf("%T", got) != fmt.Sprintf("%T", res.Display) {
		return fmt.Errorf("the result is displayed as %#v, and when resumed as %#v", res.Display, got)
	}
	for _, other := range []string{"", "null", "7", `"x"`, "[]", "{}", `{"filePath":"a","structuredPatch":[{"lines":["",null]}]}`, `{"filenames":[null],"mode":"content","content":":"}`, `{"type":"text","file":null}`} {
		redisplay(json.RawMessage(other))
	}
	return nil
}

// conforms checks a result's structured part against the tool's schema.
func conforms(schema json.RawMessage, structured any) error {
	if (schema == nil) != (structured == nil) {
		return fmt.Errorf("the structured result is %v, its schema %s", structured, schema)
	}
	if schema == nil {
		return nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("reading the output schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("reading the output schema: %w", err)
	}
	data, err := json.Marshal(structured)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("the structured result %s does not fit its schema: %w", data, err)
	}
	return nil
}

// cancelled checks that a call ends when it is canceled before it starts and while it runs.
func cancelled(t *testing.T, tl tool.Tool, input string) {
	for name, early := range map[string]bool{"before": true, "while running": false} {
		call, err := tl.Bind(json.RawMessage(input))
		if err != nil {
			t.Fatal(err)
		}
		limit := 10 * time.Second // until the executor abandons the call
		if tl.Traits().Shell || tl.Traits().Waits || tool.FactsOf(call).ReadOnly {
			limit = time.Second
		}
		ctx, cancel := context.WithCancel(t.Context())
		if early {
			cancel()
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			call.Run(ctx, func(tool.Progress) {}) // ok: the tool's own test checks the result
		}()
		cancel()
		select {
		case <-done:
		case <-time.After(limit + time.Minute): // a busy machine gets a minute more
			t.Errorf("cancelled %s, the call did not end within %v", name, limit)
		}
	}
}

// snapshot lists the files under dir with attributes that reveal changes.
func snapshot(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files = append(files, path+" "+info.Mode().String()+" "+info.ModTime().String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

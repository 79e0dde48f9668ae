package structured

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name","age"],"additionalProperties":false}`

func mustCompile(t testing.TB, source string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(source))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newOutput(t testing.TB, source string) *Output {
	t.Helper()
	o := &Output{}
	if err := o.Expect(mustCompile(t, source)); err != nil {
		t.Fatal(err)
	}
	o.Begin()
	return o
}

func hand(t testing.TB, o *Output, value string) (tool.Result, error) {
	t.Helper()
	c, err := o.Bind(json.RawMessage(value))
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(context.Background(), func(tool.Progress) {})
}

// Proves SOUT-02.
func TestCheck(t *testing.T) {
	draft7 := `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"id":{"type":"integer"}},"properties":{"id":{"$ref":"#/definitions/id"}}}`
	tests := []struct {
		name, schema, value string
		want                []string // expected in the error; none means valid
	}{
		{"fits", person, `{"name":"Ada","age":36}`, nil},
		{"every failure is listed", person, `{"name":1,"age":-1,"extra":true}`, []string{"name", "age", "extra"}},
		{"missing", person, `{"name":"Ada"}`, []string{"age"}},
		{"not an object", person, `[1]`, []string{"not an object"}},
		{"not JSON", person, `{`, []string{"not JSON"}},
		{"any object", `{}`, `{"x":[1,2]}`, nil},
		{"reference", `{"type":"object","$defs":{"n":{"type":"number"}},"properties":{"x":{"$ref":"#/$defs/n"}}}`, `{"x":"1"}`, []string{"x", "number"}},
		{"recursion into parts", `{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{"x":1}}}`, []string{"x"}},
		{"draft-07 fits", draft7, `{"id":1}`, nil},
		{"draft-07", draft7, `{"id":"one"}`, []string{"id", "integer"}},
		{"nothing is repaired", `{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"1"}`, []string{"n"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := mustCompile(t, tt.schema).Check(json.RawMessage(tt.value))
			if (err == nil) != (tt.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

// Proves SOUT-02.
func TestCompileRefuses(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"not JSON", "{\n \"type\": object\n}", "line 2, column 10"},
		{"half", `{"type":"object"`, "line 1, column"},
		{"no object", `"object"`, "not a JSON object"},
		{"of an array", `{"type":"array"}`, "/type"},
		{"unknown type", `{"type":"object","properties":{"a":{"type":"text"}}}`, "/properties/a: type: invalid value \"text\""},
		{"no schema", `{"type":"object","properties":{"a":7}}`, "/properties/a: a schema is"},
		{"keyword", `{"type":"object","properties":{"a":{"minLength":"x"}}}`, "/properties/a: minLength"},
		{"pattern", `{"type":"object","properties":{"a":{"pattern":"("}}}`, "/properties/a: pattern"},
		{"circle", `{"type":"object","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`, "refers to itself"},
		{"own root", `{"type":"object","anyOf":[{"$ref":"#"}]}`, "refers to itself"},
		{"by anchor", `{"type":"object","$anchor":"me","not":{"$ref":"#me"}}`, "refers to itself"},
		{"wrong value", `{"type":"object","properties":{"a":{"required":"x"}}}`, "/properties/a"},
		{"dangling reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`, "$defs/none"},
		{"other draft", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`, "draft-07"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Compile(json.RawMessage(tt.schema)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Proves SOUT-01.
func TestValue(t *testing.T) {
	o := newOutput(t, person)
	const value = `{ "age": 36, "name": "Ada" }`
	r, err := hand(t, o, value)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(msg.PlainText(r.Parts), "received") {
		t.Errorf("the model receives %q", msg.PlainText(r.Parts))
	}
	got, err := o.Value()
	if err != nil || string(got) != value {
		t.Errorf("got %s, %v", got, err)
	}
	if facts := tool.FactsOf(&call{o, Input{}}); !facts.ReadOnly || facts.OpenWorld {
		t.Errorf("facts %+v", facts)
	}
	tooltest.Pure(t, &call{o, Input{json.RawMessage(value)}})
	o.Begin()
	if got, err := o.Value(); got != nil || err != nil {
		t.Errorf("in the next turn: %s, %v", got, err)
	}
}

// Proves SOUT-02.
func TestTries(t *testing.T) {
	o := newOutput(t, person)
	for i := range MaxTries {
		if _, err := o.Value(); err != nil {
			t.Fatalf("gave up after %d tries", i)
		}
		if _, err := hand(t, o, `{}`); err == nil {
			t.Fatal("{} fits")
		}
	}
	if _, err := o.Value(); err == nil || !strings.Contains(err.Error(), "5 values") || !strings.Contains(err.Error(), "name") {
		t.Errorf("got %v", err)
	}
	o.Begin()
	if _, err := o.Value(); err != nil {
		t.Errorf("in the next turn: %v", err)
	}
}

// Proves SOUT-01.
func TestNotAsked(t *testing.T) {
	var o Output
	if o.Begin() {
		t.Error("a turn has to end in a value")
	}
	if err := o.Traits().Enabled(); err == nil {
		t.Error("the tool is offered")
	}
	if _, err := hand(t, &o, `{}`); err == nil {
		t.Error("a value was taken")
	}
}

// Proves SOUT-05.
func TestSpecIsFixed(t *testing.T) {
	o := newOutput(t, person)
	if err := o.Expect(mustCompile(t, `{}`)); err == nil {
		t.Error("the schema was changed after a turn had begun")
	}
	first, second := o.Spec(), o.Spec()
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if string(first.Schema) != person {
		t.Errorf("schema %s", first.Schema)
	}
}

func TestUntypedSchemaDescribesAnObject(t *testing.T) {
	for source, want := range map[string]string{
		`{}`:                       `{"type":"object"}`,
		` {"properties":{"a":{}}}`: `{"type":"object","properties":{"a":{}}}`,
	} {
		if got := newOutput(t, source).Spec().Schema; string(got) != want {
			t.Errorf("%s: %s", source, got)
		}
	}
}

// Proves SOUT-04.
func TestCache(t *testing.T) {
	var c Cache
	first, err := c.Compile(json.RawMessage(person))
	if err != nil {
		t.Fatal(err)
	}
	for range 80 {
		if again, err := c.Compile(json.RawMessage(person)); err != nil || again != first {
			t.Fatalf("compiled again: %v", err)
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(person), &fields); err != nil {
		t.Fatal(err)
	}
	var reordered bytes.Buffer
	fmt.Fprintf(&reordered, `{"required": %s, "additionalProperties": false, "properties": %s, "type": "object"}`, fields["required"], fields["properties"])
	if same, err := c.Compile(reordered.Bytes()); err != nil || same != first {
		t.Errorf("another order of keys is another schema: %v", err)
	}
	for range 2 {
		if _, err := c.Compile(json.RawMessage(`{"type":"array"}`)); err == nil {
			t.Error("an invalid schema compiled")
		}
	}
	if c.compiled != 2 {
		t.Errorf("compiled %d times", c.compiled)
	}
	for i := range 2 * maxCached {
		c.Compile(fmt.Appendf(nil, `{"title":"%d"}`, i)) // ok: only its cache slot matters
	}
	if len(c.byKey) != maxCached || c.order.Len() != maxCached {
		t.Errorf("keeps %d", len(c.byKey))
	}
	if again, _ := c.Compile(json.RawMessage(person)); again == first {
		t.Error("the oldest was not dropped")
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(person, `{"name":"Ada","age":36}`)
	f.Add(`{}`, `[]`)
	f.Add(`{"$id":"http://x/y","$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}},"if":{"$ref":"http://x/y#n"}}`, `{"a":{}}`)
	f.Add(`{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, `{"x":1}`)
	f.Fuzz(func(t *testing.T, source, value string) {
		s, err := Compile(json.RawMessage(source))
		if err != nil {
			return
		}
		if !json.Valid(s.source) {
			t.Errorf("the model receives %s", s.source)
		}
		s.Check(json.RawMessage(value)) // ok: must not panic
	})
}

package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

const readSchema = `{"type":"object","properties":{
	"file_path":{"type":"string","minLength":1},
	"offset":{"type":"integer","minimum":1},
	"limit":{"type":"integer","minimum":1}
},"required":["file_path"],"additionalProperties":false}`

func mustParse(t testing.TB, source string) *Schema {
	t.Helper()
	s, err := Parse(json.RawMessage(source))
	if err != nil {
		t.Fatalf("Parse(%s): %v", source, err)
	}
	return s
}

// Proves TOOL-04.
func TestCheckNamesEveryFailingField(t *testing.T) {
	_, err := mustParse(t, readSchema).Check(json.RawMessage(`{"file_path": 5, "colour": 1}`))
	want := `2 problems
- file_path: expected string, received number 5
- colour: unknown field; the fields are file_path, offset, limit
Required: file_path`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestCheckFailures(t *testing.T) {
	tests := []struct {
		name, schema, input, want string
	}{
		{"missing", readSchema, `{}`, "file_path: required, but missing\nRequired: file_path"},
		{"close key", readSchema, `{"file_path":"a","ofset":1}`, "ofset: unknown field; did you mean offset?\nRequired: file_path"},
		{"other case is another key", readSchema, `{"file_path":"a","File_Path":"b"}`, "File_Path: unknown field; did you mean file_path?\nRequired: file_path"},
		{"key twice", readSchema, `{"file_path":"a","file_path":"b"}`, "file_path: given twice; give it once\nRequired: file_path"},
		{"key twice, escaped", readSchema, `{"file_path":"a","file\u005fpath":"b"}`, "file_path: given twice; give it once\nRequired: file_path"},
		{"odd key", readSchema, `{"file_path":"a","":1}`, "\"\": unknown field; the fields are file_path, offset, limit\nRequired: file_path"},
		{"too small", readSchema, `{"file_path":"a","offset":0}`, "offset: expected a number of at least 1, received 0\nRequired: file_path"},
		{"converted and too small", readSchema, `{"file_path":"a","offset":"0"}`, "offset: expected a number of at least 1, received 0\nRequired: file_path"},
		{"null is not absent", readSchema, `{"file_path":"a","offset":null}`, "offset: expected integer, received null\nRequired: file_path"},
		{"fraction", readSchema, `{"file_path":"a","offset":1.5}`, "offset: expected integer, received number 1.5\nRequired: file_path"},
		{"fraction beyond float64", readSchema, `{"file_path":"a","offset":5.00000000000000000000001}`, "offset: expected integer, received number 5.00000000000000000000001\nRequired: file_path"},
		{"beyond 64 bits", readSchema, `{"file_path":"a","offset":99999999999999999999}`, "offset: expected integer, received number 99999999999999999999\nRequired: file_path"},
		{"absurd exponent", readSchema, `{"file_path":"a","offset":1e999999999}`, "offset: expected integer, received number 1e999999999\nRequired: file_path"},
		{"padded digits", readSchema, `{"file_path":"a","offset":" 12"}`, "offset: expected integer, received string \" 12\"\nRequired: file_path"},
		{"leading zero", readSchema, `{"file_path":"a","offset":"012"}`, "offset: expected integer, received string \"012\"\nRequired: file_path"},
		{"not an object", readSchema, `[1]`, "input: expected object, received array\nRequired: file_path"},
		{"long value", `{"type":"integer"}`, `"` + strings.Repeat("x", 100) + `"`, "input: expected integer, received string \"" + strings.Repeat("x", 59) + "…\nNo field is required."},
		{"boolean word", `{"type":"boolean"}`, `"yes"`, "input: expected boolean, received string \"yes\"\nNo field is required."},
		{"number from string", `{"type":"number"}`, `"1.5"`, "input: expected number, received string \"1.5\"\nNo field is required."},
		{"two types", `{"type":["string","null"]}`, `1`, "input: expected null or string, received number 1\nNo field is required."},
		{"enum", `{"enum":["content","count"]}`, `"contents"`, "input: expected one of \"content\", \"count\" (probably \"content\"), received string \"contents\"\nNo field is required."},
		{"const", `{"const":1}`, `2`, "input: expected 1, received number 2\nNo field is required."},
		{"bounds", `{"type":"number","exclusiveMinimum":0,"maximum":3}`, `0`, "input: expected a number above 0, received 0\nNo field is required."},
		{"maximum", `{"type":"number","maximum":3}`, `4`, "input: expected a number of at most 3, received 4\nNo field is required."},
		{"exclusive maximum", `{"type":"number","exclusiveMaximum":3}`, `3`, "input: expected a number below 3, received 3\nNo field is required."},
		{"short", `{"minLength":1}`, `""`, "input: expected at least 1 characters, received 0\nNo field is required."},
		{"long, in characters", `{"maxLength":2}`, `"äöü"`, "input: expected at most 2 characters, received 3\nNo field is required."},
		{"pattern", `{"pattern":"^a"}`, `"b"`, "input: expected text matching ^a, received string \"b\"\nNo field is required."},
		{"few items", `{"minItems":1}`, `[]`, "input: expected at least 1 items, received 0\nNo field is required."},
		{"many items", `{"maxItems":1}`, `[1,2]`, "input: expected at most 1 items, received 2\nNo field is required."},
		{"nested path", `{"properties":{"edits":{"items":{"properties":{"old":{"type":"string"}},"required":["old"]}}}}`, `{"edits":[{"old":"a"},{"old":1},{}]}`, "2 problems\n- edits[1].old: expected string, received number 1\n- edits[2].old: required, but missing\nNo field is required."},
		{"other properties", `{"additionalProperties":{"type":"string"}}`, `{"a":1}`, "a: expected string, received number 1\nNo field is required."},
		{"any of", `{"anyOf":[{"type":"string"},{"type":"object","required":["a","b"]}]}`, `1`, "input: expected string, received number 1\nNo field is required."},
		{"one of", `{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, "input: fits 2 of the allowed forms; it must fit exactly one\nNo field is required."},
		{"not JSON", readSchema, `{"file_path":`, "not JSON: unexpected end of JSON input"},
		{"more after it", readSchema, `{} {}`, "not JSON: invalid character '{' after top-level value"},
		{"nothing", readSchema, ``, "not JSON: unexpected end of JSON input"},
		{"deep", readSchema, `{"file_path":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, "nested deeper than 64 levels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustParse(t, tt.schema).Check(json.RawMessage(tt.input))
			if err == nil {
				t.Fatalf("Check accepted it as %s", got)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Proves TOOL-04.
func TestCheckConverts(t *testing.T) {
	tests := []struct {
		name, schema, input, want string
	}{
		{"digits", `{"properties":{"n":{"type":"integer"}}}`, `{ "n" : "120" }`, `{ "n" : 120 }`},
		{"negative digits", `{"type":"integer"}`, `"-7"`, `-7`},
		{"true", `{"type":"boolean"}`, `"true"`, `true`},
		{"false", `{"type":"boolean"}`, `"false"`, `false`},
		{"whole float", `{"type":"integer"}`, `5.0`, `5`},
		{"exponent", `{"type":"integer"}`, `1.2e3`, `1200`},
		{"several", `{"items":{"type":"integer"}}`, `["1",2,"3"]`, `[1,2,3]`},
		{"string is fine", `{"type":["integer","string"]}`, `"5"`, `"5"`},
		{"exact form first", `{"oneOf":[{"type":"integer"},{"type":"string"}]}`, `"5"`, `"5"`},
		{"converted form", `{"oneOf":[{"type":"integer"},{"type":"boolean"}]}`, `"5"`, `5`},
		{"converted, then enum", `{"type":"integer","enum":[1,2]}`, `"2"`, `2`},
		{"free form", `{"type":"object"}`, `{"a":{"b":[null,true,1e2,"x"]}}`, `{"a":{"b":[null,true,1e2,"x"]}}`},
		{"equal objects", `{"enum":[{"a":[1,null],"b":true}]}`, `{"b":true,"a":[1.0,null]}`, `{"b":true,"a":[1.0,null]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustParse(t, tt.schema).Check(json.RawMessage(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckReturnsTheSameBytes(t *testing.T) {
	input := json.RawMessage(`{"offset":3,  "file_path":"a"}`)
	got, err := mustParse(t, readSchema).Check(input)
	if err != nil {
		t.Fatal(err)
	}
	if &got[0] != &input[0] || len(got) != len(input) {
		t.Error("an input that needs no conversion was copied")
	}
}

func TestCheckBoundsItsError(t *testing.T) {
	input := "[" + strings.Repeat(`"x",`, 100_000) + `"x"]`
	_, err := mustParse(t, `{"items":{"type":"integer"}}`).Check(json.RawMessage(input))
	if err == nil || len(err.Error()) > 5_000 || !strings.Contains(err.Error(), "and 99951 more") {
		t.Errorf("got %.200v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]string{
		`5`:                                "a schema is an object or true, not number",
		`false`:                            "a schema is an object or true, not boolean",
		`{"allOf":[]}`:                     "allOf: unknown keyword",
		`{"type":"int"}`:                   `type: unknown type "int"`,
		`{"type":5}`:                       "type: expected a list of strings",
		`{"type":"string","type":1}`:       "type: given twice",
		`{"required":[1]}`:                 "required: expected strings",
		`{"properties":[]}`:                "properties: expected an object",
		`{"properties":{"a":{"x":1}}}`:     "properties: a: x: unknown keyword",
		`{"properties":{"a":{},"a":{}}}`:   "properties: a: given twice",
		`{"items":{"minLength":-1}}`:       "items: minLength: expected a whole number, 0 or more",
		`{"minimum":"1"}`:                  "minimum: expected a number",
		`{"enum":[]}`:                      "enum: expected a list of values",
		`{"anyOf":[{"type":"x"}]}`:         `anyOf: 0: type: unknown type "x"`,
		`{"oneOf":{}}`:                     "oneOf: expected a list of schemas",
		`{"additionalProperties":{"y":1}}`: "additionalProperties: y: unknown keyword",
		`{"pattern":"("}`:                  "pattern: error parsing regexp: missing closing ): `(`",
		strings.Repeat(`{"items":`, 100) + "{}" + strings.Repeat("}", 100): "nested deeper than 64 levels",
	}
	for source, want := range tests {
		if _, err := Parse(json.RawMessage(source)); err == nil || err.Error() != want {
			t.Errorf("Parse(%.60s) = %v, want %s", source, err, want)
		}
	}
}

// FuzzCheck compares Check with an independent validator: an input Check returns is valid, and
// an input the validator accepts is accepted by Check too, unless a key occurs twice.
func FuzzCheck(f *testing.F) {
	const source = `{"type":"object","properties":{
		"s":{"type":"string","minLength":1,"maxLength":5},
		"n":{"type":"integer","minimum":-3,"maximum":300},
		"b":{"type":"boolean"},
		"e":{"enum":["one","two",3]},
		"l":{"type":"array","items":{"type":["integer","string"]},"maxItems":3},
		"o":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"additionalProperties":false}
	},"required":["s"],"additionalProperties":false}`
	for _, seed := range []string{
		`{"s":"a","n":"12","b":"true"}`, `{"s":"","n":1e1}`, `{"s":"a","l":[1,"2",3.0],"o":{"x":1}}`,
		`{"s":"a","s":"b"}`, `{"S":"a"}`, `{"s":"\ud800","e":3.0}`, `[`, `null`, `{"s":"a","o":{"x":1,"y":2}}`,
	} {
		f.Add([]byte(seed))
	}
	s := mustParse(f, source)
	var js jsonschema.Schema
	if err := json.Unmarshal([]byte(source), &js); err != nil {
		f.Fatal(err)
	}
	oracle, err := js.Resolve(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		got, err := s.Check(input)
		var in any
		if err != nil {
			if len(err.Error()) > 20_000 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			if json.Unmarshal(input, &in) == nil && oracle.Validate(in) == nil && !strings.Contains(err.Error(), "given twice") && !strings.Contains(err.Error(), "nested deeper") {
				t.Errorf("Check(%s) = %v, but it is valid", input, err)
			}
			return
		}
		var out any
		if err := json.Unmarshal(got, &out); err != nil {
			t.Fatalf("Check(%s) returned %s: %v", input, got, err)
		}
		if err := oracle.Validate(out); err != nil {
			t.Errorf("Check(%s) returned %s: %v", input, got, err)
		}
		again, err := s.Check(got)
		if err != nil || string(again) != string(got) {
			t.Errorf("Check is not idempotent: %s, then %s, %v", got, again, err)
		}
	})
}

func ExampleSchema_Check() {
	s, _ := Parse(json.RawMessage(`{"type":"object","properties":{"timeout":{"type":"integer"}},"additionalProperties":false}`))
	fixed, _ := s.Check(json.RawMessage(`{"timeout":"120"}`))
	_, err := s.Check(json.RawMessage(`{"timeuot":120}`))
	fmt.Printf("%s\n%v\n", fixed, err)
	// Output:
	// {"timeout":120}
	// timeuot: unknown field; did you mean timeout?
	// No field is required.
}

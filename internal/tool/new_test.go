package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
)

// look is an input with an observable validator.
type look struct {
	Path  string `json:"file_path"`
	Limit int    `json:"limit,omitempty"`
}

func (l look) Validate() error {
	if l.Path == "spy" {
		panic("validated")
	}
	if l.Path == "" {
		return &Error{Code: 7, Text: "give a path"}
	}
	return nil
}

const lookSchema = `{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer"}},"required":["file_path"],"additionalProperties":false}`

func newLook(run func(context.Context, look, func(Progress)) (Result, error)) Tool {
	return New(Def{Name: "Look", Doc: "Looks.", Schema: json.RawMessage(lookSchema), Strict: true}, run)
}

// Proves TOOL-04.
func TestBindRefusesBeforeTheToolSeesIt(t *testing.T) {
	ran := false
	tool := newLook(func(context.Context, look, func(Progress)) (Result, error) {
		ran = true
		return Text("ok"), nil
	})
	call, err := tool.Bind(json.RawMessage(`{"file_path": 5, "colour": 1}`))
	if call != nil || err == nil {
		t.Fatalf("Bind = %v, %v", call, err)
	}
	for _, part := range []string{"invalid input for Look", "file_path: expected string, received number 5", "colour: unknown field", "Required: file_path"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
	if _, err := tool.Bind(json.RawMessage(`{"file_path": "spy", "limit": "x"}`)); err == nil { // Validate would panic
		t.Error("a wrong limit was accepted")
	}
	if ran {
		t.Error("the tool ran")
	}
}

func TestBindConvertsAndRuns(t *testing.T) {
	tool := newLook(func(_ context.Context, in look, _ func(Progress)) (Result, error) {
		return Text(in.Path), nil
	})
	call, err := tool.Bind(json.RawMessage(`{"file_path":"a","limit":"12"}`))
	if err != nil {
		t.Fatal(err)
	}
	if in := call.Input().(look); in.Limit != 12 {
		t.Errorf("limit = %d, want 12", in.Limit)
	}
	res, err := call.Run(context.Background(), nil)
	if err != nil || msg.PlainText(res.Parts) != "a" {
		t.Errorf("Run = %v, %v", res, err)
	}
}

// TestBindUnderstandsOtherNames checks that other programs' field names are accepted if
// unambiguous (model-side review, section 3.1).
func TestBindUnderstandsOtherNames(t *testing.T) {
	type change struct {
		Path  string `json:"file_path"`
		Old   string `json:"old_string"`
		New   string `json:"new_string"`
		All   bool   `json:"all,omitempty"`
		Limit int    `json:"limit,omitempty"`
	}
	const schema = `{"type":"object","properties":{"file_path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},"all":{"type":"boolean"},"limit":{"type":"number"}},"required":["file_path","old_string","new_string"],"additionalProperties":false}`
	tool := NewBound(Def{Name: "Change", Schema: json.RawMessage(schema)}, func(in change) (Call, error) { return &typedCall[change]{in: in}, nil })
	whole := change{Path: "a", Old: "x", New: "y"}
	for input, want := range map[string]any{
		`{"path":"a","old_string":"x","new_string":"y"}`:                                   whole,
		`{"filename":"a","old_string":"x","new_string":"y"}`:                               whole,
		`{"filePath":"a","oldString":"x","newString":"y"}`:                                 whole,
		`{"path":"a","old_str":"x","new_str":"y","all":"true"}`:                            change{"a", "x", "y", true, 0},
		`{"file_path":"a","old_string":"x","new_string":"y","limit":null}`:                 whole,
		`{"path":"a","old_string":"x","new_string":"y","limit":null,"all":true}`:           change{"a", "x", "y", true, 0},
		`{"path":"a","file":"b","old_string":"x","new_string":"y"}`:                        "unknown field",
		`{"path":"a","file_path":"b","old_string":"x","new_string":"y"}`:                   "path: unknown field",
		`{"path":"a","path":"b","old_string":"x","new_string":"y"}`:                        "given twice",
		`{"path":"a","old_string":"x","new_string":"y","colour":1}`:                        "colour: unknown field",
		`{"path":5,"old_string":"x","new_string":"y"}`:                                     "file_path: expected string, received number 5",
		`{"path":"a","old_string":"x"}`:                                                    "new_string: required, but missing",
		`{"file_path":null,"old_string":"x","new_string":"y"}`:                             "file_path: expected string, received null",
		`{"file_path":"a","old_string":"x","new_string":"y","limit":99999999999999999999}`: "limit: the number 99999999999999999999 is too large, or no integer",
		`{"file_path":"a","old_string":"x","new_string":"y","limit":[1]}`:                  "limit: expected number, received array",
		`"a"`: "expected object, received string",
	} {
		call, err := tool.Bind(json.RawMessage(input))
		switch want := want.(type) {
		case change:
			if err != nil || call.Input() != want {
				t.Errorf("%s: %v, %v", input, call, err)
			}
		case string:
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
				t.Errorf("%s: %v, want %s", input, err, want)
			}
		}
	}
}

func TestBindValidates(t *testing.T) {
	_, err := newLook(nil).Bind(json.RawMessage(`{"file_path":""}`))
	var coded *Error
	if !errors.As(err, &coded) || coded.Code != 7 || err.Error() != "give a path" {
		t.Errorf("Bind = %v", err)
	}
}

func TestNewBound(t *testing.T) {
	bound := NewBound(Def{Name: "Look", Schema: json.RawMessage(lookSchema)}, func(in look) (Call, error) {
		if in.Limit > 10 {
			return nil, errors.New("too many")
		}
		return fixed{in}, nil
	})
	if call, err := bound.Bind(json.RawMessage(`{"file_path":"a"}`)); err != nil || call != (fixed{look{Path: "a"}}) {
		t.Errorf("Bind = %v, %v", call, err)
	}
	for input, want := range map[string]string{`{"file_path":"a","limit":11}`: "too many", `{"file_path":""}`: "give a path"} {
		if _, err := bound.Bind(json.RawMessage(input)); err == nil || err.Error() != want {
			t.Errorf("Bind(%s) = %v, want %s", input, err, want)
		}
	}
}

func TestBindWithABrokenSchemaIsFatal(t *testing.T) {
	broken := New(Def{Name: "X", Schema: json.RawMessage(`{"allOf":[]}`)}, func(context.Context, look, func(Progress)) (Result, error) { return Result{}, nil })
	if _, err := broken.Bind(json.RawMessage(`{}`)); !IsFatal(err) {
		t.Errorf("Bind = %v, want a fatal error", err)
	}
}

func TestNewPanicsOnABadName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(Def{Name: "a b"}, func(context.Context, look, func(Progress)) (Result, error) { return Result{}, nil })
}

// Proves TOOL-06.
func TestDefaultsAreCautious(t *testing.T) {
	tool := New(Def{Name: "Bare", Doc: "Does.", Schema: json.RawMessage(anySchema)},
		func(context.Context, struct{}, func(Progress)) (Result, error) { return Text("ok"), nil })
	want := Traits{}
	if diff := cmp.Diff(want, tool.Traits()); diff != "" {
		t.Errorf("traits (-want +got):\n%s", diff)
	}
	if DefaultMaxChars != 100_000 {
		t.Errorf("the default cap is %d", DefaultMaxChars)
	}
	call, err := tool.Bind(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Facts{OpenWorld: true}, FactsOf(call)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if got := ActivityOf("Bare", call); got != "Bare" {
		t.Errorf("activity %q", got)
	}
	u := Use{Tool: tool, Call: call}
	if u.Verdict.Decision == Allow {
		t.Error("a use is allowed before anyone decided")
	}
}

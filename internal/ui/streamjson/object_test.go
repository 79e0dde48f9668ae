package streamjson

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/msg"
)

func TestObject(t *testing.T) {
	o := &Object{}
	o.Str("s", "a\n\"b\"")
	o.StrOrNull("n", "")
	o.Bool("b", true)
	o.Int("i", -3)
	o.Float("f", 0.1)
	o.Float("nan", math.NaN())
	o.Strs("l", []string{"x", "y"})
	o.Strs("e", nil)
	o.Raw("r", json.RawMessage("{\n \"a\": 1\n}"))
	o.Raw("bad", json.RawMessage(`{"a":`))
	o.Object("o", func(o *Object) {})
	o.List("items", 2, func(i int, item *Object) { item.Int("i", int64(i)) })
	o.Parts("parts", &msg.Text{Text: "t"})
	const want = `{"s":"a\n\"b\"","n":null,"b":true,"i":-3,"f":0.1,"nan":"NaN","l":["x","y"],"e":[],"r":{"a":1},` +
		`"bad":"not valid JSON: unexpected end of JSON input","o":{},"items":[{"i":0},{"i":1}],"parts":[{"type":"text","text":"t"}]}`
	if diff := cmp.Diff(want, string(o.Bytes())); diff != "" {
		t.Error(diff)
	}
}

// TestObjectIsAlwaysJSON checks that an Object is always one line of valid JSON.
func TestObjectIsAlwaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &Object{}
		o.Str(rapid.String().Draw(t, "name"), rapid.String().Draw(t, "text"))
		o.Float("f", rapid.Float64().Draw(t, "number"))
		o.Raw("r", rapid.SliceOf(rapid.Byte()).Draw(t, "raw"))
		o.Parts("p", msg.NewToolUse("id", "T", rapid.String().Draw(t, "input")))
		if line := o.Bytes(); !json.Valid(line) || bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("%q", line)
		}
	})
}

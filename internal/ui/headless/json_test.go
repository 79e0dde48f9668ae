package headless

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
	o := &object{}
	o.str("s", "a\n\"b\"")
	o.strOrNull("n", "")
	o.bool("b", true)
	o.int("i", -3)
	o.float("f", 0.1)
	o.float("nan", math.NaN())
	o.strs("l", []string{"x", "y"})
	o.strs("e", nil)
	o.raw("r", json.RawMessage("{\n \"a\": 1\n}"))
	o.raw("bad", json.RawMessage(`{"a":`))
	o.object("o", func(o *object) {})
	o.list("items", 2, func(i int, item *object) { item.int("i", int64(i)) })
	o.parts("parts", &msg.Text{Text: "t"})
	const want = `{"s":"a\n\"b\"","n":null,"b":true,"i":-3,"f":0.1,"nan":"NaN","l":["x","y"],"e":[],"r":{"a":1},` +
		`"bad":"not valid JSON: unexpected end of JSON input","o":{},"items":[{"i":0},{"i":1}],"parts":[{"type":"text","text":"t"}]}`
	if diff := cmp.Diff(want, string(o.bytes())); diff != "" {
		t.Error(diff)
	}
}

// Whatever is put into an object, it is one line of valid JSON.
func TestObjectIsAlwaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &object{}
		o.str(rapid.String().Draw(t, "name"), rapid.String().Draw(t, "text"))
		o.float("f", rapid.Float64().Draw(t, "number"))
		o.raw("r", rapid.SliceOf(rapid.Byte()).Draw(t, "raw"))
		o.parts("p", msg.NewToolUse("id", "T", rapid.String().Draw(t, "input")))
		if line := o.bytes(); !json.Valid(line) || bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("%q", line)
		}
	})
}

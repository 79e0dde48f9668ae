package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDescribe(t *testing.T) {
	const schema = `{ "type":"object", "description" : "Top.", "properties":{"description":{"type":"string","description":"A."},` +
		`"list":{"type":"array","description": "B \"b\".","items":{"properties":{"properties":{"description":"C."}, "x":{"description":"D."}}}},` +
		`"bare":{"enum":["description"]}},"required":["list"]}`
	texts := map[string]string{"description": "甲", "list": "乙\n", "list/properties": "丙"}
	var asked []string
	got := Describe([]byte(schema), func(param string) (string, bool) {
		asked = append(asked, param)
		text, ok := texts[param]
		return text, ok
	})
	want := strings.NewReplacer(`"A."`, `"甲"`, `"B \"b\"."`, `"乙\n"`, `"C."`, `"丙"`).Replace(schema)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"description", "list", "list/properties", "list/x"}, asked); diff != "" {
		t.Error(diff)
	}
	for _, odd := range []string{"", "{", `{"properties":{"a":{"description":"x"`, `{"a":[}`} {
		if got := Describe(json.RawMessage(odd), func(string) (string, bool) { return "y", true }); string(got) != odd {
			t.Errorf("%s became %s", odd, got)
		}
	}
}

package brief

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/platform/texts"
)

func TestDescribe(t *testing.T) {
	specs := []msg.ToolSpec{{Name: "X", Description: "Replaces a piece of text in a file.\n\n- Output of more than 30 characters is written to a file, and you get its beginning and its end.\n- Nobody knows this line."}}
	before := specs[0]
	want := "替换文件中的一段文本。\n\n- 超过 30 个字符的输出写入文件，你得到开头和结尾。\n- Nobody knows this line."
	if got := Describe(texts.Chinese, specs); got[0].Description != want || got[0].Name != "X" {
		t.Error(cmp.Diff(want, got[0].Description))
	}
	if specs[0].Description != before.Description || &Describe(texts.English, specs)[0] != &specs[0] {
		t.Error("the tools themselves were changed")
	}
	if diff := cmp.Diff([]string{"X: - Nobody knows this line."}, Untranslated(texts.Chinese, specs)); diff != "" {
		t.Error(diff)
	}
}

// The parameters are described in the language, too; nothing else of a schema is touched.
//
// Proves CTX-10.
func TestDescribeParameters(t *testing.T) {
	const schema = `{"type":"object","properties":{"description":{"type":"string","description":"The file to read."},"n":{"enum":["\"description\":\"The file to read.\""],"description":"At most \"3\"."}}}`
	want := strings.Replace(schema, `"description":"The file to read."`, `"description":"要读取的文件。"`, 1)
	specs := []msg.ToolSpec{{Name: "X", Schema: []byte(schema)}, {Name: "Y"}}
	got := Describe(texts.Chinese, specs)
	if diff := cmp.Diff(want, string(got[0].Schema)); diff != "" || len(got[1].Schema) != 0 {
		t.Error(diff)
	}
	if string(specs[0].Schema) != schema {
		t.Error("the tool itself was changed")
	}
	if diff := cmp.Diff([]string{`X: At most "3".`}, Untranslated(texts.Chinese, specs)); diff != "" {
		t.Error(diff)
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, line string
		want          []string
		ok            bool
	}{
		{"a {} b {}.", "a 1 b 2.", []string{"1", "2"}, true},
		{"a {} b {}.", "a 1 b 2. And 3.", []string{"1", "2. And 3"}, true},
		{"a {} b {}.", "a 1 c 2.", nil, false},
		{"a {}.", "b 1.", nil, false},
		{"{}x", "x", []string{""}, true},
	} {
		got, ok := match(tt.pattern, tt.line)
		if ok != tt.ok || ok && !cmp.Equal(got, tt.want) {
			t.Errorf("%q, %q: %q %v", tt.pattern, tt.line, got, ok)
		}
	}
}

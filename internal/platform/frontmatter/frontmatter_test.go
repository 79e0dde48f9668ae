package frontmatter

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	tests := []struct{ name, text, head, body string }{
		{"none", "# Title\n---\n", "", "# Title\n---\n"},
		{"some", "---\na: b\n---\n\nText.\n", "a: b", "Text."},
		{"empty", "---\n---\nText.", "", "Text."},
		{"nothing after it", "---\na: b\n---", "a: b", ""},
		{"a rule in the text", "---\na: b\n---\none\n---\ntwo", "a: b", "one\n---\ntwo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head, body, err := Split(tt.text)
			if head != tt.head || body != tt.body || err != nil {
				t.Errorf("%q, %q, %v", head, body, err)
			}
		})
	}
	if head, body, err := Split("---\na: b\n"); head != "" || body != "---\na: b\n" || !errors.Is(err, ErrOpen) {
		t.Errorf("not closed: %q, %q, %v", head, body, err)
	}
}

// Proves MEM-22.
func TestParse(t *testing.T) {
	tests := []struct {
		name, head string
		want       map[string]string
		err        string
	}{
		{"plain", "name: a b\ntype: user", map[string]string{"name": "a b", "type": "user"}, ""},
		{"colon in a value", "description: use http://x:1", map[string]string{"description": "use http://x:1"}, ""},
		{"comments and gaps", "# c\n\nname: a # b\nurl: x#y", map[string]string{"name": "a", "url": "x#y"}, ""},
		{"quotes", "a: \"x: \\\"y\\\"\" # c\nb: 'it''s'\n\"c\": ''", map[string]string{"a": `x: "y"`, "b": "it's", "c": ""}, ""},
		{"lists", "a: [x, \"y\"]\nb:\n  - p\n- q\nc: z", map[string]string{"a": "x, y", "b": "p, q", "c": "z"}, ""},
		{"blocks", "a: >\n  one\n  two\nb: |-\n  one\n\n  two\nc: z", map[string]string{"a": "one two", "b": "one\n\ntwo", "c": "z"}, ""},
		{"nested", "metadata:\n  type: user\n  by: me\nname: a", map[string]string{"metadata.type": "user", "metadata.by": "me", "name": "a"}, ""},
		{"no value", "a:\nb: x", map[string]string{"a": "", "b": "x"}, ""},
		{"empty", "", map[string]string{}, ""},

		{"no name", "just text\nb: x", map[string]string{"b": "x"}, "line 1 of the front matter is not a name"},
		{"no blank", "a:b", map[string]string{}, "line 1"},
		{"open quote", "a: \"x\nb: y", map[string]string{"b": "y"}, "line 1 of the front matter has a value that is not closed"},
		{"open single quote", "a: 'x\nb: y", map[string]string{"b": "y"}, "line 1"},
		{"open list", "a: [x", map[string]string{}, "line 1"},
		{"an object", "a: {x: y}", map[string]string{}, "line 1"},
		{"after a quote", "a: \"x\" y", map[string]string{}, "line 1"},
		{"indented", "a: x\n  b: y", map[string]string{"a": "x"}, "line 2 of the front matter is indented"},
		{"twice", "a: x\na: y", map[string]string{"a": "x"}, "line 2 of the front matter says a again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.head)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"---\na: b\n---\nx", "a:\n  - 'x\n b: |\n  c", "a: >\n\n\nb: [", "a:\n b:\n  c: d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		head, body, err := Split(text)
		if err != nil && body != text {
			t.Error("text is lost")
		}
		fields, _ := Parse(head)
		for name, value := range fields {
			if len(value) > len(text)+strings.Count(text, "\n")*2+strings.Count(text, ",")+8 {
				t.Errorf("%s has grown", name)
			}
		}
		Parse(text)
	})
}

package frontmatter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	tests := []struct{ name, text, head, body string }{
		{"none", "# Title\n---\n", "", "# Title\n---\n"},
		{"some", "---\na: b\n---\n\nText.\n", "a: b", "Text."},
		{"empty", "---\n---\nText.", "", "Text."},
		{"nothing after it", "---\na: b\n---", "a: b", ""},
		{"blanks after the dashes", "--- \na: b\n---\t\nText.", "a: b", "Text."},
		{"more than dashes", "---\na: b\n---x\n----\n---\nText.", "a: b\n---x\n----", "Text."},
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
	if head, body, err := Split("---\na: b\n"); head != "" || body != "---\na: b\n" || !errors.Is(err, ErrUnterminated) {
		t.Errorf("not closed: %q, %q, %v", head, body, err)
	}
}

// Proves MEM-22.
func TestParse(t *testing.T) {
	text := func(s string) Value { return Value{Text: s} }
	list := func(texts ...string) Value {
		v := Value{List: []Value{}}
		for _, s := range texts {
			v.List = append(v.List, text(s))
		}
		return v
	}
	tests := []struct {
		name, head string
		want       Fields
		err        string
	}{
		{"plain", "name: a b\ntype: user", Fields{"name": text("a b"), "type": text("user")}, ""},
		{"comments and gaps", "# c\n\nname: a # b\nurl: x#y", Fields{"name": text("a"), "url": text("x#y")}, ""},
		{"quotes", "a: \"x: \\\"y\\\"\" # c\nb: 'it''s'\n\"c\": ''", Fields{"a": text(`x: "y"`), "b": text("it's"), "c": text("")}, ""},
		{"lists", "a: [x, \"y\"]\nb:\n  - p\n  - q\nc:\n- z", Fields{"a": list("x", "y"), "b": list("p", "q"), "c": list("z")}, ""},
		{"blocks", "a: >\n  one\n  two\nb: |-\n  one\n\n  two\nc: z", Fields{"a": text("one two"), "b": text("one\n\ntwo"), "c": text("z")}, ""},
		{"several lines", "a: one\n  two\nb: c", Fields{"a": text("one two"), "b": text("c")}, ""},
		{"nested", "metadata:\n  type: user\n  by: {me: 1}\nname: a",
			Fields{"metadata": {Fields: Fields{"type": text("user"), "by": {Fields: Fields{"me": text("1")}}}}, "name": text("a")}, ""},
		{"lists of maps", "hooks:\n  Stop:\n    - matcher: x\n      hooks: [{type: command}]",
			Fields{"hooks": {Fields: Fields{"Stop": {List: []Value{{Fields: Fields{
				"matcher": text("x"), "hooks": {List: []Value{{Fields: Fields{"type": text("command")}}}}}}}}}}}, ""},
		{"anchors", "a: &x {k: v, l: w}\nb: *x\nc:\n  <<: *x\n  k: own",
			Fields{"a": {Fields: Fields{"k": text("v"), "l": text("w")}}, "b": {Fields: Fields{"k": text("v"), "l": text("w")}},
				"c": {Fields: Fields{"k": text("own"), "l": text("w")}}}, ""},
		{"as written", "a: 2024-01-01\nb: 1_000\nc: no\nd: 0x1F\ne: null\nf: \"null\"",
			Fields{"a": text("2024-01-01"), "b": text("1_000"), "c": text("no"), "d": text("0x1F"), "e": text(""), "f": text("null")}, ""},
		{"no value", "a:\nb: x", Fields{"a": text(""), "b": text("x")}, ""},
		{"empty", "", Fields{}, ""},
		{"comments only", "# nothing\n", Fields{}, ""},

		// Nearly YAML.
		{"colons", "description: use this: or that\nurl: http://x:1", Fields{"description": text("use this: or that"), "url": text("http://x:1")}, ""},
		{"patterns", "a: *.go\nb: **/*.md, !x # c\nc: {src,lib}/**\nd: {a,b}\ne: @x\nf: !x", Fields{
			"a": text("*.go"), "b": text("**/*.md, !x"), "c": text("{src,lib}/**"), "d": text("{a,b}"), "e": text("@x"), "f": text("!x")}, ""},
		{"lists of patterns", "a: [*.go, \"b\", {c,d}/**]\nb:\n  - *.go\n  - !x/**\n  - {a,b}\n- 'q'",
			Fields{"a": list("*.go", "b", "{c,d}/**"), "b": list("*.go", "!x/**", "{a,b}", "q")}, ""},
		{"words in brackets", "a: [file] or all\nb: [x] [y]", Fields{"a": text("[file] or all"), "b": list("x] [y")}, ""},
		{"words in quotes", "a: \"x\" y\nb: 'x' or 'y' # c\nc: \"a, b\", c", Fields{"a": text(`"x" y`), "b": text("'x' or 'y'"), "c": text(`"a, b", c`)}, ""},
		{"uneven list", "b:\n  - p\n- q\nc: z", Fields{"b": list("p", "q"), "c": text("z")}, ""},
		{"not UTF-8", "a: x\xff\nb: y", Fields{"a": text("x\xff"), "b": text("y")}, ""},

		{"no name", "just text\nb: x", Fields{"b": text("x")}, "line 1 of the front matter is not a name"},
		{"no blank", "a:b", Fields{}, "line 1"},
		{"open quote", "a: \"x\nb: y", Fields{"b": text("y")}, "line 1 of the front matter has a value that is not closed"},
		{"open single quote", "a: 'x\nb: y", Fields{"b": text("y")}, "line 1"},
		{"open list", "a: [x", Fields{}, "line 1"},
		{"open braces", "a: {x: y", Fields{}, "line 1"},
		{"indented", "a: x\n  b: y", Fields{"a": text("x")}, "line 2 of the front matter is indented"},
		{"indented first", "  a: x\nb: y", Fields{"b": text("y")}, "line 1 of the front matter belongs to no name"},
		{"a tab", "a:\n\tb: y\nc: z", Fields{"c": text("z")}, "line 2"},
		{"twice", "a: x\na: y", Fields{"a": text("x")}, "line 2 of the front matter says a again"},
		{"twice and colons", "a: x\nb: c: d\na: y", Fields{"a": text("x"), "b": text("c: d")}, "line 3 of the front matter says a again"},
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

// TestAliasesAreBounded checks that aliases that multiply or contain themselves are cut off.
func TestAliasesAreBounded(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	for _, head := range []string{bomb, "a: &a [*a]", "a: &a {b: *a}", "a: &a\n  <<: *a"} {
		if fields, err := Parse(head); len(fields) > 0 || !errors.Is(err, errLarge) {
			t.Errorf("%.20s: %d fields, %v", head, len(fields), err)
		}
	}
}

// TestPlainIsYAML checks that parsePlain agrees with the YAML parser.
func TestPlainIsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			lines = append(lines, rapid.StringMatching(`[a-zN_-]{1,4}:? {0,2}[a-zA-Z0-9:#,.'"|>&*!%@~{}\[\] -]{0,12}`).Draw(t, "line"))
		}
		head := strings.Join(lines, "\n")
		fields, ok := parsePlain(head)
		if !ok {
			return
		}
		if want, err := parseYAML(head); err != nil || !cmp.Equal(want, fields) {
			t.Fatalf("%q: %v, YAML says %v, %v", head, fields, want, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"---\na: b\n---\nx", "a:\n  - 'x\n b: |\n  c", "a: >\n\n\nb: [", "a:\n b:\n  c: d", "a: &x [*x, {y: *x}]\nb: *.go"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		head, body, err := Split(text)
		if err != nil && body != text {
			t.Error("text is lost")
		}
		for _, s := range []string{head, text} {
			fields, _ := Parse(s)
			for name, value := range fields {
				if len(value.String()) > maxBytes+2*len(s) {
					t.Errorf("%s has grown", name)
				}
			}
		}
	})
}

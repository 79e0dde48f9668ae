package draw

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Answers are drawn so that they can be read and copied (second look 2.13, the model's side 5.18).
//
// Proves X-123.
func TestMarkdown(t *testing.T) {
	marks := Palette{Strong: "1", Emphasis: "4", Accent: "36"}
	tests := []struct {
		name, text, want string
	}{
		{"prose", "one two three four five six seven", "one two three four\nfive six seven"},
		{"paragraphs", "one\n\ntwo\n", "one\n\ntwo"},
		{"heading", "## The *plan*", "<1>The plan<0>"},
		{"strong", "a **very strong** word, 2**3**4, **", "a <1>very strong<0> word,\n2<1>3<0>4, **"},
		{"emphasis", "an *odd* one, 2*3*4 and snake_case_name", "an <4>odd<0> one, 2*3*4\nand snake_case_name"},
		{"code", "run `go test ./...` or ``a `b` ``", "run <36>go test ./...<0> or\n<36>a `b`<0>"},
		{"unclosed", "a `b and **c", "a `b and **c"},
		{"marks in code", "`**x**`", "<36>**x**<0>"},
		{"link", "see [docs](https://a.b/c) [x](y)", "see docs\n(https://a.b/c)\n[x](y)"},
		{"items", "- first item that is long enough\n  - inner\n1. one", "- first item that is\n  long enough\n  - inner\n1. one"},
		{"quote", "> quoted text that is long enough", "> quoted text that\n> is long enough"},
		{"fence", "```make\nall:\n\tgo build ./a/long/line/that/stays\n```\nend", "<36>all:<0>\n<36>\tgo build ./a/long/line/that/stays<0>\nend"},
		{"fence in a fence", "````\n```\n````\nx", "<36>```<0>\nx"},
		{"fence of tildes", "~~~\n```\n~~~", "<36>```<0>"},
		{"open fence", "```\nx", "<36>x<0>"},
		{"indented", "    kept   as it is and never wrapped at all", "    kept   as it is and never wrapped at all"},
		{"table", "| a | number |\n|---|:--:|\n| `x` | 1 |\n| 漢 |\nend", "<1>a<0>   <1>number<0>\n<36>x<0>   1\n漢\nend"},
		{"wide table", "| name | about |\n|-|-|\n| first | a text of some words |\n| b | c |", "<1>name<0>: first\n<1>about<0>: a text of\n  some words\n\n<1>name<0>: b\n<1>about<0>: c"},
		{"no table", "| a | b |\n| c | d |", "| a | b |\n| c | d |"},
		{"bar in a cell", "| a |\n|-|\n| x \\| `y | z` |", "<1>a<0>\nx | <36>y | z<0>"},
		{"escapes", "a\x1b[2Jb `\x1b]0;t\x07c`", "ab <36>c<0>"},
		{"joiner", "👩\u200d👧", "👩\u200d👧"},
	}
	names := strings.NewReplacer("\x1b[0m", "<0>", "\x1b[1m", "<1>", "\x1b[4m", "<4>", "\x1b[36m", "<36>")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1000} { // however it arrives
				m := Markdown{Width: 20, Palette: marks}
				var lines []string
				for text := tt.text; text != ""; text = text[min(size, len(text)):] {
					lines = append(lines, m.Add(text[:min(size, len(text))])...)
				}
				lines = append(lines, m.End()...)
				if diff := cmp.Diff(tt.want, names.Replace(strings.Join(lines, "\n"))); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

// Without styles nothing is taken away.
func TestMarkdownPlain(t *testing.T) {
	m := Markdown{Width: 20}
	text := "# Head\n**a** `b`\n```go\nx\n```"
	if got := strings.Join(append(m.Add(text), m.End()...), "\n"); got != text {
		t.Errorf("%q", got)
	}
}

// However an answer arrives, the same is drawn, and no word is lost or told twice.
func TestMarkdownInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([a-d]{1,9}[ *`_|>#\n-]{0,3}){0,60}").Draw(t, "text")
		whole := Markdown{Width: 12, Palette: Colours()}
		want := append(whole.Add(text), whole.End()...)
		parts := Markdown{Width: 12, Palette: Colours()}
		var got []string
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(1, 9).Draw(t, "n"), len(rest))
			got = append(got, parts.Add(rest[:n])...)
			parts.Rows()
			rest = rest[n:]
		}
		got = append(got, parts.End()...)
		words := func(lines []string) string {
			return strings.Join(strings.FieldsFunc(strings.Join(lines, " "), func(r rune) bool { return r < 'a' || r > 'd' }), " ")
		}
		if words(got) != words(want) {
			t.Fatalf("in pieces:\n%q\nat once:\n%q", got, want)
		}
	})
}

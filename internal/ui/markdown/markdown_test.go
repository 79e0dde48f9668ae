package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/ui/draw"
)

var tags = map[draw.Role]string{
	draw.Strong: "strong", draw.Emphasis: "em", draw.Struck: "del", draw.Heading: "h", draw.Code: "code", draw.Faint: "faint",
	draw.Keyword: "kw", draw.String: "str", draw.Number: "num", draw.Comment: "com",
}

// show returns rows with their roles and links as tags.
func show(rows []draw.Row) string {
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range row {
			text := s.Text
			if tag := tags[s.Role]; tag != "" {
				text = "<" + tag + ">" + text + "</>"
			}
			if s.Link != "" {
				text = "{" + text + "|" + s.Link + "}"
			}
			b.WriteString(text)
		}
	}
	return b.String()
}

// drawn returns the rows of a text that arrives in pieces of the given size.
func drawn(s Stream, text string, size int) []draw.Row {
	var rows []draw.Row
	for text != "" {
		n := min(size, len(text))
		rows = append(rows, s.Add(text[:n])...)
		s.Rows()
		text = text[n:]
	}
	return append(rows, s.End()...)
}

// TestMarkdown checks that answers are rendered so that they can be read and copied (second
// look 2.13, the model's side 5.18).
//
// Proves X-123.
func TestMarkdown(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"prose", "one two three four five six seven", "one two three four\nfive six seven"},
		{"paragraphs", "\n\none\n\n\n\ntwo\n\n", "one\n\ntwo"},
		{"line breaks", "one\ntwo  \nthree\\\nfour", "one\ntwo\nthree\nfour"},
		{"carriage returns", "one\rtwo\r\nthree\r\n\r\n```\r\na\rb\r\n```\r\n\r\n- x\ry\r\n", "one two\nthree\n\na b\n\n- x y"},
		{"heading", "## The *plan* ##\ntext", "<h>The </><em>plan</>\ntext"},
		{"no heading", "#tag\n####### seven", "#tag\n####### seven"},
		{"strong", "a **very strong** word, 2**3**4, **", "a <strong>very strong</> word,\n2<strong>3</>4, **"},
		{"strong over lines", "**one\ntwo** x", "<strong>one</>\n<strong>two</> x"},
		{"strong in Chinese", "**注意：**请", "<strong>注意：</>请"},
		{"emphasis", "an *odd* _one_, snake_case_name", "an <em>odd</> <em>one</>,\nsnake_case_name"},
		{"nested", "*a **b** c*", "<em>a </><strong>b</><em> c</>"},
		{"struck", "~~gone~~ ~5 ~6", "<del>gone</> ~5 ~6"},
		{"code", "run `go test ./...` or ``a `b` ``", "run <code>go test ./...</> or\n<code>a `b`</>"},
		{"unclosed", "a `b and **c [d](e", "a `b and **c [d](e"},
		{"marks in code", "`**x**`", "<code>**x**</>"},
		{"escaped", `\*a\* \q`, `*a* \q`},
		{"link", "see [docs](https://a.b/c) [x](y)", "see {docs|https://a.b/c} {x|y} (y)"},
		{"link with a title", `[a](https://b.c "t")`, "{a|https://b.c}"},
		{"link that lies", "[good.com](https://evil.com/x)", "{good.com|https://evil.com/x} (evil.com)"},
		{"addresses", "<https://a.b> http://c.d/e.", "{https://a.b|https://a.b}\n{http://c.d/e|http://c.d/e}."},
		{"items", "- first item that is long enough\n  - inner\n    text\n1. one\n   two", "- first item that is\n  long enough\n  - inner\n    text\n1. one\n   two"},
		{"items, indented by four", "* a\n    * b\n\n    c", "* a\n  * b\n\n  c"},
		{"empty item", "-\n- b", "- \n- b"},
		{"no item", "-1\n1985.", "-1\n1985."},
		{"number in a sentence", "in\n1985. that", "in\n1985. that"},
		{"quote", "> quoted text that is long enough\n>\n> > b\nlazy", "<faint>> </>quoted text that\n<faint>> </>is long enough\n<faint>></>\n<faint>> </><faint>> </>b\n<faint>> </><faint>> </>lazy"},
		{"fence", "a\n```\nall:\n\tgo build ./a/long/line/that/stays\n\n\n```\nend", "a\n\nall:\n\tgo build ./a/long/line/that/stays\n\n\n\nend"},
		{"fence in a fence", "````\n```\n````\nx", "```\n\nx"},
		{"fence of tildes", "~~~\n```\n~~~", "```"},
		{"fence in an item", "1. a\n   ```\n   b\n     c\n   ```\n   d\n2. e", "1. a\n\n   b\n     c\n\n   d\n2. e"},
		{"code in a language", "```go\nfunc f() /* a\nb */ \"c\" 1\n```", "<kw>func</> f() <com>/* a</>\n<com>b */</> <str>\"c\"</> <num>1</>"},
		{"open fence", "```\nx", "x"},
		{"indented", "    kept   as it is and never wrapped at all", "    kept   as it is and never wrapped at all"},
		{"rule", "a\n\n---\n* * *", "a\n\n<faint>---</>\n<faint>---</>"},
		{"table", "| a | number |\n|---|--:|\n| `x` | 1 |\n| 漢 |\n\nend", "<strong>a</>   <strong>number</>\n<code>x</>        1\n漢\n\nend"},
		{"table without bars", "t\na | b\n-|-\n1 | 2", "t\n<strong>a</>  <strong>b</>\n1  2"},
		{"wide table", "| name | about |\n|-|-|\n| first | a text of some words |\n| b | c |", "<strong>name</>   <strong>about</>\nfirst  a text of\n       some words\nb      c"},
		{"table with too many columns", "| name | text |\n|-|-|\n| the first name | a text of words |\n| b | c |", "<strong>name</>: the first name\n<strong>text</>: a text of\n  words\n\n<strong>name</>: b\n<strong>text</>: c"},
		{"no table", "| a | b |\n| c | d |", "| a | b |\n| c | d |"},
		{"bar in a cell", "| a |\n|-|\n| x \\| `y | z` |", "<strong>a</>\nx | <code>y | z</>"},
		{"too many cells", "|a|b|\n|-|-|\n|1|2|3|", "<strong>a</>  <strong>b</>\n1  2 | 3"},
		{"escapes", "a\x1b[2Jb `\x1b]0;t\x07c`", "ab <code>c</>"},
		{"joiner", "👩\u200d👧", "👩\u200d👧"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1000} {
				if diff := cmp.Diff(tt.want, show(drawn(Stream{Width: 20, Links: true}, tt.text, size))); diff != "" {
					t.Fatalf("in pieces of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

// TestGlyphs checks that marks are drawn where glyphs can be shown.
//
// Proves X-123.
func TestGlyphs(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"items", "- a\n  * b\n1. c", "• a\n  • b\n1. c"},
		{"tasks", "- [ ] open\n- [x] done, in a line that is wrapped\n- [y] no box\n1. [ ] no box", "☐ open\n☑ done, in a line\n  that is wrapped\n• [y] no box\n1. [ ] no box"},
		{"quote", "> a\n>\n> b", "<faint>│ </>a\n<faint>│</>\n<faint>│ </>b"},
		{"rule", "a\n\n---\n> ***", "a\n\n<faint>────────────────────</>\n<faint>│ </><faint>──────────────────</>"},
		{"code", "```go run\nvar x\n```", "<faint>╭─ go</>\n<faint>│ </><kw>var</> x"},
		{"code without a language", "```\nx\n```", "<faint>│ </>x"},
		{"code in an item", "- a\n  ```sh\n  x\n  ```", "• a\n\n  <faint>╭─ sh</>\n  <faint>│ </>x"},
		{"diff", "```diff\n+a\n-b\n```", "<faint>╭─ diff</>\n<faint>│ </>+a\n<faint>│ </>-b"},
		{"table", "|a|b|\n|-|-|\n|1|2|\n|3|4|", "<strong>a</>  <strong>b</>\n<faint>─</>  <faint>─</>\n1  2\n3  4"},
		{
			"wrapped table", "|a|b|\n|-|-|\n|1|one two three four|\n|2|aVeryLongIdentifier|\n|3|x|",
			"<strong>a</>  <strong>b</>\n<faint>─</>  <faint>─────────────────</>\n1  one two three\n   four\n<faint>─</>  <faint>─────────────────</>\n2  aVeryLongIdentifi\n   er\n<faint>─</>  <faint>─────────────────</>\n3  x",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 1000} {
				if diff := cmp.Diff(tt.want, show(drawn(Stream{Width: 20, Links: true, Glyphs: draw.Unicode()}, tt.text, size))); diff != "" {
					t.Fatalf("in pieces of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

// TestTableFits checks that no row of a table is wider than the space for it, and that no text
// is lost.
func TestTableFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`[a-z漢]{0,12}( [a-z]{1,20}){0,4}`)
		columns := rapid.IntRange(1, 5).Draw(t, "columns")
		var text strings.Builder
		for row := range rapid.IntRange(1, 60).Draw(t, "rows") + 2 {
			for range columns {
				if row == 1 {
					text.WriteString("|-")
				} else {
					text.WriteString("|" + cell.Draw(t, "cell"))
				}
			}
			text.WriteString("|\n")
		}
		s := Stream{Width: rapid.IntRange(40, 100).Draw(t, "width"), Glyphs: draw.Unicode()}
		var got strings.Builder
		rows := drawn(s, text.String(), 1000)
		for _, row := range rows {
			if row.Width() > s.Width {
				t.Fatalf("%d cells of %d: %s", row.Width(), s.Width, row)
			}
			got.WriteString(row.String())
		}
		count := func(s string, r rune) int { return strings.Count(s, string(r)) }
		for r := 'a'; r <= 'z'; r++ {
			if count(got.String(), r) < count(text.String(), r) {
				t.Fatalf("%c is missing in\n%s", r, show(rows))
			}
		}
	})
}

// TestAddresses checks that addresses are written out if the terminal does not support links.
func TestAddresses(t *testing.T) {
	got := show(drawn(Stream{Width: 60}, "[docs](https://a.b/c), [https://a.b](https://a.b)", 9))
	if want := "{docs|https://a.b/c} (https://a.b/c), {https://a.b|https://a.b}"; got != want {
		t.Errorf("%s", got)
	}
}

// TestMarks checks that nothing is removed without styles.
func TestMarks(t *testing.T) {
	text := "# Head\n**a** `b`\n```sh\nx\n```"
	if got := show(drawn(Stream{Width: 20, Marks: true}, text, 5)); got != strings.Replace(text, "# Head", "<h># Head</>", 1) {
		t.Errorf("%q", got)
	}
}

// document generates a text with valid and invalid marks.
func document(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"*", "**", "_", "`", "``", "~~", "[", "](", ")", "](http://a.b)", "<http://", ">", "\\", "|", "\n", "\n\n", "\n- ", "\n1. ", "\n> ", "\n```\n", "\n```go\n", "\n|-|-|\n", "\n# ", "    ", "\t", "!", "\x1b[1m", "字符", "é", "👩\u200d👧", "\xff", "\r", "---"}),
		rapid.StringMatching("[a-d]{1,9} "),
		rapid.Just("some words to fill the lines with something "),
	)
	return strings.Join(rapid.SliceOfN(part, 0, 120).Draw(t, "parts"), "")
}

// TestPieces checks that the rows do not depend on how a text is split.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := document(t)
		s := Stream{Width: rapid.IntRange(10, 60).Draw(t, "width"), Links: true}
		want := show(drawn(s, text, len(text)+1))
		var rows []draw.Row
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(1, 40).Draw(t, "n"), len(rest))
			rows = append(rows, s.Add(rest[:n])...)
			rest = rest[n:]
		}
		rows = append(rows, s.End()...)
		if diff := cmp.Diff(want, show(rows)); diff != "" {
			t.Fatalf("%q (-at once +in pieces):\n%s", text, diff)
		}
	})
}

// TestSettledRows checks that rows returned early equal the rows of the complete paragraph.
func TestSettledRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"word", "*em*", "**two words**", "`code`", "[a](http://b.c)", "字符", "*", "a_b", "\\*"}), 200, 600).Draw(t, "words")
		text := "x " + strings.Join(words, " ")
		s := Stream{Width: 30, Links: true}
		got := show(drawn(s, text, 50))
		if want := show(paragraph{text: text}.broken(s.look(), s.Width)); len(text) < maxPara && got != want {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

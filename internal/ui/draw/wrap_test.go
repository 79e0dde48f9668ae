package draw

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/platform/term/cells"
)

func TestWrapper(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		want   string
	}{
		{"short", []string{"one two"}, "one two"},
		{"wrapped", []string{"one two three"}, "one two\nthree"},
		{"in pieces", []string{"on", "e t", "wo th", "ree"}, "one two\nthree"},
		{"own lines", []string{"one\n\ntwo"}, "one\n\ntwo"},
		{"indented", []string{"  one two"}, "  one two"},
		{"long word", []string{"one abcdefghijkl two"}, "one\nabcdefghijkl\ntwo"},
		{"escape", []string{"a\x1b[31mb"}, "ab"},
		{"escape in pieces", []string{"a\x1b", "[31mb"}, "ab"},
		{"tab", []string{"all:\n\tgo x"}, "all:\n\tgo\nx"}, // a Makefile can be copied (second look 2.13)
		{"code stays whole", []string{"```go\nfor i := range all\n``", "`\none two three"}, "```go\nfor i := range all\n```\none two\nthree"},
		{"table stays whole", []string{"| a | b | c |\none two three"}, "| a | b | c |\none two\nthree"},
		{"joiner in pieces", []string{"👩", "\u200d", "👧"}, "👩\u200d👧"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := Wrapper{Width: 9, Prose: true}
			var got strings.Builder
			for _, p := range tt.pieces {
				got.WriteString(w.Add(p))
			}
			got.WriteString(w.End())
			if got.String() != tt.want {
				t.Errorf("got %q, want %q", got.String(), tt.want)
			}
		})
	}
}

// TestWrapperKeepsWords checks that words stay in order and lines within the width, however the
// text is split into pieces.
func TestWrapperKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringMatching(`[a-d \n]{0,12}`)).Draw(t, "pieces")
		width := rapid.IntRange(1, 20).Draw(t, "width")
		w := Wrapper{Width: width}
		var out strings.Builder
		for _, p := range pieces {
			out.WriteString(w.Add(p))
		}
		out.WriteString(w.End())
		want := strings.Join(strings.Fields(strings.Join(pieces, "")), " ")
		if got := strings.Join(strings.Fields(out.String()), " "); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if cells.Width(line) > width && len(strings.Fields(line)) > 1 {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}

func TestWrap(t *testing.T) {
	styled := Row{{Role: Strong, Text: "one two three"}, {Text: " four"}}
	tests := []struct {
		name string
		row  Row
		hang string
		want string
	}{
		{"short", Line(Text, "one two"), "", "one two"},
		{"hanging", Line(Text, "one two three four"), "  ", "one two|  three|  four"},
		{"indented", Line(Text, "    one two three"), "", "    one|two three"},
		{"styled", styled, "", "\x1b[1mone two\x1b[0m|\x1b[1mthree\x1b[0m|four"},
		{"style between words", Row{{Text: "one "}, {Role: Strong, Text: "two"}, {Text: " six"}}, "", "one \x1b[1mtwo\x1b[0m|six"},
		{"style in a word", Row{{Text: "one tw"}, {Role: Strong, Text: "oooo"}, {Text: " s"}}, "", "one|tw\x1b[1moooo\x1b[0m s"},
		{"ideographs", Line(Text, "字符字符字符"), "", "字符字符|字符"},
		{"family", Line(Text, "字符字👩\u200d👧"), "", "字符字|👩\u200d👧"},
		{"long word", Line(Text, "a https://example.com/x b"), "", "a|https://example.com/x|b"},
		{"tab", Line(Text, "a\tb c"), "", "a\tb|c"},
		{"blanks at the end", Line(Text, "one   "), "", "one"},
		{"empty", nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Palette{}
			p.styles[Strong] = "1"
			if got := strings.Join(p.Lines(Wrap(tt.row, 9, Line(Text, tt.hang))), "|"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWrapKeepsWords checks that words stay in order and rows within the width.
func TestWrapKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var row Row
		for range rapid.IntRange(0, 8).Draw(t, "spans") {
			row = append(row, Span{Role: Role(rapid.IntRange(0, int(roles)-1).Draw(t, "role")), Text: rapid.StringMatching(`[a-d字 ]{0,12}`).Draw(t, "text")})
		}
		width := rapid.IntRange(1, 20).Draw(t, "width")
		var words []string
		for _, r := range Wrap(row, width, nil) {
			if text := r.String(); cells.Width(text) > width && (len(strings.Fields(text)) > 1 || strings.Contains(text, "字字")) {
				t.Fatalf("%q is wider than %d", text, width)
			}
			words = append(words, r.String())
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got, want := squeeze(strings.Join(words, "")), squeeze(row.String()); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

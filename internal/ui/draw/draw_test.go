package draw

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/term/cells"
	"adze/internal/tool"
)

func exit(n int) *int { return &n }

func TestLines(t *testing.T) {
	diff := tool.Diff{Path: "a.go", Added: 1, Removed: 1, Hunks: []tool.Hunk{
		{Lines: []string{" func f() {", "-\treturn 1", "+\treturn 2", " }"}},
		{Lines: []string{" // end"}},
	}}
	tests := []struct {
		name string
		d    tool.Display
		o    Options
		want []string
	}{
		{"plain", tool.Plain{Text: "one\ntwo\n"}, Options{}, []string{"one", "two"}},
		{"plain, shortened", tool.Plain{Text: "one\ntwo\nthree\nfour"}, Options{Max: 2}, []string{"one", "two", "⋯ 2 more lines"}},
		{"plain, one left", tool.Plain{Text: "one\ntwo"}, Options{Max: 1}, []string{"one", "⋯ 1 more line"}},
		{"plain, narrow", tool.Plain{Text: "a long line"}, Options{Width: 6}, []string{"a lon⋯"}},
		{"nothing", tool.Plain{}, Options{}, []string{}},
		{"nil", nil, Options{}, []string{}},
		{"escape sequences", tool.Plain{Text: "a\x1b[2Jb\x1b]0;title\x07c"}, Options{}, []string{"abc"}},
		{"output", tool.Output{Text: "ok\n", Lines: 1, Exit: exit(0)}, Options{}, []string{"ok"}},
		{"output, failed", tool.Output{Text: "a\nb\nc\n", Lines: 3, Exit: exit(2), Elapsed: 1500 * time.Millisecond},
			Options{Max: 2}, []string{"⋯ 1 earlier line", "b", "c", "exit code 2 after 1.5s"}},
		{"output, more", tool.Output{Text: "a\nb", Lines: 2}, Options{Max: 1, More: " (ask)"}, []string{"⋯ 1 earlier line (ask)", "b"}},
		{"output in a file", tool.Output{Text: "a\nb", Lines: 9, File: "/w/out.txt"}, Options{Max: 1, Dir: "/w", More: " (ask)"}, []string{"⋯ 8 earlier lines in out.txt", "b"}},
		{"output, running", tool.Output{Text: "tick", Lines: 90}, Options{}, []string{"⋯ 89 earlier lines", "tick"}},
		{"output, note", tool.Output{Text: "x", Lines: 1, Note: "Stopped", Exit: exit(137)}, Options{}, []string{"x", "Stopped"}},
		{"whole file", tool.File{Path: "a.txt", First: 1, Count: 3, Len: 3}, Options{}, []string{"3 lines of a.txt"}},
		{"part of a file", tool.File{Path: "a.txt", First: 5, Count: 2, Len: 9}, Options{}, []string{"lines 5 to 6 of 9 of a.txt"}},
		{"file in the directory", tool.File{Path: "/w/sub/a.txt", Count: 1, Len: 1}, Options{Dir: "/w"}, []string{"1 line of sub/a.txt"}},
		{"file elsewhere", tool.File{Path: "/etc/a.txt", Count: 1, Len: 1}, Options{Dir: "/w"}, []string{"1 line of /etc/a.txt"}},
		{"diff", diff, Options{}, []string{
			"a.go  +1 -1", " func f() {", "-    return 1", "+    return 2", " }", "⋯", " // end",
		}},
		{"diff, shortened", diff, Options{Max: 2}, []string{
			"a.go  +1 -1", " func f() {", "-    return 1", "⋯ 3 more lines",
		}},
		{"proposed text", tool.Plain{Text: "1. harm\r1. good\r\n2. done"}, Options{Proposed: true}, []string{`1. harm\x0d1. good`, "2. done"}},
		{"list", tool.List{Items: []string{"a", "b"}, Total: 7, Unit: "files"}, Options{}, []string{"a", "b", "⋯ 5 more files"}},
		{"checklist", tool.Checklist{{Text: "a", State: tool.Done}, {Text: "b", State: tool.Doing, Note: "ada"}, {Text: "c"}}, Options{}, []string{"✓ a", "▸ b (ada)", "∙ c"}},
		{"long checklist", tool.Checklist{{Text: "a", State: tool.Done}, {Text: "b"}, {Text: "c", State: tool.Doing}}, Options{Max: 2}, []string{"▸ c", "∙ b", "⋯ and 1 more"}},
		{"empty list", tool.List{Unit: "files"}, Options{}, []string{"no files"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Palette{}.Lines(Rows(tt.d, tt.o))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLinesFit checks that any tool display fits the width and contains no control characters.
func TestLinesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		o := Options{Width: rapid.IntRange(1, 40).Draw(t, "width"), Max: rapid.IntRange(1, 5).Draw(t, "max")}
		for _, d := range []tool.Display{
			tool.Plain{Text: text}, tool.Output{Text: text, Note: text}, tool.File{Path: text},
			tool.Diff{Path: text, Hunks: []tool.Hunk{{Lines: []string{text, text}}}}, tool.List{Items: []string{text}, Unit: text},
			tool.Checklist{{Text: text, Note: text}, {Text: text, State: tool.Done}},
		} {
			for _, line := range (Palette{}).Lines(Rows(d, o)) {
				if cells.Width(line) > o.Width {
					t.Fatalf("%T: %q is wider than %d", d, line, o.Width)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
					t.Fatalf("%T: control characters in %q", d, line)
				}
			}
		}
	})
}

// TestMatchesAreMarked checks that search matches are highlighted in any line.
//
// Proves TOOL-17.
func TestMatchesAreMarked(t *testing.T) {
	list := tool.List{
		Items: []string{"cart.go:88:\tsum.Round()\x1b[2J.Round()", "cart.go-89-\treturn", "x"},
		Marks: [][]tool.Mark{{{From: 15, To: 21}, {From: 27, To: 33}, {From: 30, To: 99}}, nil}, Total: 3, Unit: "lines",
	}
	rows := Rows(list, Options{Width: 40})
	want := []Row{
		{{Text: "cart.go:88:    sum"}, {Role: Accent, Text: ".Round"}, {Text: "()"}, {Role: Accent, Text: ".Round"}, {Text: "()"}},
		Line(Text, "cart.go-89-    return"), Line(Text, "x"),
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if got := Rows(list, Options{Width: 20})[0].Width(); got > 20 {
		t.Errorf("%d cells", got)
	}
}

// TestOutcomeOfList checks singular and plural in the result count.
func TestOutcomeOfList(t *testing.T) {
	for want, d := range map[string]tool.List{
		"1 file":  {Total: 1, Unit: "files"},
		"0 files": {Unit: "files"},
		"2 lines": {Total: 2, Unit: "lines"},
		"1 item":  {Total: 1},
	} {
		if got := Outcome(d, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

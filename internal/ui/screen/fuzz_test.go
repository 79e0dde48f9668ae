package screen

import (
	"strings"
	"testing"

	"adze/internal/ui/draw"
)

// FuzzFrame checks that arbitrary text, painted or not, produces only sequences known to the
// test terminal, that the live rows are in place, and that the final lines are above them.
func FuzzFrame(f *testing.F) {
	for _, text := range []string{
		"plain", "\x1b[2Jgone\x1b[3J", "\x1b]0;title\a", "\x1b]8;;http://x\x1b\\link", "a\x1b[1mb", "\x9b2J", "\u009b2J", "\x1bP1$r\x1b\\", "\x1b[?1049h", "a\x1b", "\x1b[", "\x1b]8;",
		"\x1b[1;1H", "\x1b[6n", "\x1bc", "\r\n\b\t\a\v", "e\u0301\u200d👩\u200d👩\ufe0f🏽🇩🇪", "\u202eabc", "\xff\xfe", "\x1b[38:5:1mx", "\x1b]8;;\x1b]0;t\a", strings.Repeat("字", 60),
	} {
		f.Add(text, "")
		f.Add("x"+text, "> "+text)
	}
	env := func(name string) string { return map[string]string{"COLORTERM": "truecolor"}[name] }
	palette := draw.PaletteFor(true, "dark", env).Linked(draw.Files{})
	f.Fuzz(func(t *testing.T, one, two string) {
		s := newStage(40, 6, true)
		row := draw.Row{{Role: draw.Strong, Text: one, Link: "https://example.org/" + two}, {Text: two}}.On(draw.AddedGround, len(one)%2 == 0)
		painted := palette.Paint(row)
		s.shows(nil, []string{painted, two}, Point{0, 3})
		s.shows([]string{one, painted}, []string{two, "> typed"}, Point{1, 7})
		s.shows(nil, []string{one, "> typed"}, Point{1, 7})
		if p := s.terminal.Problems(); len(p) > 0 {
			t.Fatal(p)
		}
		y, x := s.terminal.Cursor()
		if got := s.terminal.Screen()[y]; got != "> typed" || x != 7 {
			t.Fatalf("the cursor is at %d in %q", x, got)
		}
		for _, line := range s.terminal.Screen()[y+1:] {
			if line != "" {
				t.Fatalf("%q is left below the rows", line)
			}
		}
	})
}

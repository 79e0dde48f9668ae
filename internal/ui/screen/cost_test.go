package screen

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"adze/internal/platform/term"
)

// interfaceRows returns live rows as the TUI draws them in 24-bit color: streaming text, the
// current activity with its moving glyph, a rule, the input and the status.
func interfaceRows(text []string, width, frame int) ([]string, Point) {
	const faint, accent, good, off = "\x1b[38;2;139;147;167m", "\x1b[38;2;125;207;255m", "\x1b[38;2;158;206;106m", "\x1b[0m"
	clock, glyph := frame/30, []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[frame*8/30%10]
	rows := append(append([]string{}, text...), "",
		fmt.Sprintf("%s%c%s Writing%s %ds ∙ ↓ %d.%dk tokens ∙ Esc stops%s", accent, glyph, off, faint, clock, 1+clock/5, clock%5*2, off),
		faint+strings.Repeat("─", width)+off, accent+"❯"+off+" "+faint+"Message…"+off,
		"  "+good+"●"+off+" ask"+faint+" ∙ opus ∙ "+accent+"▰▰"+off+faint+"▱▱▱▱▱▱▱▱ 14% ∙ $0.08 ∙ ⎇ main"+strings.Repeat(" ", max(0, width-60))+"? keys"+off)
	return rows, Point{len(rows) - 2, 2}
}

// TestBytesPerCharacter checks that streaming text costs at most four bytes per character in
// total, at 200 tokens and 30 frames per second, while a glyph moves, and that rows that become
// final in place cost nothing.
//
// Proves X-194.
func TestBytesPerCharacter(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		s := newStage(size[0], size[1], true)
		width := size[0] - 1
		words := strings.Fields(strings.Repeat("The tax is rounded per line and the sum again at the end of the invoice which is wrong ", 200))
		var tail, final []string
		line, characters := "", 0
		show := func(frame int) {
			live, caret := interfaceRows(append(tail[:len(tail):len(tail)], line), width, frame)
			s.shows(final, live, caret)
			final = nil
		}
		show(0)
		begin := s.terminal.Written()
		for i, word := range words {
			characters += len(word) + 1
			if len(line)+len(word) >= width {
				tail, line = append(tail, line), ""
			}
			if len(tail) > 3 {
				final, tail = append(final, tail[0]), tail[1:]
			}
			line += word + " "
			if i%7 == 6 { // 200 tokens per second in 30 frames
				show(i / 7)
			}
		}
		got := float64(s.terminal.Written()-begin) / float64(characters)
		t.Logf("%dx%d: %.2f bytes a character", size[0], size[1], got)
		if got > 4 {
			t.Errorf("%dx%d: %.2f bytes a character", size[0], size[1], got)
		}
	}
}

// TestFinalWhereItStands checks that rows that become final in place are not written again.
func TestFinalWhereItStands(t *testing.T) {
	s := newStage(80, 24, true)
	s.shows(nil, []string{"one", "two", "\x1b[1mthree\x1b[0m", "> "}, Point{3, 2})
	before := s.terminal.Written()
	s.shows([]string{"one", "two"}, []string{"\x1b[1mthree\x1b[0m", "> "}, Point{1, 2})
	if got := s.terminal.Written() - before; got != 0 {
		t.Errorf("%d bytes are written", got)
	}
	s.shows([]string{"\x1b[1mthree\x1b[0m", "four"}, []string{"> "}, Point{0, 2})
	if got := s.terminal.Text(); got != "one\ntwo\nthree\nfour\n>" {
		t.Errorf("%s", got)
	}
}

// TestCellThatMoves checks that a glyph that moves is written alone, and that rows that only
// move down are not written again.
//
// Proves X-194.
func TestCellThatMoves(t *testing.T) {
	s := newStage(80, 24, true)
	rows := func(glyph string) []string {
		return []string{"\x1b[36m" + glyph + "\x1b[0m Writing \x1b[2m12s ∙ Esc stops\x1b[0m", strings.Repeat("─", 79), "> ", "  ask ∙ opus"}
	}
	s.shows(nil, rows("⠋"), Point{2, 2})
	before := s.terminal.Written()
	s.shows(nil, rows("⠙"), Point{2, 2})
	if got := s.terminal.Written() - before; got > 30 {
		t.Errorf("%d bytes are written for a glyph", got)
	}
	before = s.terminal.Written()
	s.shows([]string{"a final line"}, rows("⠹"), Point{2, 2})
	if got := s.terminal.Written() - before; got > 110 {
		t.Errorf("%d bytes are written for a final line", got)
	}
	if got, want := s.terminal.Text(), "a final line\n⠹ Writing 12s ∙ Esc stops\n"+strings.Repeat("─", 79)+"\n>\n  ask ∙ opus"; got != want {
		t.Errorf("%s", got)
	}
}

func BenchmarkFrame(b *testing.B) {
	size := func() (int, int) { return 200, 50 }
	screens := [2][]string{}
	for i := range screens {
		for row := range 49 {
			screens[i] = append(screens[i], fmt.Sprintf("\x1b[2m%d.%d\x1b[0m %s \x1b[32m%s\x1b[0m", i, row, strings.Repeat(string(rune('a'+i)), 90), strings.Repeat("字", 40)))
		}
	}
	b.Run("full", func(b *testing.B) {
		s := New(io.Discard, size, term.RewrapsLines)
		for i := 0; b.Loop(); i++ {
			s.Frame(nil, screens[i%2], Point{48, 2})
			s.written()
		}
	})
	b.Run("key", func(b *testing.B) {
		s := New(io.Discard, size, term.RewrapsLines)
		rows := append([]string{}, screens[0]...)
		for i := 0; b.Loop(); i++ {
			next := append(rows[:48:48], "> "+strings.Repeat("x", i%90))
			s.Frame(nil, next, Point{48, 2 + i%90})
			s.written()
		}
	})
}

package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/cells"
	"adze/internal/ui/screen/screentest"
)

// Whatever is shown one after the other, the terminal shows every final line once and in order, below them the last live
// rows, and the cursor where the caret is.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(4, 30).Draw(t, "width"), rapid.IntRange(3, 8).Draw(t, "height")
		terminal := screentest.New(width, height)
		s := New(terminal, func() (int, int) { return width, height }, false)
		line := rapid.OneOf(rapid.StringMatching(`[a-c ]{0,12}[a-c]`), rapid.SampledFrom([]string{"", "漢字 x", "e\u0301a", "\x1b[1mstrong\x1b[0m x"}))
		var want []string
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			final := rapid.SliceOfN(line, 0, 4).Draw(t, "final")
			live := rapid.SliceOfN(line, 0, 10).Draw(t, "live")
			var caret Point
			if len(live) > 0 {
				caret.Row = rapid.IntRange(0, len(live)-1).Draw(t, "row")
				caret.Col = rapid.IntRange(0, min(width-2, Width(live[caret.Row]))).Draw(t, "col")
			}
			s.Frame(final, live, caret)
			for _, l := range final {
				want = append(want, broken(plain(l), width)...)
			}
			rows, at := fit(live, caret, width, height)
			all := append([]string{}, want...)
			for _, row := range rows {
				all = append(all, strings.TrimRight(plain(row), " "))
			}
			if diff := cmp.Diff(strings.TrimRight(strings.Join(all, "\n"), "\n"), terminal.Text()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if len(rows) > 0 {
				row, col := terminal.Cursor()
				if got := terminal.Screen()[row]; got != strings.TrimRight(plain(rows[at.Row]), " ") || col != at.Col {
					t.Fatalf("the cursor is at %d in %q, want %d in %q", col, got, at.Col, rows[at.Row])
				}
			}
			before := terminal.Written()
			if s.Frame(nil, live, caret); terminal.Written() != before {
				t.Fatal("the same rows are written again")
			}
		}
		if p := terminal.Problems(); len(p) > 0 {
			t.Fatal(p)
		}
	})
}

// plain returns a row without styles and marks, as the terminal of the tests shows it.
func plain(row string) string {
	row = strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(row)
	return strings.Map(func(r rune) rune {
		if cells.Of(r) == 0 {
			return -1
		}
		return r
	}, row)
}

// broken returns the rows that a line takes.
func broken(line string, width int) []string {
	rows, used := []string{""}, 0
	for _, r := range line {
		if used+cells.Of(r) > width {
			rows, used = append(rows, ""), 0
		}
		rows[len(rows)-1] += string(r)
		used += cells.Of(r)
	}
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return rows
}

// Typing at the end writes what is typed and no more, so that a screen reader reads it once.
func TestTypingIsEchoed(t *testing.T) {
	var out strings.Builder
	s := New(&out, func() (int, int) { return 80, 24 }, false)
	s.Frame(nil, []string{"> "}, Point{0, 2})
	for i, row := range []string{"> a", "> ab", "> a", "> ax"} {
		out.Reset()
		s.Frame(nil, []string{row}, Point{0, len(row)})
		if want := []string{"a", "b", "\b\x1b[K", "x"}[i]; out.String() != want {
			t.Errorf("%q: written %q, want %q", row, out.String(), want)
		}
	}
}

func TestClear(t *testing.T) {
	terminal := screentest.New(20, 5)
	s := New(terminal, func() (int, int) { return 20, 5 }, false)
	s.Frame([]string{"one", "two"}, []string{"live", "> x"}, Point{1, 3})
	s.Clear()
	s.Frame(nil, []string{"> x"}, Point{0, 3})
	if got := terminal.Text(); got != "one\ntwo\n> x" {
		t.Errorf("%q", got)
	}
	if row, col := terminal.Cursor(); row != 0 || col != 3 {
		t.Errorf("the cursor is at %d, %d", row, col)
	}
}

// After a change of the size the rows are shown once, and nothing above them is lost.
func TestResize(t *testing.T) {
	width, height := 40, 8
	terminal := screentest.New(width, height)
	s := New(terminal, func() (int, int) { return width, height }, false)
	var want []string
	for i, size := range [][2]int{{40, 8}, {20, 8}, {30, 4}, {40, 9}, {10, 9}, {60, 3}} {
		width, height = size[0], size[1]
		terminal.Resize(width, height)
		line := fmt.Sprint("line ", i)
		want = append(want, line)
		s.Frame([]string{line}, []string{"working", "> typed"}, Point{1, 4})
		if got := terminal.Text(); got != strings.Join(want, "\n")+"\nworking\n> typed" {
			t.Errorf("%v:\n%s", size, got)
		}
	}
}

// A terminal that breaks lines anew has moved the rows when it is asked to erase them.
func TestReflow(t *testing.T) {
	var out strings.Builder
	width := 20
	s := New(&out, func() (int, int) { return width, 24 }, true)
	s.Frame(nil, []string{strings.Repeat("x", 19), "> " + strings.Repeat("y", 12)}, Point{1, 14})
	out.Reset()
	width = 10
	s.Frame(nil, []string{"> y"}, Point{0, 3})
	if want := "\x1b[3A\r\x1b[K\r\n\x1b[K\r\n\x1b[K\r\n\x1b[K\x1b[3A> y"; !strings.Contains(out.String(), want) {
		t.Errorf("written %q, want %q", out.String(), want)
	}
}

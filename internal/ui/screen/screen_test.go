package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/platform/term"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/screen/screentest"
)

// A stage is a screen on a resizable terminal.
type stage struct {
	*Screen
	terminal *screentest.Terminal

	mu            sync.Mutex
	width, height int
}

func newStage(width, height int, reflows bool) *stage {
	s := &stage{terminal: screentest.New(width, height), width: width, height: height}
	s.terminal.Reflows = reflows
	s.Screen = New(s.terminal, func() (int, int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.width, s.height
	}, map[bool]term.Reflow{true: term.RewrapsLines}[reflows])
	return s
}

// resize changes the terminal size.
func (s *stage) resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width, s.height = width, height
	s.terminal.Resize(width, height)
}

// shows shows a frame and waits until it is written.
func (s *stage) shows(final, live []string, caret Point) {
	s.Frame(final, live, caret)
	s.written()
}

// written waits until everything is written.
func (s *Screen) written() {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done != nil {
		<-done
	}
}

// TestFrames checks that, for any sequence of frames, the terminal shows every final line once
// and in order, followed by the latest live rows with the cursor at the caret.
func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(4, 30).Draw(t, "width"), rapid.IntRange(3, 8).Draw(t, "height")
		s := newStage(width, height, false)
		line := rapid.OneOf(rapid.StringMatching(`[a-c ]{0,12}[a-c]`), rapid.SampledFrom([]string{
			"", "a line of some length", "a line of same length", "\x1b[1m⠙\x1b[0m works for 1s", "\x1b[1m⠹\x1b[0m works for 2s", "漢字 x", "e\u0301a", "ae\u0301", "\x1b[1mstrong\x1b[0m x", "\x1b[1mstrange\x1b[0m x", "\x1b[1mst\x1b[0m", "👍🏽 a", "👍 a", "❤\ufe0fb", "🇩🇪🇫🇷c",
		}))
		var want []string
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			final := rapid.SliceOfN(line, 0, 4).Draw(t, "final")
			live := rapid.SliceOfN(line, 0, 10).Draw(t, "live")
			if n := rapid.IntRange(0, len(s.region.rows)).Draw(t, "same"); n > 0 { // the last rows only move
				for _, row := range s.region.rows[len(s.region.rows)-n:] {
					live = append(live, row.given)
				}
			}
			if n := rapid.IntRange(0, min(2, len(s.region.rows))).Draw(t, "ready"); n > 0 && len(final) == 0 {
				for _, row := range s.region.rows[:n] { // rows that stay where they are
					final = append(final, row.given)
				}
			}
			var caret Point
			if len(live) > 0 {
				caret.Row = rapid.IntRange(0, len(live)-1).Draw(t, "row")
				caret.Col = rapid.IntRange(0, min(width-2, rowWidth(live[caret.Row]))).Draw(t, "col")
			}
			s.shows(final, live, caret)
			for _, l := range final {
				want = append(want, broken(visible(l), width)...)
			}
			rows, at := s.region.rows, s.region.caret
			all := append([]string{}, want...)
			for _, row := range rows {
				all = append(all, strings.TrimRight(visible(row.text), " "))
			}
			if diff := cmp.Diff(strings.TrimRight(strings.Join(all, "\n"), "\n"), s.terminal.Text()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			row, col := s.terminal.Cursor()
			if got := s.terminal.Screen()[row]; got != strings.TrimRight(visible(rows[at.Row].text), " ") || col != at.Col {
				t.Fatalf("the cursor is at %d in %q, want %d in %q", col, got, at.Col, rows[at.Row].text)
			}
			before := s.terminal.Written()
			if s.shows(nil, live, caret); s.terminal.Written() != before {
				t.Fatal("the same rows are written again")
			}
		}
		if p := s.terminal.Problems(); len(p) > 0 {
			t.Fatal(p)
		}
	})
}

// visible returns a row without styles and marks, as the test terminal shows it.
func visible(row string) string {
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

// TestTypingIsEchoed checks that typing at the end writes only the typed text, so that a screen
// reader reads it once.
func TestTypingIsEchoed(t *testing.T) {
	var out strings.Builder
	s := New(&out, func() (int, int) { return 80, 24 }, term.NoReflow)
	show := func(row string) string {
		out.Reset()
		s.Frame(nil, []string{row, "status"}, Point{0, rowWidth(row)})
		s.written()
		return out.String()
	}
	show("> ")
	for _, step := range []struct{ row, want string }{
		{"> a", "a"}, {"> ab", "b"}, {"> a", "\b\x1b[K"}, {"> ax", "x"}, {"> axж", "ж"}, {"> axж字", "字"},
		{"> axж字👍", "👍\x1b[10G"}, {"> axж字👍🏽", "\x1b[8G\x1b[K👍🏽\x1b[12G"}, {"> axж字👍🏽b", "b\x1b[13G"},
	} {
		if got := show(step.row); got != step.want {
			t.Errorf("%q: written %q, want %q", step.row, got, step.want)
		}
	}
}

// TestStyledRows checks that only the changed part of a styled row is written.
func TestStyledRows(t *testing.T) {
	for _, tt := range []struct{ was, is, want string }{
		{"\x1b[36mab\x1b[0m", "\x1b[36mabc\x1b[0m", "\x1b[3G\x1b[36mc\x1b[0m"},
		{"\x1b[36mab\x1b[0m x", "\x1b[36mab\x1b[0m xy", "\x1b[5Gy"},
		{"\x1b[36mab\x1b[0m", "\x1b[36ma\x1b[0m", "\x1b[2G\x1b[K"},
		{"ab", "a\x1b[1mb\x1b[0m", "\x1b[2G\x1b[1mb\x1b[0m"},
		{"a字", "a字\u0301", "\x1b[2G字\u0301"},
		{"name", "\x1b]8;;file:///name\x1b\\name\x1b]8;;\x1b\\", "\x1b]8;;file:///name\x1b\\name\x1b]8;;\x1b\\"},
		{"x 🇩🇪 y", "x 🇩🇪 z", "\x1b[6G\x1b[Kz"},
		{"x 🇩🇪 y", "x 🇩🇫 y", "\x1b[3G\x1b[K🇩🇫\x1b[5G y"},
	} {
		b := newFrame(nil)
		b.rewrite(0, liveRow(tt.was, 79), liveRow(tt.is, 79), maxSlack)
		if got := string(b.finish()); got != tt.want {
			t.Errorf("%q, then %q: written %q, want %q", tt.was, tt.is, got, tt.want)
		}
	}
}

func TestClear(t *testing.T) {
	s := newStage(20, 5, false)
	s.shows([]string{"one", "two"}, []string{"live", "> x"}, Point{1, 3})
	s.Clear()
	s.shows(nil, []string{"> x"}, Point{0, 3})
	if got := s.terminal.Text(); got != "one\ntwo\n> x" {
		t.Errorf("%q", got)
	}
	if row, col := s.terminal.Cursor(); row != 0 || col != 3 {
		t.Errorf("the cursor is at %d, %d", row, col)
	}
}

// TestResize checks that after a resize the rows are shown once and nothing above them is lost.
// During the resize there is only one row.
func TestResize(t *testing.T) {
	for _, reflows := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(40, 8, reflows)
			var want []string
			live := []string{"working, and it takes a long time", "> typed"}
			for i, size := range [][2]int{{40, 8}, {35, 8}, {36, 4}, {40, 9}, {39, 9}, {60, 3}} {
				s.resize(size[0], size[1])
				line := fmt.Sprint("line ", i)
				want = append(want, line)
				s.shows([]string{line}, live, Point{1, 4})
				if got, is := s.terminal.Text(), strings.Join(want, "\n")+"\n>"; i > 0 && got != is {
					t.Errorf("%v, reflows %v:\n%s", size, reflows, got)
				}
				time.Sleep(settled - 20*time.Millisecond)
				s.shows(nil, live, Point{1, 4})
				if got, is := s.terminal.Text(), strings.Join(want, "\n")+"\n>"; i > 0 && got != is {
					t.Errorf("%v, reflows %v, later:\n%s", size, reflows, got)
				}
				time.Sleep(25 * time.Millisecond)
				synctest.Wait()
				if got := s.terminal.Text(); got != strings.Join(want, "\n")+"\n"+strings.Join(live, "\n") {
					t.Errorf("%v, reflows %v, at last:\n%s", size, reflows, got)
				}
			}
			if p := s.terminal.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

// TestReflow checks that rows moved by a reflowing terminal are removed. If it is not known
// whether the terminal reflows, lines above the rows must not be removed.
func TestReflow(t *testing.T) {
	for _, reflows := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(40, 10, reflows)
			s.shows([]string{"one", "two"}, []string{strings.Repeat("x", 39), "> " + strings.Repeat("y", 32)}, Point{1, 34})
			s.resize(20, 10)
			s.shows(nil, []string{"> y"}, Point{0, 3})
			time.Sleep(settled)
			synctest.Wait()
			if got := s.terminal.Text(); got != "one\ntwo\n> y" {
				t.Errorf("reflows %v:\n%s", reflows, got)
			}
		})
	}
}

// A gate is a terminal that accepts nothing until it is opened.
type gate struct {
	open chan struct{}
	mu   sync.Mutex
	out  strings.Builder
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Write(p)
}

// TestStuckTerminal checks that a stuck terminal blocks nothing else: once it accepts output,
// it receives every final line in order, and only the latest live rows. Producers are held up
// when a megabyte is queued.
func TestStuckTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		s := New(g, func() (int, int) { return 80, 24 }, term.NoReflow)
		var want strings.Builder
		n := 0
		for ; !s.Full(); n++ {
			line := fmt.Sprintf("line %d of many that wait for the terminal to take them", n)
			want.WriteString(line + "\r\n")
			s.Frame([]string{line}, []string{fmt.Sprintf("live %d", n)}, Point{})
			if n == 0 {
				synctest.Wait() // until the first piece is being written; everything else is queued
			}
		}
		if n < 10000 || n > 30000 {
			t.Errorf("%d lines wait", n)
		}
		before := time.Now()
		s.Leave()
		if took := time.Since(before); took > 2*patience {
			t.Errorf("it was waited for for %v", took)
		}
		room := s.Room()
		select {
		case <-room:
			t.Error("there is room, though nothing was written")
		default:
		}
		s.Frame(nil, []string{"the last"}, Point{})
		close(g.open)
		<-room
		s.written()
		if s.Room() != nil {
			t.Error("it is full, though everything is written")
		}
		terminal := screentest.New(80, 24)
		io.WriteString(terminal, g.out.String()) // ok: a terminal of the tests
		if got := terminal.Text(); got != strings.ReplaceAll(want.String(), "\r", "")+"the last" {
			t.Errorf("the lines are not there once and in order, or the live row is not the last: %d bytes, %q", len(got), got[max(0, len(got)-200):])
		}
		if got := strings.Count(g.out.String(), "live "); got > 80 {
			t.Errorf("%d live rows of the past were written", got)
		}
	})
}

// rowWidth returns the width of a row without its styles.
func rowWidth(text string) int {
	if plain(text) {
		return len(text)
	}
	width := 0
	for text != "" {
		n, kind := token(text)
		if kind == character {
			_, w := decode(text[:n])
			width += w
		}
		text = text[n:]
	}
	return width
}

// TestFill checks that a background reaches the end of the line: erased in a final line, which
// reflows, and with blanks in a live row.
//
// Proves X-124.
func TestFill(t *testing.T) {
	const text = "\x1b[44mabc\x1b[K\x1b[0m"
	for _, tt := range []struct {
		final string
		want  string
	}{
		{text, text + "\r\n"},
		{"\x1b[44mabcdefghij\x1b[K\x1b[0m", "\x1b[44mabcdefghij\x1b[0m\r\n"}, // the terminal's width: erasing would remove the j
	} {
		var out strings.Builder
		s := New(&out, func() (int, int) { return 10, 5 }, term.NoReflow)
		s.Frame([]string{tt.final}, nil, Point{})
		s.written()
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%q is written as %q", tt.final, out.String())
		}
	}
	var out strings.Builder
	s := New(&out, func() (int, int) { return 10, 5 }, term.NoReflow)
	for _, tt := range []struct{ live, want string }{
		{"\x1b[44mabc\x1b[0m", "\x1b[44mabc\x1b[0m\r"}, {text, "\x1b[4G\x1b[44m      \x1b[0m\r"}, {"abc", "abc\x1b[K\r"},
	} {
		out.Reset()
		s.Frame(nil, []string{tt.live}, Point{})
		s.written()
		if out.String() != tt.want {
			t.Errorf("%q is written as %q, want %q", tt.live, out.String(), tt.want)
		}
	}
}

package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPages checks that the alternate screen shows exactly the page, and that the main screen
// is restored afterwards, including output written while the page was open.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(8, 30).Draw(t, "width"), rapid.IntRange(4, 8).Draw(t, "height")
		s := newStage(width, height, false)
		terminal := s.terminal
		line := rapid.OneOf(rapid.StringMatching(`[a-c ]{0,5}[a-c]`), rapid.SampledFrom([]string{"", "漢字 x", "\x1b[1mstr\x1b[0m x"}))
		s.shows([]string{"one", "two"}, []string{"busy", "> x"}, Point{1, 3})
		before := terminal.Screen()
		for range rapid.IntRange(1, 8).Draw(t, "pages") {
			rows := rapid.SliceOfN(line, 0, 10).Draw(t, "rows")
			var caret *Point
			if rapid.Bool().Draw(t, "caret") {
				caret = &Point{rapid.IntRange(0, height-1).Draw(t, "row"), rapid.IntRange(0, width-2).Draw(t, "col")}
			}
			s.pages(rows, caret)
			var want []string
			for _, row := range fill(rows, width, height) {
				want = append(want, strings.TrimRight(visible(row.text), " "))
			}
			if diff := cmp.Diff(want, terminal.Screen()); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if row, col := terminal.Cursor(); caret != nil && (Point{row, col}) != *caret {
				t.Fatalf("the cursor is at %d, %d, not at %v", row, col, *caret)
			}
			if terminal.Hidden() != (caret == nil) {
				t.Fatal("the cursor is hidden without need, or shown without a place")
			}
			written := terminal.Written()
			if s.pages(rows, caret); terminal.Written() != written {
				t.Fatal("the same page is written again")
			}
		}
		s.closes()
		if diff := cmp.Diff(before, terminal.Screen()); diff != "" || terminal.Alternate() || terminal.Hidden() {
			t.Fatalf("after the page: %s", diff)
		}
		s.shows([]string{"three"}, []string{"> x"}, Point{0, 3})
		if got := terminal.Text(); got != "one\ntwo\nthree\n> x" {
			t.Fatalf("%q", got)
		}
		if p := terminal.Problems(); len(p) > 0 {
			t.Fatal(p)
		}
	})
}

// TestFramesBehindPage checks that output written behind a page appears after it, once and in
// order.
func TestFramesBehindPage(t *testing.T) {
	s := newStage(20, 5, false)
	terminal := s.terminal
	s.shows([]string{"zero"}, []string{"busy", "> x"}, Point{1, 3})
	s.pages([]string{"page"}, nil)
	want := []string{"zero"}
	for i := range 9 {
		line := fmt.Sprint("line ", i)
		want = append(want, line)
		s.shows([]string{line}, []string{fmt.Sprint("busy ", i), "> xy"}, Point{1, 4})
	}
	if rows := terminal.Screen(); rows[0] != "page" || slices.Contains(rows, "line 3") {
		t.Errorf("the page shows %q", rows)
	}
	s.closes()
	if diff := cmp.Diff(strings.Join(want, "\n")+"\nbusy 8\n> xy", terminal.Text()); diff != "" {
		t.Error(diff)
	}
}

// TestPageResize checks that a page and the screen it covers fit the terminal after a resize.
func TestPageResize(t *testing.T) {
	s := newStage(40, 8, false)
	terminal := s.terminal
	s.shows([]string{"one"}, []string{"busy", "> x"}, Point{1, 3})
	for _, size := range [][2]int{{40, 8}, {20, 5}, {30, 12}, {12, 3}, {60, 9}} {
		width, height := size[0], size[1]
		s.resize(width, height)
		rows := make([]string, height)
		for i := range rows {
			rows[i] = fmt.Sprintf("row %d of %d", i, height)
		}
		s.pages(rows, nil)
		if diff := cmp.Diff(texts(fill(rows, width, height)), terminal.Screen()); diff != "" {
			t.Errorf("%v: %s", size, diff)
		}
	}
	s.closes()
	s.shows([]string{"two"}, []string{"> x"}, Point{0, 3})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(settled) { // until the size counts as settled
		s.written()
		got := terminal.Text()
		if got == "one\ntwo\n> x" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q", got)
		}
	}
}

// TestPageForget checks that the whole page is rewritten after another program has written to
// the terminal.
func TestPageForget(t *testing.T) {
	s := newStage(20, 3, false)
	terminal := s.terminal
	s.shows(nil, []string{"> x"}, Point{0, 3})
	s.pages([]string{"one", "two"}, nil)
	fmt.Fprint(terminal, "\rjunk from elsewhere\r\n")
	s.Forget()
	s.pages([]string{"one", "two"}, nil)
	if diff := cmp.Diff([]string{"one", "two", ""}, terminal.Screen()); diff != "" {
		t.Error(diff)
	}
	s.closes()
	if got := terminal.Text(); got != "> x" {
		t.Errorf("%q", got)
	}
}

// pages shows a page and waits until it is written; closes closes it.
func (s *stage) pages(rows []string, caret *Point) {
	s.Page(rows, caret)
	s.written()
}

func (s *stage) closes() {
	s.ClosePage()
	s.written()
}

func texts(rows []row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.text)
	}
	return out
}

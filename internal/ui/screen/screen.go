// Package screen writes to a terminal: finished lines once and for good, and below them a few live rows that change.
// What has scrolled away stays as it was written. It asks the terminal nothing, and needs no more of it than moves of the
// cursor and erasing to the end of a line.
package screen

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/cells"
)

// A Point is a place in the live rows: a row and a cell in it, from 0.
type Point struct{ Row, Col int }

// A Screen is a terminal. Its texts are safe for a terminal and may hold styles. It belongs to one goroutine.
type Screen struct {
	w io.Writer
	// size returns the width and height of the terminal.
	size func() (width, height int)
	// reflows says that the terminal breaks lines again when it becomes narrower.
	reflows bool

	rows  []string // live, as they are shown
	caret Point    // where the cursor is
	width int      // when they were written
}

// New returns a screen that begins on an empty line.
func New(w io.Writer, size func() (width, height int), reflows bool) *Screen {
	return &Screen{w: w, size: size, reflows: reflows}
}

// Frame writes the final lines, and below them the live rows with the cursor at caret. If there are more rows than fit,
// those that end with the row of the caret are shown. Final lines that are wider than the terminal are written whole;
// live rows are cut.
func (s *Screen) Frame(final, live []string, caret Point) {
	width, height := s.bounds()
	b := &frame{}
	if width != s.width {
		s.erase(b, width)
	}
	s.width = width
	live, caret = fit(live, caret, width, height)
	switch {
	case len(final) > 0:
		s.redraw(b, final, live)
	default:
		s.change(b, live)
	}
	b.move(caret)
	s.rows, s.caret = live, caret
	s.send(b)
}

// Forget leaves the live rows where they are, after another program has written to the terminal. The next ones begin in the
// line of the cursor.
func (s *Screen) Forget() { s.rows, s.caret = nil, Point{} }

// Clear scrolls everything above the live rows out of sight. Nothing is lost: it can be scrolled back to.
func (s *Screen) Clear() {
	_, height := s.bounds()
	b := &frame{at: s.caret}
	b.move(Point{})
	for range s.rows {
		b.WriteString("\x1b[K\r\n")
	}
	b.up(len(s.rows))
	b.WriteString(strings.Repeat("\r\n", height-1))
	b.up(height - 1)
	s.rows, s.caret = nil, Point{}
	s.send(b)
}

// bounds returns the size of the terminal, or what is usual if it does not tell.
func (s *Screen) bounds() (width, height int) {
	width, height = s.size()
	if width < 2 {
		width = 80
	}
	if height < 2 {
		height = 24
	}
	return width, height
}

// send writes what there is to write at once. A terminal that knows how shows larger changes in one go.
func (s *Screen) send(b *frame) {
	text := b.String()
	if strings.ContainsAny(text, "\n\x1b") && b.large {
		text = "\x1b[?2026h" + text + "\x1b[?2026l"
	}
	if text != "" {
		io.WriteString(s.w, text) // ok: a terminal that is gone ends the input, too
	}
}

// erase removes the live rows after the width has changed. Where the terminal has broken them again, they take more
// lines than before.
func (s *Screen) erase(b *frame, width int) {
	if len(s.rows) == 0 {
		return
	}
	above, lines := s.caret.Row, len(s.rows)
	if s.reflows {
		above, lines = s.caret.Col/width, 0
		for i, row := range s.rows {
			n := max(0, Width(row)-1)/width + 1
			lines += n
			if i < s.caret.Row {
				above += n
			}
		}
	}
	b.large = true
	b.up(above)
	b.WriteString("\r\x1b[K")
	for range lines - 1 { // a line feed also tells the terminal that the line before is not broken any more
		b.WriteString("\r\n\x1b[K")
	}
	b.up(lines - 1)
	s.rows, s.caret = nil, Point{}
}

// redraw writes final lines and all live rows in the place of the rows before.
func (s *Screen) redraw(b *frame, final, live []string) {
	b.large = true
	b.at = s.caret
	b.move(Point{})
	left := len(s.rows) // rows below the cursor that show something old, with its own
	wide := false
	for _, line := range final {
		wide = wide || strings.Contains(line, "\t") || Width(line) >= s.width
	}
	if wide && left > 1 { // a line that takes several rows does not erase what stood there
		for range left - 1 {
			b.WriteString("\x1b[K\x1b[B")
		}
		b.WriteString("\x1b[K")
		b.up(left - 1)
	}
	for _, line := range final {
		b.WriteString("\x1b[K" + line + "\r\n")
		left--
	}
	for i, row := range live {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(row + "\x1b[K")
	}
	b.at = Point{max(0, len(live)-1), unknown}
	if len(live) == 0 {
		b.WriteString("\x1b[K")
	}
	if below := left - max(1, len(live)); below > 0 && !wide {
		for range below {
			b.WriteString("\x1b[B\r\x1b[K")
		}
		b.up(below)
	}
}

// change writes the live rows that differ from those shown.
func (s *Screen) change(b *frame, live []string) {
	b.at = s.caret
	changed := 0
	for i, row := range live {
		switch {
		case i >= len(s.rows):
			if i > 0 {
				b.move(Point{i - 1, b.column(i - 1)})
				b.WriteString("\r\n")
				b.at = Point{i, 0}
			}
			if row != "" {
				b.WriteString(row)
				b.at.Col = unknown
			}
			changed++
		case row != s.rows[i]:
			b.rewrite(i, s.rows[i], row)
			changed++
		}
	}
	for i := max(1, len(live)); i < len(s.rows); i++ {
		b.move(Point{i, 0})
		b.WriteString("\x1b[K")
		changed++
	}
	if len(live) == 0 && len(s.rows) > 0 {
		b.move(Point{})
		b.WriteString("\x1b[K")
	}
	b.large = b.large || changed > 1
}

// unknown is a column that has to be set before something is written: terminals differ in how wide some characters are.
const unknown = -1

// A frame is what is written at once, and where the cursor is then.
type frame struct {
	strings.Builder
	at    Point
	large bool // more than a few characters
}

// column returns the column of the cursor if it is in that row, and the first otherwise.
func (b *frame) column(row int) int {
	if b.at.Row == row {
		return b.at.Col
	}
	return 0
}

// move moves the cursor to a place in the rows.
func (b *frame) move(to Point) {
	switch {
	case to.Row < b.at.Row:
		b.up(b.at.Row - to.Row)
	case to.Row > b.at.Row:
		fmt.Fprintf(b, "\x1b[%dB", to.Row-b.at.Row)
	}
	switch {
	case to.Col == b.at.Col:
	case to.Col == 0:
		b.WriteByte('\r')
	case to.Col == b.at.Col-1:
		b.WriteByte('\b')
	default:
		fmt.Fprintf(b, "\x1b[%dG", to.Col+1)
	}
	b.at = to
}

func (b *frame) up(n int) {
	if n > 0 {
		fmt.Fprintf(b, "\x1b[%dA", n)
	}
}

// rewrite changes a row from the first cell that differs.
func (b *frame) rewrite(i int, was, row string) {
	same := 0
	if !strings.Contains(was, "\x1b") && !strings.Contains(row, "\x1b") {
		for same < len(was) && same < len(row) && was[same] == row[same] {
			same++
		}
		for same > 0 && (same < len(row) && !utf8.RuneStart(row[same]) || same < len(was) && !utf8.RuneStart(was[same])) {
			same--
		}
		// What takes no cell of its own belongs to the one before it.
		for same > 0 && (zeroWidth(row[same:]) || zeroWidth(was[same:])) {
			_, n := utf8.DecodeLastRuneInString(row[:same])
			same -= n
		}
	}
	b.move(Point{i, cells.Width(row[:same])})
	b.WriteString(row[same:])
	if len(was) > same && Width(was) > Width(row) {
		b.WriteString("\x1b[K")
	}
	b.at.Col = Width(row)
	if strings.ContainsFunc(row, func(r rune) bool { return r >= 0x300 }) {
		b.at.Col = unknown
	}
}

func zeroWidth(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return n > 0 && (cells.Of(r) == 0 || r == 0x200d)
}

// fit returns the rows that fit on the terminal, cut to its width, and where the caret is in them.
func fit(live []string, caret Point, width, height int) ([]string, Point) {
	if most := height - 1; len(live) > most {
		first := min(max(0, caret.Row-most+1), len(live)-most)
		if caret.Row == len(live)-1 || caret.Row >= first+most {
			first = len(live) - most
		}
		live, caret.Row = live[first:first+most], caret.Row-first
	}
	rows := make([]string, len(live))
	for i, row := range live {
		rows[i] = cut(row, width-1)
	}
	caret.Col = min(caret.Col, width-1)
	return rows, caret
}

// cut returns row with its tabs as blanks, and no wider than width. Styles are kept.
func cut(row string, width int) string {
	if !strings.ContainsAny(row, "\t\x1b") {
		return cells.Cut(row, width, "…")
	}
	if !strings.Contains(row, "\t") && Width(row) <= width {
		return row
	}
	var b strings.Builder
	used := 0
	styled := false
	for len(row) > 0 {
		if n := style(row); n > 0 {
			b.WriteString(row[:n])
			styled, row = true, row[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(row)
		text, w := row[:n], cells.Of(r)
		if r == '\t' {
			w = 8 - used%8
			text = strings.Repeat(" ", w)
		}
		if used+w > width {
			break
		}
		b.WriteString(text)
		used, row = used+w, row[n:]
	}
	if styled && row != "" {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// Width returns how many cells a row takes, not counting its styles.
func Width(row string) int {
	if !strings.Contains(row, "\x1b") {
		return cells.Width(row)
	}
	w := 0
	for len(row) > 0 {
		if n := style(row); n > 0 {
			row = row[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(row)
		w += cells.Of(r)
		row = row[n:]
	}
	return w
}

// style returns the length of the style, or of the beginning or end of a link, that text begins with; 0 if there is none.
func style(text string) int {
	switch {
	case strings.HasPrefix(text, "\x1b["):
		return strings.IndexByte(text, 'm') + 1
	case strings.HasPrefix(text, "\x1b]8;"):
		return strings.Index(text, "\x1b\\") + 2
	}
	return 0
}

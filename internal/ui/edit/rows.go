package edit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
)

// rows holds a line's breaks as far as they are known. They are computed when shown; a change
// invalidates the rows after it.
type rows struct {
	width, head int      // the layout's width, and the cells before the first row
	starts      []int    // start columns of the rows
	scanned     int      // number of characters covered
	cell        int      // cell of the next character
	shown       []string // rows as last shown, without their heads; "" if unknown
}

// A sheet lays out a text in rows.
type sheet struct {
	// Prompt precedes the first line and More all others. During a search, the search prompt
	// replaces Prompt unless SearchApart is true.
	Prompt, More string
	SearchApart  bool

	buffer
	goal   int     // target cell of vertical moves, or -1
	width  int     // row width
	search *search // its prompt precedes the first line; may be nil
	shown  []byte  // buffer for the row being drawn
	first  widthCache
	rest   widthCache
}

// A widthCache caches the width of a text.
type widthCache struct {
	text  string
	cells int
}

// width returns the width of text in cells. The text is usually the same as before.
func (m *widthCache) width(text string) int {
	if m.text != text {
		*m = widthCache{text, cells.Width(text)}
	}
	return m.cells
}

// changed discards the rows after a change. Rows shortly before it may change too.
func (r *rows) changed(col int) {
	n := len(r.starts)
	for n > 1 && r.starts[n-1] > max(0, col-2) {
		n--
	}
	if n > 0 {
		r.starts = r.starts[:n]
		r.scanned = r.starts[n-1]
		r.cell = -1
		r.shown = r.shown[:min(len(r.shown), n-1)]
	}
}

// headOf returns the prefix of a line's first row.
func (s *sheet) headOf(at int) string {
	switch {
	case s.search != nil && at == 0 && !s.SearchApart:
		return safely(s.search.prompt())
	case at == 0:
		return s.Prompt
	}
	return s.More
}

// wrap computes the rows of a line until there are more than n, until they include the column,
// or to the end.
func (s *sheet) wrap(at, n, col int) []int {
	l := s.lines[at]
	r := &l.rows
	head, indent := s.headWidth(place{at, 0}), s.rest.width(s.More)
	if r.width != s.width || r.head != head || len(r.starts) == 0 {
		*r = rows{width: s.width, head: head, starts: []int{0}, cell: head}
	}
	if r.cell < 0 {
		r.cell = head
		if len(r.starts) > 1 {
			r.cell = indent
		}
	}
	for r.scanned < len(l.runes) && (len(r.starts) <= n || r.scanned <= col) {
		size := 1
		if c := l.runes[r.scanned]; c >= 0x7f || c < ' ' {
			size = s.size(l.runes, r.scanned)
		}
		if r.cell+size >= r.width && r.scanned > r.starts[len(r.starts)-1] {
			r.starts = append(r.starts, r.scanned)
			r.cell = indent
		}
		r.cell += size
		r.scanned++
	}
	return r.starts
}

// all exceeds the number of rows in any line.
const all = 1 << 40

// size returns the width of the character at i in a line.
func (s *sheet) size(runes []rune, i int) int {
	switch r := runes[i]; {
	case r < 0x7f && r >= ' ':
		return 1
	case r >= 0x4e00 && r <= 0x9fff: // Chinese characters
		return 2
	case isFold(r):
		return cells.Width(s.label(r))
	case r == '\t':
		return len(tab)
	}
	return cells.Of(mark(runes, i))
}

// look appends the displayed form of the character at i to out. The character is not ASCII, or
// is a control character. Characters that a terminal might interpret or would not show are
// replaced by a mark.
func (s *sheet) look(out []byte, runes []rune, i int) []byte {
	switch r := runes[i]; {
	case r >= 0x4e00 && r <= 0x9fff:
		return utf8.AppendRune(out, r)
	case isFold(r):
		return append(out, s.label(r)...)
	case r == '\t':
		return append(out, tab...)
	}
	return utf8.AppendRune(out, mark(runes, i))
}

// tab is how a tab is shown.
const tab = "    "

// label returns a fold's label, cut to fit a row.
func (s *sheet) label(r rune) string {
	return cells.Cut(s.folds[foldIndex(r)].label(), max(1, s.width-1-cells.Width(s.More)), "...")
}

// mark returns the rune shown for a non-ASCII character.
func mark(runes []rune, i int) rune {
	r := runes[i]
	if !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
		return r
	}
	if i > 0 {
		after := rune(0)
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		if cells.Joins(runes[i-1], r, after) {
			return r
		}
	}
	return unicode.ReplacementChar
}

// safely returns a text as it is shown.
func safely(text string) string {
	runes := []rune(text)
	var b strings.Builder
	for i, r := range runes {
		if r < ' ' || r >= 0x7f {
			r = mark(runes, i)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A place is the position of a displayed row.
type place struct{ line, row int }

// caretRow returns the row of the caret and the cell in it.
func (s *sheet) caretRow() (place, int) {
	starts := s.wrap(s.caret.line, 0, s.caret.col)
	row := len(starts) - 1
	for row > 0 && starts[row] > s.caret.col {
		row--
	}
	p := place{s.caret.line, row}
	cell := s.headWidth(p)
	runes := s.lines[p.line].runes
	for i := starts[row]; i < s.caret.col; i++ {
		cell += s.size(runes, i)
	}
	return p, cell
}

// rowHead returns the prefix of a row.
func (s *sheet) rowHead(p place) string {
	if p.row > 0 {
		return blanks(s.rest.width(s.More))
	}
	return s.headOf(p.line)
}

// headWidth returns the width of a row's prefix.
func (s *sheet) headWidth(p place) int {
	if p == (place{}) {
		return s.first.width(s.headOf(0))
	}
	return s.rest.width(s.More)
}

// blanks returns n blanks.
func blanks(n int) string {
	const few = "        "
	if n <= len(few) {
		return few[:n]
	}
	return strings.Repeat(" ", n)
}

// up returns the row above, if there is one; down returns the row below.
func (s *sheet) up(p place) (place, bool) {
	switch {
	case p.row > 0:
		return place{p.line, p.row - 1}, true
	case p.line > 0:
		return place{p.line - 1, len(s.wrap(p.line-1, all, all)) - 1}, true
	}
	return p, false
}

func (s *sheet) down(p place) (place, bool) {
	switch {
	case p.row+1 < len(s.wrap(p.line, p.row+1, 0)):
		return place{p.line, p.row + 1}, true
	case p.line+1 < len(s.lines):
		return place{p.line + 1, 0}, true
	}
	return p, false
}

// span returns the columns of a row.
func (s *sheet) span(p place) (from, to int) {
	starts := s.wrap(p.line, p.row+1, 0)
	to = len(s.lines[p.line].runes)
	if p.row+1 < len(starts) {
		to = starts[p.row+1]
	}
	return starts[p.row], to
}

// A Line is a displayed row.
type Line struct {
	// Head precedes the text: the prompt, or blanks.
	Head, Text string
	// Begins is true for the first row of the text.
	Begins bool
}

// Rows is like [sheet.Lines], with each row's head and text joined.
func (s *sheet) Rows(width, most int) (shown []string, row, col int) {
	lines, row, col := s.Lines(width, most)
	for _, l := range lines {
		shown = append(shown, l.Head+l.Text)
	}
	return shown, row, col
}

// Lines lays out the text in rows of width cells, and returns at most the given number of rows
// around the caret, and the caret's row and cell. The last cell of each row stays free, for the
// cursor. If most is 0, all rows are returned.
func (s *sheet) Lines(width, most int) (shown []Line, row, col int) {
	s.resize(width)
	if most <= 0 {
		most = all
	}
	at, col := s.caretRow()
	above := walk(at, s.up, most-1)
	below := walk(at, s.down, most-1-min(len(above), most/2))
	above = above[:min(len(above), most-1-len(below))]
	shown = make([]Line, 0, len(above)+1+len(below))
	for _, p := range slices.Backward(above) {
		shown = append(shown, s.show(p))
	}
	shown = append(shown, s.show(at))
	for _, p := range below {
		shown = append(shown, s.show(p))
	}
	return shown, len(above), col
}

// walk returns at most n rows after from, in the direction of step.
func walk(from place, step func(place) (place, bool), n int) []place {
	passed := make([]place, 0, min(n, 64))
	for p, ok := step(from); ok && len(passed) < n; p, ok = step(p) {
		passed = append(passed, p)
	}
	return passed
}

// Peek returns the first character of the text, or 0 if it is empty, and the number of lines.
func (s *sheet) Peek() (first rune, lines int) { return s.char(pos{}), len(s.lines) }

// resize sets the row width.
func (s *sheet) resize(width int) {
	if width < 8 {
		width = 80
	}
	s.width = width
}

func (s *sheet) show(p place) Line { return Line{s.rowHead(p), s.body(p), p == place{}} }

// body returns a row without its head. It is cached: most rows stay the same from one key to
// the next.
func (s *sheet) body(p place) string {
	from, to := s.span(p)
	r := &s.lines[p.line].rows
	if p.row < len(r.shown) && r.shown[p.row] != "" {
		return r.shown[p.row]
	}
	out := s.shown[:0]
	for runes, i := s.lines[p.line].runes, from; i < to; i++ {
		if c := runes[i]; c < 0x7f && c >= ' ' {
			out = append(out, byte(c))
			continue
		}
		out = s.look(out, runes, i)
	}
	s.shown = out
	for len(r.shown) <= p.row {
		r.shown = append(r.shown, "")
	}
	r.shown[p.row] = string(out)
	return r.shown[p.row]
}

// vertical moves the caret to the row above or below and reports whether there is one. The
// column is preserved across shorter rows.
func (s *sheet) vertical(step func(place) (place, bool)) bool {
	at, cell := s.caretRow()
	if s.goal < 0 {
		s.goal = cell
	}
	next, ok := step(at)
	if !ok {
		return false
	}
	from, to := s.span(next)
	runes := s.lines[next.line].runes
	cell, col := cells.Width(s.rowHead(next)), from
	for ; col < to; col++ {
		if cell += s.size(runes, col); cell > s.goal {
			break
		}
	}
	if col == to && to < len(runes) { // the position after the last character is in the next row
		col = previousCluster(runes, to)
	}
	s.caret = s.snap(pos{next.line, max(col, from)})
	return true
}

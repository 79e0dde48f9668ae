package edit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/cells"
)

// Rows are where a line breaks, as far as that is known. They are found as they are shown: a change makes those after it
// unknown.
type rows struct {
	width, head int      // for which they were found: the room, and the cells before the first row
	starts      []int    // of the rows in the line
	scanned     int      // how many characters they cover
	cell        int      // where the next character goes
	shown       []string // the rows as they were shown last, without their heads; "" if that is not known
}

// A sheet shows a text in rows.
type sheet struct {
	// Prompt stands before the first line and More before those that follow. During a search what is looked for stands in
	// the place of Prompt, unless it is shown apart.
	Prompt, More string
	SearchApart  bool

	buffer
	goal   int     // the cell that vertical moves aim at; -1 if there is none
	width  int     // of rows
	search *search // its prompt stands before the first line; may be nil
	shown  []byte  // memory for the row that is drawn
	first  measured
	rest   measured
}

// A measured text is one whose cells were counted.
type measured struct {
	text  string
	cells int
}

// of returns how many cells a text takes, which is mostly the same one.
func (m *measured) of(text string) int {
	if m.text != text {
		*m = measured{text, cells.Width(text)}
	}
	return m.cells
}

// changed forgets the rows after a change. What stands shortly before it may look different, too.
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

// headOf returns what stands before the first row of a line.
func (s *sheet) headOf(at int) string {
	switch {
	case s.search != nil && at == 0 && !s.SearchApart:
		return safely(s.search.prompt())
	case at == 0:
		return s.Prompt
	}
	return s.More
}

// wrap finds the rows of a line until it has more than n, those that hold the column, or all.
func (s *sheet) wrap(at, n, col int) []int {
	l := s.lines[at]
	r := &l.rows
	head, indent := s.headWidth(place{at, 0}), s.rest.of(s.More)
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

// all is more rows than a line has.
const all = 1 << 40

// size returns how many cells the character at i of a line takes.
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

// look adds the character at i of a line to out, as it is shown. It is not ASCII, or a control character. What a terminal might obey, or would not show, is
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

// label returns what is shown of a fold, as far as it fits into a row.
func (s *sheet) label(r rune) string {
	return cells.Cut(s.folds[foldIndex(r)].label(), max(1, s.width-1-cells.Width(s.More)), "...")
}

// mark returns what is shown for a character that is not ASCII.
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

// A place is a row of the text as it is shown.
type place struct{ line, row int }

// caretRow returns the row of the caret, and the cell in it.
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

// rowHead returns what stands before a row.
func (s *sheet) rowHead(p place) string {
	if p.row > 0 {
		return blanks(s.rest.of(s.More))
	}
	return s.headOf(p.line)
}

// headWidth returns how many cells stand before a row.
func (s *sheet) headWidth(p place) int {
	if p == (place{}) {
		return s.first.of(s.headOf(0))
	}
	return s.rest.of(s.More)
}

// blanks returns n blanks.
func blanks(n int) string {
	const few = "        "
	if n <= len(few) {
		return few[:n]
	}
	return strings.Repeat(" ", n)
}

// up and down return the row above or below, if there is one.
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

// A Line is a row of the text as it is shown.
type Line struct {
	// Head stands before it: the prompt, or blanks.
	Head, Text string
	// Begins says that it is the first row of the text.
	Begins bool
}

// Rows returns the text as [sheet.Lines] does, each row behind its head.
func (s *sheet) Rows(width, most int) (shown []string, row, col int) {
	lines, row, col := s.Lines(width, most)
	for _, l := range lines {
		shown = append(shown, l.Head+l.Text)
	}
	return shown, row, col
}

// Lines returns the text as it is shown in rows of width cells, at most the given number around the caret, and the row and
// the cell of the caret. The last cell of each row stays free, for the cursor. If most is 0, all rows are returned.
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

// walk returns at most n rows after one, in one of the two directions.
func walk(from place, step func(place) (place, bool), n int) []place {
	passed := make([]place, 0, min(n, 64))
	for p, ok := step(from); ok && len(passed) < n; p, ok = step(p) {
		passed = append(passed, p)
	}
	return passed
}

// Peek returns the first character of the text, 0 if there is none, and how many lines it has.
func (s *sheet) Peek() (first rune, lines int) { return s.char(pos{}), len(s.lines) }

// resize sets the width of rows.
func (s *sheet) resize(width int) {
	if width < 8 {
		width = 80
	}
	s.width = width
}

// show returns a row.
func (s *sheet) show(p place) Line { return Line{s.rowHead(p), s.body(p), p == place{}} }

// body returns a row without its head. It is kept: most rows stay the same from one key to the next.
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

// vertical moves the caret to the row above or below, and reports whether there is one. The column is kept over shorter
// rows.
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
	if col == to && to < len(runes) { // the place after the last character is in the next row
		col = previousCluster(runes, to)
	}
	s.caret = s.snap(pos{next.line, max(col, from)})
	return true
}

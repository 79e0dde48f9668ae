package lineedit

import (
	"strings"
	"unicode"

	"adze/internal/platform/cells"
)

// Rows returns the input as it is shown, in at most most rows of width cells, and the row and the cell of the cursor. If
// there are more rows, those around the cursor are returned.
func (e *Editor) Rows(width, most int) (rows []string, row, col int) {
	l := e.layout(width)
	row, col = l.find(e.pos)
	first, last := 0, len(l)
	if most > 0 && last > most {
		first = min(max(0, row-most/2), last-most)
		last = first + most
	}
	for _, r := range l[first:last] {
		rows = append(rows, r.head+e.shown(r.from, r.to))
	}
	return rows, row - first, col
}

// A row is a part of the text that is shown in one row.
type row struct {
	from, to int // in the text; the character at to may be a line end
	head     string
	ends     []int // the cell after each character
}

type layout []row

// shownAround is how much of a long text is laid out before and after the cursor, in characters: more than a screen shows.
const shownAround = 8000

// window returns the part of the text that is laid out.
func (b *buffer) window() (from, to int) {
	if len(b.text) <= 2*shownAround {
		return 0, len(b.text)
	}
	if from = max(0, b.pos-shownAround); from > 0 {
		from -= from % shownAround // or every move would break the lines in other places
		for i := from; i > max(0, from-shownAround/2); i-- {
			if b.text[i-1] == '\n' {
				from = i
				break
			}
		}
	}
	return from, min(len(b.text), b.pos+shownAround)
}

// layout breaks the text into rows. The last cell of each stays free, for the cursor.
func (e *Editor) layout(width int) layout {
	if width < 8 {
		width = 80
	}
	var l layout
	from, to := e.window()
	first, more := e.Prompt, e.More
	switch {
	case e.search != nil:
		first = e.search.prompt()
	case from > 0:
		first = more
	}
	r := row{from: from, to: from, head: spell(first)}
	col := cells.Width(r.head)
	begin := func(at int, head string) {
		l = append(l, r)
		r = row{from: at, to: at, head: head}
		col = cells.Width(head)
	}
	for i := from; i < to; i++ {
		if e.text[i] == '\n' {
			r.to = i
			begin(i+1, more)
			continue
		}
		n := e.places(i)
		if col+n >= width && r.to > r.from {
			begin(i, strings.Repeat(" ", cells.Width(more)))
		}
		col += n
		r.to = i + 1
		r.ends = append(r.ends, col)
	}
	return append(l, r)
}

// find returns the row and the cell of a place in the text.
func (l layout) find(pos int) (at, col int) {
	for i, r := range l {
		last := i == len(l)-1
		if pos < r.to || pos == r.to && (last || l[i+1].from > r.to) {
			if pos == r.from {
				return i, cells.Width(r.head)
			}
			return i, r.ends[pos-r.from-1]
		}
	}
	return 0, 0
}

// at returns the place in the text of a cell in a row, or of the last one before it.
func (l layout) at(i, col int) (pos int, ok bool) {
	if i < 0 || i >= len(l) {
		return 0, false
	}
	r := l[i]
	pos = r.from
	for j, end := range r.ends {
		if end > col {
			break
		}
		pos = r.from + j + 1
	}
	if i < len(l)-1 && l[i+1].from == r.to && pos == r.to && pos > r.from {
		pos-- // the place after the last character is in the next row
	}
	return pos, true
}

// shown returns a part of the text as it is shown: what a terminal might obey, or would not show, is replaced by a mark.
func (b *buffer) shown(from, to int) string {
	var out strings.Builder
	for i := from; i < to; i++ {
		out.WriteRune(b.mark(i))
	}
	return out.String()
}

// places returns how many cells the character at i takes.
func (b *buffer) places(i int) int { return cells.Of(b.mark(i)) }

// mark returns what is shown for the character at i.
func (b *buffer) mark(i int) rune {
	r := b.text[i]
	switch {
	case r == '\t':
		return ' '
	case r < 0x7f && r >= ' ':
		return r
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		if i > 0 {
			after := rune(0)
			if i+1 < len(b.text) {
				after = b.text[i+1]
			}
			if cells.Joins(b.text[i-1], r, after) {
				return r
			}
		}
		return unicode.ReplacementChar
	}
	return r
}

// spell returns a text as it is shown.
func spell(text string) string {
	e := buffer{text: []rune(text)}
	return e.shown(0, len(e.text))
}

package screen

import "strconv"

// unknown is a column that must be set before writing: terminals differ in how wide some
// characters are.
const unknown = -1

// A frame is one batch of output and the resulting cursor position.
type frame struct {
	out   []byte
	at    Point
	large bool // more than a few characters
}

// Terminals that support synchronized output show the text between these atomically.
const begin, end = "\x1b[?2026h", "\x1b[?2026l"

// newFrame returns an empty frame that reuses memory.
func newFrame(memory []byte) *frame { return &frame{out: append(memory[:0], begin...)} }

// finish returns the output. Only larger changes are synchronized.
func (b *frame) finish() []byte {
	switch {
	case len(b.out) == len(begin):
		return nil
	case !b.large:
		return b.out[len(begin):]
	}
	b.text(end)
	return b.out
}

func (b *frame) text(s string) { b.out = append(b.out, s...) }

// control writes a control sequence with one parameter.
func (b *frame) control(n int, final byte) {
	b.out = append(b.out, "\x1b["...)
	if n != 1 {
		b.out = strconv.AppendInt(b.out, int64(n), 10)
	}
	b.out = append(b.out, final)
}

func (b *frame) up(n int) {
	if n > 0 {
		b.control(n, 'A')
	}
}

// move moves the cursor to a point in the rows.
func (b *frame) move(to Point) {
	switch {
	case to.Row < b.at.Row:
		b.up(b.at.Row - to.Row)
	case to.Row > b.at.Row:
		b.control(to.Row-b.at.Row, 'B')
	}
	switch {
	case to.Col == b.at.Col:
	case to.Col == 0:
		b.text("\r")
	case to.Col == b.at.Col-1:
		b.text("\b")
	default:
		b.control(to.Col+1, 'G')
	}
	b.at = to
}

// below begins a row below the last.
func (b *frame) below(i int) {
	if b.at.Row != i-1 {
		b.move(Point{i - 1, b.at.Col})
	}
	b.text("\r\n")
	b.at = Point{i, 0}
}

// erase erases a range of rows and returns to the first.
func (b *frame) erase(from, to int) {
	b.move(Point{from, 0})
	b.text("\x1b[K")
	for range to - from - 1 {
		b.text("\x1b[B\x1b[K")
	}
	b.up(to - from - 1)
}

// cutBelow erases everything after and below p. It never erases from the first column, because
// some terminals scroll everything away when they erase from the first cell of the screen.
func (b *frame) cutBelow(p Point) {
	b.move(p)
	if p.Col == 0 {
		b.text(" ")
		b.at.Col = 1
	}
	b.text("\x1b[J")
}

// row writes a row from a text offset, at the cursor.
func (b *frame) row(r row, from int) {
	if !r.uneven {
		b.text(r.text[from:])
	} else {
		b.pinned(r.text[from:], b.at.Col)
	}
	b.at.Col = r.width
	if r.uneven || r.tabs {
		b.at.Col = unknown
	}
}

// pinned writes text that begins in a column, and sets the column after characters whose width
// differs between terminals. Then only those may look wrong.
func (b *frame) pinned(text string, col int) {
	var c cluster
	for text != "" {
		n, kind := token(text)
		if kind != character {
			b.text(text[:n])
			text = text[n:]
			continue
		}
		r, w := decode(text[:n])
		if c.next(r) && c.ended {
			b.control(col+1, 'G')
		}
		b.text(text[:n])
		text, col = text[n:], col+w
	}
}

// rewrite updates a row from the first cell that differs, and returns the number of cells it
// occupies including erased ones. If more than slack cells would be erased, the row is written
// from the beginning.
func (b *frame) rewrite(i int, was, is row, slack int) (used int) {
	same := common(was, is)
	used = max(was.used, is.width)
	whole := used > is.width+slack
	if whole {
		same, used = place{}, is.width
	}
	b.move(Point{i, same.col})
	shorter := was.width > is.width
	if whole || is.uneven && same.col < was.width { // cells that terminals skip would show old content
		b.text("\x1b[K")
		shorter = false
	}
	if end, ok := rejoin(was, is, same); ok && !whole {
		b.text(same.style)
		b.text(is.text[same.offset:end.offset])
		if end.style != "" {
			b.text(reset)
		}
		b.at.Col = end.col
		return used
	}
	if is.width > same.col || is.fill {
		b.text(same.style)
		b.row(is, same.offset)
	}
	if shorter {
		b.text("\x1b[K")
	}
	return used
}

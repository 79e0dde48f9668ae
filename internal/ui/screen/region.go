package screen

import (
	"slices"
	"strings"

	"adze/internal/platform/term"
)

// A region is the known state of the live rows on the terminal. There is always one row, which
// may be empty.
type region struct {
	reflow        term.Reflow
	rows, spare   []row
	caret         Point // cursor position
	width, height int   // size when the rows were written; 0 before
}

// resized reports whether the terminal size has changed since the rows were written.
func (r *region) resized(width, height int) bool {
	return r.width != 0 && (r.width != width || r.height != height)
}

// take writes the queued output.
func (r *region) take(b *frame, next queue, width, height int) {
	if next.forget {
		r.forget()
	}
	r.resize(b, width, height)
	if next.clear {
		r.show(b, next.final, nil, Point{})
		r.clear(b)
		next.final = nil
	}
	r.show(b, next.final, next.live, next.caret)
}

// forget begins a new region in the line of the cursor.
func (r *region) forget() { r.rows, r.caret, r.width = nil, Point{}, 0 }

// resize removes the rows if the size has changed. If the terminal has reflowed them, they take
// more lines than before, and the first of them is further up.
func (r *region) resize(b *frame, width, height int) {
	if !r.resized(width, height) {
		r.width, r.height = width, height
		return
	}
	above := r.caret.Row
	if r.reflow != term.NoReflow {
		above = r.caret.Col / width
		for i, row := range r.rows {
			switch more := max(0, row.width-1) / width; {
			case i < r.caret.Row:
				above += more + 1
			case i > r.caret.Row && r.reflow == term.RewrapsAndShifts:
				above += more
			}
		}
	}
	b.large = true
	b.up(min(above, height-1))
	// Some terminals scroll everything away when they erase from the first cell of the screen.
	b.text("\r\x1b[K \x1b[J\r")
	r.rows, r.caret, r.width, r.height = nil, Point{}, width, height
}

// clear scrolls everything out of sight. There must be no live rows.
func (r *region) clear(b *frame) {
	b.large = true
	b.text(strings.Repeat("\r\n", r.height-1))
	b.up(r.height - 1)
}

// maxSlack is the maximum number of erased cells after a live row. Some terminals treat erased
// cells as part of the line when they reflow it.
const maxSlack = 8

// show writes final lines and live rows in place of the previous rows. Unchanged rows cost
// nothing.
func (r *region) show(b *frame, final, live []string, caret Point) {
	rows, caret := r.fit(live, caret)
	shown := r.rows
	if len(shown) == 0 {
		shown = []row{{}}
	}
	b.at = r.caret
	finals := make([]row, len(final))
	for i, line := range final {
		finals[i] = finalRow(line)
	}
	shown = r.shift(b, finals, rows, shown)
	changed, at := 0, 0
	put := func(next *row, slack int) {
		wide := next.width >= r.width || next.tabs
		if wide { // the terminal breaks it
			*next = next.unfilled()
			next.uneven, next.tabs = false, true
		}
		next.used = next.width
		switch {
		case at >= len(shown):
			b.below(at)
			b.row(*next, 0)
			changed++
		case !wide && next.given == shown[at].given && shown[at].used <= next.width+slack:
			next.used = shown[at].used
		case wide:
			b.erase(at, len(shown))
			b.row(*next, 0)
			shown = shown[:at] // everything below has moved
			changed++
		default:
			next.used = b.rewrite(at, shown[at], *next, slack)
			changed++
		}
		at++
	}
	for i := range finals {
		put(&finals[i], 0)
	}
	top := at
	for i := range rows {
		put(&rows[i], maxSlack)
	}
	if at < len(shown) {
		b.cutBelow(Point{at - 1, rows[len(rows)-1].width})
		changed++
	}
	b.large = b.large || changed > 1
	b.move(Point{top + caret.Row, caret.Col})
	b.at.Row -= top
	r.rows, r.spare, r.caret = rows, r.rows, caret
}

// shift inserts blank rows above the last rows if these only move down, which costs less than
// writing them again. It returns the rows that the terminal shows afterwards.
func (r *region) shift(b *frame, final, live, shown []row) []row {
	n := len(final) + len(live) - len(shown)
	if n <= 0 || len(final)+len(live) >= r.height || slices.ContainsFunc(final, func(f row) bool { return f.tabs || f.width >= r.width }) {
		return shown
	}
	moved, saved := 0, 0
	for i := 0; i < min(len(live), len(shown)) && i <= moved+1; i++ { // one of them may change
		was, is := shown[len(shown)-1-i], live[len(live)-1-i]
		if was.given == is.given {
			moved = i + 1
			saved += len(is.text)
		}
	}
	if saved < leastShifted {
		return shown
	}
	b.large = true
	b.move(Point{len(shown) - 1, b.at.Col})
	b.text(strings.Repeat("\r\n", n))
	b.at = Point{len(shown) - 1 + n, 0}
	first := len(shown) - moved
	b.move(Point{first, 0})
	b.control(n, 'L')
	return slices.Concat(shown[:first], make([]row, n), shown[first:])
}

// leastShifted is the minimum size of rows that are moved instead of written again, in bytes.
const leastShifted = 32

// fit returns the rows that fit on the terminal, cut to its width, and the caret position in
// them.
func (r *region) fit(live []string, caret Point) ([]row, Point) {
	if most := r.height - 1; len(live) > most {
		first := min(max(0, caret.Row-most+1), len(live)-most)
		if caret.Row == len(live)-1 {
			first = len(live) - most
		}
		live, caret.Row = live[first:first+most], caret.Row-first
	}
	if len(live) == 0 {
		return []row{{}}, Point{}
	}
	rows := r.spare[:0]
	for i, text := range live {
		if i < len(r.rows) && r.rows[i].given == text {
			rows = append(rows, r.rows[i])
			continue
		}
		rows = append(rows, liveRow(text, r.width-1))
	}
	caret.Row = min(max(0, caret.Row), len(rows)-1)
	caret.Col = min(max(0, caret.Col), r.width-1)
	return rows, caret
}

// mark returns the single row shown while the size changes: the beginning of the caret's row.
func mark(live []string, caret Point) ([]string, Point) {
	if caret.Row < 0 || caret.Row >= len(live) {
		return nil, Point{}
	}
	const short = 2
	var begin row
	begin.read(live[caret.Row], short)
	return []string{begin.text}, Point{0, min(caret.Col, begin.width)}
}

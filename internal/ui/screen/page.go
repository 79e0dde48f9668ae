package screen

// A page is the content of the alternate screen.
type page struct {
	rows  []string
	caret *Point // nil hides the cursor
}

// A sheet is the known state of the alternate screen.
type sheet struct {
	open          bool
	rows          []row
	width, height int // size when the rows were written
	at            Point
	hidden        bool // the cursor is hidden
}

// Page shows rows on the alternate screen, from its top, with the cursor at caret; nil hides
// the cursor. Frames that arrive while it is open are held until [Screen.ClosePage]. Rows that
// do not fit are omitted.
func (s *Screen) Page(rows []string, caret *Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.page = &page{rows, caret}
	s.start()
}

// ClosePage leaves the alternate screen if it is shown. The rows and lines below are restored
// and then brought up to date.
func (s *Screen) ClosePage() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.page != nil {
		s.queue.page = nil
		s.start()
	}
}

// show updates the alternate screen.
func (s *sheet) show(b *frame, next queue, width, height int) {
	if !s.open {
		*s = sheet{open: true}
		b.text("\x1b[?1049h")
	}
	b.at = s.at
	rows := fill(next.page.rows, width, height)
	if s.width != width || s.height != height || next.forget || next.clear {
		b.paint(rows)
	} else {
		changed := 0
		for i := range rows {
			if rows[i].used = s.rows[i].used; rows[i].given != s.rows[i].given {
				rows[i].used = b.rewrite(i, s.rows[i], rows[i], width)
				changed++
			}
		}
		b.large = changed > 1
	}
	s.rows, s.width, s.height = rows, width, height
	caret := next.page.caret
	if caret != nil {
		b.move(Point{min(caret.Row, height-1), min(caret.Col, width-1)})
	}
	if hidden := caret == nil; hidden != s.hidden {
		s.hidden = hidden
		b.cursor(!hidden)
	}
	s.at = b.at
}

// close leaves the alternate screen if it is shown.
func (s *sheet) close(b *frame) {
	if !s.open {
		return
	}
	if s.hidden {
		b.cursor(true)
	}
	b.text("\x1b[?1049l")
	*s = sheet{}
}

// fill returns one row per screen line, each cut to the width.
func fill(rows []string, width, height int) []row {
	out := make([]row, height)
	for i := range min(height, len(rows)) {
		out[i] = liveRow(rows[i], width-1)
	}
	return out
}

// paint writes all rows of a screen, wherever the cursor is.
func (b *frame) paint(rows []row) {
	b.large = true
	b.up(len(rows))
	b.text("\r")
	for i, r := range rows {
		if i > 0 {
			b.text("\r\n")
		}
		b.at = Point{i, 0}
		b.text("\x1b[K")
		b.row(r, 0)
	}
}

// cursor shows or hides the cursor.
func (b *frame) cursor(shown bool) {
	if shown {
		b.text("\x1b[?25h")
	} else {
		b.text("\x1b[?25l")
	}
}

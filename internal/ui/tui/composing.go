package tui

// leastHeight is the least height of a terminal in which the status is shown.
const leastHeight = 6

// A composing is what stands around what is typed.
type composing struct{ *Front }

// add adds the question that is shown, the messages that wait, what is typed, and what may continue it or the status.
func (f composing) add(s *stack, height int) {
	width := f.cfg.Width()
	f.keyboard.Colourless = !f.cfg.Palette.Coloured()
	typed, caret := f.keyboard.Rows(width, max(3, height/3))
	below := f.status(f.width())
	if height < leastHeight { // there is room for the question and what is typed alone
		below = nil
	}
	if f.popup.Open() {
		below, _ = f.popup.Rows(f.width(), s.left-len(typed))
	}
	waiting, _ := f.outbox.Rows(width, s.left-len(typed)-len(below), f.cfg.Glyphs)
	own := len(waiting) + len(typed) + len(below)
	s.left -= own
	s.add(askers(f).rows(f.width()))
	s.left += own
	if s.caret != nil { // it is in the question
		caret = nil
	}
	s.add(waiting, nil)
	s.add(typed, caret)
	s.add(below, nil)
}

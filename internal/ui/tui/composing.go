package tui

// leastHeight is the minimum terminal height at which the status is shown.
const leastHeight = 6

// addInput adds the current question, the queued messages, the composer, and the suggestions or the
// status.
func (f *Front) addInput(s *stack, height int) {
	width := f.cfg.Width()
	f.keyboard.Colourless = !f.cfg.Palette.Coloured()
	typed, caret := f.keyboard.Rows(width, max(3, height/3))
	below := f.status(f.cfg.width())
	if height < leastHeight { // room only for the question and the composer
		below = nil
	}
	if f.popup.Open() {
		below, _ = f.popup.Rows(f.cfg.width(), s.left-len(typed))
	}
	waiting, _ := f.outbox.Rows(width, s.left-len(typed)-len(below), f.cfg.Glyphs)
	own := len(waiting) + len(typed) + len(below)
	s.left -= own
	s.add(f.asked.rows(f.cfg.width()))
	s.left += own
	if s.caret != nil { // the caret is in the question
		caret = nil
	}
	s.add(waiting, nil)
	s.add(typed, caret)
	s.add(below, nil)
}

// addList adds the open list, which takes the place of the input, and the status.
func (f *Front) addList(s *stack, height int) {
	below := f.status(f.cfg.width())
	if height < leastHeight {
		below = nil
	}
	h := s.left - len(below)
	rows, caret := f.pages.rows(f.cfg.width(), min(h, max(leastList, h*2/3)))
	s.add(rows, caret)
	s.add(below, nil)
}

// leastList is the number of rows up to which a list may hide the conversation.
const leastList = 10

package tui

import (
	"strings"

	"adze/internal/ui/draw"
)

// Minimum terminal heights at which the status, and the rule above the input, are shown.
const (
	leastHeight = 6
	leastRuled  = 10
)

// addInput adds the current question, the queued messages, a rule, the composer, and the suggestions or the
// status.
func (f *Front) addInput(s *stack, height int) {
	width := f.cfg.Width()
	f.keyboard.Colourless = !f.cfg.Palette.Coloured()
	typed, caret := f.keyboard.Rows(width, max(3, height/3))
	below := f.status(width - 1)
	if height < leastHeight { // room only for the question and the composer
		below = nil
	}
	if f.popup.Open() {
		below, _ = f.popup.Rows(f.cfg.width(), s.left-len(typed))
	}
	var rule []draw.Row
	if height >= leastRuled {
		rule = []draw.Row{draw.Line(draw.Border, strings.Repeat(f.cfg.Glyphs.Rule, width-1))}
	}
	waiting, _ := f.outbox.Rows(width, s.left-len(rule)-len(typed)-len(below), f.cfg.Glyphs)
	own := len(waiting) + len(rule) + len(typed) + len(below)
	s.left -= own
	s.add(f.asked.rows(f.cfg.width(), s.left))
	s.left += own
	if s.caret != nil { // the caret is in the question
		caret = nil
	}
	s.add(waiting, nil)
	s.add(rule, nil)
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

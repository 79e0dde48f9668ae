package tui

import (
	"context"

	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
)

var noPoint screen.Point

// Frame updates the terminal: completed output, and below it the live rows of the components.
func (f *Front) Frame() (room <-chan struct{}) {
	f.repaint()
	if !f.pages.covers() {
		f.screen.ClosePage()
	}
	height := f.cfg.Height()
	s := &stack{left: height - 1}
	switch {
	case f.Closed():
	case f.pages.current != nil && !f.pages.covers():
		f.addList(s, height)
	default:
		f.addInput(s, height)
	}
	final := f.asked.take()
	var above []draw.Row
	if !f.asked.holds() {
		final = append(final, f.script.Final(f.cfg.Width())...)
		above = f.script.Rows(f.cfg.Width(), max(0, s.left))
	}
	live, caret := append(above, s.rows...), s.caret
	if caret == nil {
		caret = &screen.Point{}
	} else {
		caret.Row += len(above)
	}
	f.screen.Frame(f.cfg.Palette.Lines(final), f.cfg.Palette.Unlinked().Lines(live), *caret)
	if f.pages.current != nil {
		f.asked.disturb()
	}
	if f.pages.covers() {
		f.pages.show()
	} else if f.pages.current == nil {
		f.asked.seen()
		f.move()
	}
	return f.screen.Room()
}

// move draws the next frame when a glyph moves.
func (f *Front) move() {
	if in := f.script.Moves(); in > 0 && f.moves == nil {
		f.moves = f.After(in, func(context.Context) { f.moves = nil })
	}
}

// width returns the maximum width of live rows.
func (c *Config) width() int { return c.Width() - 1 }

// A stack holds the rows of components, one below the other.
type stack struct {
	rows  []draw.Row
	caret *screen.Point // nil if no component has one yet
	left  int           // number of rows left
}

// add adds a component's rows below the others.
func (s *stack) add(rows []draw.Row, caret *screen.Point) {
	rows = rows[:min(len(rows), max(0, s.left))]
	if caret != nil && caret.Row < len(rows) {
		s.caret = &screen.Point{Row: len(s.rows) + caret.Row, Col: caret.Col}
	}
	s.rows = append(s.rows, rows...)
	s.left -= len(rows)
}

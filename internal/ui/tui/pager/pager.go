// Package pager shows a long text on its own screen: full output, a whole conversation, or a
// long page. It supports the movement and search keys of less.
package pager

import (
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// Lines provides the lines of a text. They are requested one by one as they are shown, so that
// a text of any length is cheap. Lines may be added at the end, and the last ones may change,
// while the text is shown.
type Lines interface {
	Len() int
	// Row returns a line, which may be wider than the screen.
	Row(i int) draw.Row
}

// Parts is implemented by [Lines] that have parts, such as the files of a diff. Part reports
// whether one begins at line i.
type Parts interface{ Part(i int) bool }

// A Text is the text to show in a pager.
type Text struct {
	Title string
	// Lines returns the lines rendered for a width.
	Lines func(width int) Lines
	// If End is true, the end is shown first, and followed while lines are added.
	End bool
}

// A Pager shows a text. It is not safe for concurrent use.
type Pager struct {
	text   Text
	glyphs draw.Glyphs
	lines  Lines
	width  int // width the lines were rendered for
	height int // number of text rows on the screen

	top     place // first visible row
	follow  bool  // keep showing the end as lines are added
	chord   keys.Chord
	query   query
	typing  *edit.Field // search input; may be nil
	message string      // shown until the next key
}

// A place is a row within a wrapped line.
type place struct{ line, row int }

// New returns a pager.
func New(t Text, g draw.Glyphs) *Pager {
	return &Pager{text: t, glyphs: g, follow: t.End, height: 1}
}

// Press handles an event. It returns [keys.ClosePage] when the user closes the pager, and
// actions that do not concern the text.
func (p *Pager) Press(ev keys.Event, m *keys.Map) keys.Action {
	if p.lines == nil {
		p.draw(80)
	}
	p.message = ""
	if p.typing != nil {
		return p.typed(ev, m)
	}
	action, _ := p.chord.Press(m, ev, keys.Transcript, keys.Global)
	switch action {
	case keys.LineUp:
		p.move(-1)
	case keys.LineDown:
		p.move(1)
	case keys.HalfUp:
		p.move(-max(1, p.height/2))
	case keys.HalfDown:
		p.move(max(1, p.height/2))
	case keys.PageUp:
		p.move(-max(1, p.height-1))
	case keys.PageDown:
		p.move(max(1, p.height-1))
	case keys.Top:
		p.top, p.follow = place{}, false
	case keys.Bottom:
		p.follow = true
	case keys.Find:
		p.typing = edit.New("/", "")
	case keys.FindNext:
		p.find(1)
	case keys.FindPrevious:
		p.find(-1)
	case keys.NextPart:
		p.part(1)
	case keys.PreviousPart:
		p.part(-1)
	case keys.Interrupt, keys.Exit:
		return keys.ClosePage
	default:
		return action
	}
	return ""
}

// typed handles an event during search input.
func (p *Pager) typed(ev keys.Event, m *keys.Map) keys.Action {
	switch action := p.typing.Press(ev, m, p.width); action {
	case keys.Submit:
		if text := p.typing.Text(); text != "" {
			p.query = newQuery(text)
		}
		p.typing = nil
		p.find(1)
	case keys.Cancel, keys.Interrupt, keys.Exit:
		p.typing = nil
	case keys.Suspend, keys.Redraw:
		return action
	default:
		if p.typing.Text() == "" && ev.Key.Name == "backspace" {
			p.typing = nil
		}
	}
	return ""
}

// draw renders the lines for a width. The top of the screen stays as close as possible to the
// same text.
func (p *Pager) draw(width int) {
	was := 0
	if p.lines != nil {
		was = p.lines.Len()
	}
	p.lines, p.width = p.text.Lines(width), width
	if now := p.lines.Len(); was > 0 && now != was {
		p.top.line = p.top.line * now / was
		p.query.at = -1
	}
	p.top.row = 0
}

// Rows draws the visible part of the text, and below it the position or the search input.
func (p *Pager) Rows(w, h int) ([]draw.Row, *screen.Point) {
	w, p.height = max(1, w), max(1, h-1)
	if p.lines == nil || p.width != w {
		p.draw(w)
	}
	p.settle()
	rows := make([]draw.Row, 0, h)
	at := p.top
	for ; at.line < p.lines.Len() && len(rows) < p.height; at = (place{at.line + 1, 0}) {
		folded := p.folded(at.line)
		for ; at.row < len(folded) && len(rows) < p.height; at.row++ {
			rows = append(rows, folded[at.row])
		}
		if at.row < len(folded) {
			break
		}
	}
	for len(rows) < p.height {
		rows = append(rows, nil)
	}
	if p.typing == nil {
		return append(rows, p.status(w, at.line)), nil
	}
	field, row, col := p.typing.Rows(w, 1)
	return append(rows, draw.Line(draw.Text, field[row]).Cut(w, p.glyphs.More)), &screen.Point{Row: h - 1, Col: min(col, w-1)}
}

// folded returns a line as it is shown.
func (p *Pager) folded(i int) []draw.Row {
	line, left := clean(p.lines.Row(i))
	return fold(p.query.mark(line), left, p.width)
}

// Package compose is the composer: the message that is being typed, as it is shown, and the messages that wait while the
// model works. What is typed is held by package edit; what is done with a message is left to the root.
package compose

import (
	"slices"

	"adze/internal/platform/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// A Composer is the message that is being typed. Make it with [New]. It belongs to one goroutine.
type Composer struct {
	*edit.Field
	// Ghost is shown in place of an empty message, and is not part of it: it is faint, or if the terminal shows no colours,
	// which Colourless says, in brackets.
	Ghost      string
	Colourless bool

	glyphs draw.Glyphs
}

// New returns an empty composer. History is what was entered before, oldest first.
func New(glyphs draw.Glyphs, history []string) *Composer {
	c := &Composer{Field: edit.New("", "  "), glyphs: glyphs}
	c.History, c.SearchApart = history, true
	return c
}

// A Kind is what the message is for.
type Kind uint8

// The kinds.
const (
	Message Kind = iota
	Shell        // a command for the shell: it begins with an exclamation mark
	Note         // something to remember: a line that begins with a number sign
)

// Kind returns what the message is for. The sign that says so stands in the place of the mark, and is deleted like any
// other character.
func (c *Composer) Kind() Kind {
	switch first, lines := c.Peek(); {
	case first == '!':
		return Shell
	case first == '#' && lines == 1:
		return Note
	}
	return Message
}

// Press takes an event. It returns the action that the key has, unless that is about the text and done. Width is that of the
// terminal. The contexts come before those of a text.
func (c *Composer) Press(ev keys.Event, m *keys.Map, width int, contexts ...keys.Context) keys.Action {
	c.mark()
	return c.Field.Press(ev, m, room(width), contexts...)
}

// room returns the width of the field, which leaves its last cell free.
func room(width int) int { return min(width-1, screen.Widest) + 1 }

// mark sets what stands before the message.
func (c *Composer) mark() {
	c.Prompt = c.glyphs.Prompt + " "
	if c.Kind() != Message {
		c.Prompt = ""
	}
}

// Rows draws the message, what was put aside above it, and what is looked for in the history below it.
func (c *Composer) Rows(w, h int) ([]draw.Row, *screen.Point) {
	c.mark()
	above, below := c.aside(w), c.search(w)
	lines, row, col := c.Lines(room(w), max(1, h-len(above)-len(below)))
	rows := slices.Grow(above, len(lines)+len(below))
	stock := draw.NewStock(2 * len(lines))
	for _, l := range lines {
		rows = append(rows, c.row(stock, l))
	}
	if c.Ghost != "" && c.Empty() {
		head := rows[len(above)]
		rows[len(above)] = append(head[:1:1], c.ghost(room(w)-1-head[:1].Width()))
	}
	caret := &screen.Point{Row: len(above) + row, Col: col}
	if len(below) > 0 {
		caret = &screen.Point{Row: len(rows), Col: below[0].Width()}
	}
	rows = append(rows, below...)
	if len(rows) > h { // a terminal of a few rows
		first := min(caret.Row, len(rows)-h)
		rows, caret.Row = rows[first:first+h], caret.Row-first
	}
	return rows, caret
}

// ghost returns what is shown in place of the message, in n cells.
func (c *Composer) ghost(n int) draw.Span {
	text := draw.Clean(c.Ghost)
	if c.Colourless {
		text = "[" + text + "]"
	}
	if cells.Width(text) > n {
		text = fit(text, max(0, n-cells.Width(c.glyphs.More))) + c.glyphs.More
	}
	return draw.Span{Role: draw.Faint, Text: text}
}

// row draws a row of the message.
func (c *Composer) row(s *draw.Stock, l edit.Line) draw.Row {
	if !l.Begins {
		return append(s.Row(2), draw.Span{Text: l.Head}, draw.Span{Text: l.Text})
	}
	role := draw.Accent
	switch c.Kind() {
	case Message:
		return append(s.Row(2), draw.Span{Role: role, Text: l.Head}, draw.Span{Text: l.Text})
	case Shell:
		role = draw.Warning
	case Note:
		role = draw.Good
	}
	return draw.Row{{Role: role, Text: l.Text[:1]}, {Text: l.Text[1:]}}
}

// aside returns the row that shows what was put aside.
func (c *Composer) aside(w int) []draw.Row {
	text := c.Stashed()
	if text == "" {
		return nil
	}
	return []draw.Row{line("  stashed: ", text, min(w-1, screen.Widest), c.glyphs)}
}

// search returns the row that shows what is looked for in the history.
func (c *Composer) search(w int) []draw.Row {
	wanted, found, on := c.Searching()
	if !on {
		return nil
	}
	head, role := "  search: ", draw.Faint
	if !found {
		head, role = "  not found: ", draw.Warning
	}
	width := min(w-1, screen.Widest)
	if width < 2*len(head) {
		head = "? "
	}
	text := draw.Clean(wanted)
	for text != "" && cells.Width(text) > width-len(head) { // its end is typed
		_, text = cut(text)
	}
	return []draw.Row{{{Role: role, Text: head}, {Text: text}}}
}

// Package compose implements the composer, which shows the message being typed, and the queue
// of messages sent while the model works. Package edit holds the text.
package compose

import (
	"slices"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// A Composer is the message being typed. Create it with [New]. It is not safe for concurrent
// use.
type Composer struct {
	*edit.Field
	// Ghost is placeholder text shown in an empty message: faint, or in brackets if Colourless
	// is true because the terminal shows no colors.
	Ghost      string
	Colourless bool
	// Placeholder is shown faint in an empty message without a ghost; it needs colors.
	Placeholder string

	glyphs draw.Glyphs
}

// New returns an empty composer. History lists earlier entries, oldest first.
func New(glyphs draw.Glyphs, history []string) *Composer {
	c := &Composer{Field: edit.New("", "  "), glyphs: glyphs}
	c.History, c.SearchApart = history, true
	return c
}

// A Kind is the kind of a message.
type Kind uint8

// The kinds.
const (
	Message Kind = iota
	Shell        // shell command: begins with an exclamation mark
	Note         // note to remember: a line that begins with a number sign
)

// Kind returns the kind of the message. The character that determines it is shown in place of
// the prompt mark, and is deleted like any other.
func (c *Composer) Kind() Kind {
	switch first, lines := c.Peek(); {
	case first == '!':
		return Shell
	case first == '#' && lines == 1:
		return Note
	}
	return Message
}

// Press handles an event. It returns the key's action unless the action edits the text and has
// been handled. Width is the terminal width. The given contexts take precedence over the text
// contexts.
func (c *Composer) Press(ev keys.Event, m *keys.Map, width int, contexts ...keys.Context) keys.Action {
	c.mark()
	return c.Field.Press(ev, m, width, contexts...)
}

// mark sets the prompt of the message.
func (c *Composer) mark() {
	c.Prompt = c.glyphs.Prompt + " "
	if c.Kind() != Message {
		c.Prompt = ""
	}
}

// Rows draws the message, the stashed text above it, and the history search below it.
func (c *Composer) Rows(w, h int) ([]draw.Row, *screen.Point) {
	c.mark()
	above, below := c.aside(w), c.search(w)
	lines, row, col := c.Lines(w, max(1, h-len(above)-len(below)))
	rows := slices.Grow(above, len(lines)+len(below))
	stock := draw.NewStock(2 * len(lines))
	for _, l := range lines {
		rows = append(rows, c.row(stock, l))
	}
	if hint := c.hint(w - 1 - cells.Width(c.Prompt)); hint.Text != "" && len(below) == 0 && c.Empty() {
		rows[len(above)] = append(rows[len(above)][:1:1], hint)
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

// hint returns the text shown in an empty message, in n cells.
func (c *Composer) hint(n int) draw.Span {
	text := draw.Clean(c.Ghost)
	switch {
	case text == "" && c.Colourless:
		return draw.Span{}
	case text == "":
		text = c.Placeholder
	case c.Colourless:
		text = "[" + text + "]"
	}
	if cells.Width(text) > n {
		text = fit(text, max(0, n-cells.Width(c.glyphs.More))) + c.glyphs.More
	}
	return draw.Span{Role: draw.Faint, Text: text}
}

// row draws a row of the message.
func (c *Composer) row(s *draw.RowArena, l edit.Line) draw.Row {
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

// aside returns the row that shows the stashed text.
func (c *Composer) aside(w int) []draw.Row {
	text := c.Stashed()
	if text == "" {
		return nil
	}
	return []draw.Row{line("  stashed: ", text, w-1, c.glyphs)}
}

// search returns the row that shows the history search.
func (c *Composer) search(w int) []draw.Row {
	wanted, found, on := c.Searching()
	if !on {
		return nil
	}
	head, role := "  search: ", draw.Faint
	if !found {
		head, role = "  not found: ", draw.Warning
	}
	width := w - 1
	if width < 2*len(head) {
		head = "? "
	}
	text := draw.Clean(wanted)
	for text != "" && cells.Width(text) > width-len(head) { // text is typed at its end
		_, text = cut(text)
	}
	return []draw.Row{{{Role: role, Text: head}, {Text: text}}}
}

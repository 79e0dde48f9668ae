// Package markdown renders streamed Markdown as rows: paragraphs, headings, nested lists,
// quotes, code, tables and rules. Rows never change once returned.
package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// A Stream renders a text. Prose is wrapped and keeps its line breaks; code is left unwrapped,
// and /copy copies it without its bar. The rows do not depend on how the text is split into pieces.
type Stream struct {
	// Width is the row width of prose, and Tables that of tables; 0 means Width.
	Width, Tables int
	// Marks keeps the Markdown marks, for output without styles.
	Marks bool
	// Glyphs draw bullets, check boxes, quotes, rules and the edge of code. Without them, the
	// Markdown marks are shown.
	Glyphs draw.Glyphs
	// Links is true if the terminal supports links, so link addresses are not written out.
	Links bool

	line   []byte // incomplete line
	inside bool   // the beginning of the line already belongs to the paragraph
	length int    // length of the line so far
	space  *space // may be nil
	state
}

// The state is the parser state after the complete lines.
type state struct {
	stack stack
	para  paragraph
	fence fence
	table table
	blank draw.Row // empty row before the next one; may be nil
	begun bool     // a row was emitted
	out   []draw.Row
}

// A container is a quote or a list item.
type container struct {
	mark   string // drawn mark of an item, with the blank after it; that of a quote if bar is set
	bar    bool   // a quote
	indent int    // content indentation of the item
	shown  bool   // the mark has been rendered
}

// span returns the prefix of a row in the container. Shown is true if the item's mark has
// already been rendered.
func (c *container) span(shown bool) draw.Span {
	switch {
	case c.bar:
		return draw.Span{Role: draw.Faint, Text: c.mark}
	case shown:
		return draw.Span{Text: draw.Blank(cells.Width(c.mark))}
	}
	return draw.Span{Text: c.mark}
}

// A stack holds the open containers, the outermost first.
type stack []container

const (
	// step is the number of bytes after which an incomplete line is checked.
	step = 256
	// usualRow is the approximate number of bytes of text per row.
	usualRow = 20
	// maxLine is the length at which a line counts as complete.
	maxLine = 64 << 10
)

// Add adds a piece of text and returns the rows that are final.
func (s *Stream) Add(text string) []draw.Row {
	if len(text) > maxPara {
		s.out = make([]draw.Row, 0, len(text)/usualRow)
	}
	for text != "" {
		if s.length == 0 { // most lines of an available text are complete
			if end := strings.IndexByte(text[:min(len(text), step)], '\n'); end >= 0 {
				s.whole(text[:end])
				text = text[end+1:]
				continue
			}
		}
		n := min(len(text), step-s.length%step)
		end := strings.IndexByte(text[:n], '\n')
		if end >= 0 {
			n = end
		}
		s.line = append(s.line, text[:n]...)
		s.length += n
		text = text[n:]
		switch {
		case end >= 0:
			text = text[1:]
			s.complete()
		case s.length%step == 0:
			s.early()
		}
	}
	rows := s.out
	s.out = nil
	return rows
}

// End returns the rows that were held back. The next text begins a new document.
func (s *Stream) End() []draw.Row {
	if s.length > 0 {
		s.complete()
	}
	s.closeTo(0)
	rows := s.out
	s.state = state{}
	return rows
}

// Rows returns the current rendering of the part that has not been returned yet.
func (s *Stream) Rows() []draw.Row {
	c := *s
	c.stack, c.out = slices.Clone(s.stack), nil
	c.table.rows = slices.Clip(s.table.rows)
	if c.length > 0 {
		c.line = bytes.Clone(s.line[:whole(s.line)])
		c.complete()
	}
	c.closeTo(0)
	return c.out
}

// complete handles the current line as complete.
func (s *Stream) complete() {
	line := string(s.line)
	inside := s.inside
	s.line, s.inside, s.length = s.line[:0], false, 0
	if inside {
		s.para.text = strings.TrimRight(s.para.text+strings.TrimSuffix(line, "\r"), " \t")
		s.settle()
		return
	}
	s.whole(line)
}

// whole handles a complete line.
func (s *Stream) whole(line string) {
	s.take(strings.TrimSuffix(line, "\r"))
	s.settle()
}

// early handles the beginning of a long line if it can only be prose. An incomplete character
// is held back.
func (s *Stream) early() {
	n := whole(s.line)
	switch {
	case s.inside:
		s.para.text += string(s.line[:n])
	case s.length >= maxLine:
		s.complete()
		return
	case s.prose():
		last := len(bytes.TrimRight(s.line[:n], " \t")) // blanks do not end the line
		s.take(string(s.line[:last]))
		s.para.text += string(s.line[last:n])
		s.inside = true
	default:
		return
	}
	s.line = append(s.line[:0], s.line[n:]...)
	s.settle()
}

// whole returns how many bytes of text are complete characters.
func whole(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRune(text[i:]) {
				break
			}
			return i
		}
	}
	return len(text)
}

// prose reports whether the line is part of a paragraph regardless of its continuation.
func (s *Stream) prose() bool {
	if s.fence.mark != "" || s.table.open() || bytes.IndexByte(s.line, '|') >= 0 {
		return false
	}
	rest, _ := s.stack.match(string(s.line))
	for {
		inner, _, ok := open(rest)
		if !ok {
			break
		}
		rest = inner
	}
	_, isHeading := heading(rest)
	text := strings.TrimSpace(rest)
	return indentOf(rest) < 4 && !isHeading && fenceMark(text) == "" && strings.Trim(text, "-*_=:. \t") != ""
}

// take parses a complete line.
func (s *Stream) take(line string) {
	rest, n := s.stack.match(line)
	if n == len(s.stack) && s.fence.mark != "" {
		s.fenced(rest)
		return
	}
	empty := strings.TrimSpace(rest) == ""
	if n < len(s.stack) {
		if !empty && s.para.text != "" && !starts(rest) {
			s.para.add(rest) // lazy continuation: the line belongs to the paragraph without its marks
			return
		}
		s.closeTo(n)
	}
	if empty {
		s.closeLeaf()
		s.separate()
		return
	}
	for {
		inner, c, ok := open(rest)
		if !ok || s.para.text != "" && !interrupts(rest) {
			break
		}
		s.closeLeaf()
		rest = s.drawMark(&c, inner)
		s.stack = append(s.stack, c)
	}
	s.leaf(rest)
}

// drawMark replaces a container's mark by a glyph, and returns the line without its check box.
func (s *Stream) drawMark(c *container, line string) string {
	g := s.Glyphs
	switch {
	case g.Bar == "" || s.Marks:
	case c.bar:
		c.mark = g.Bar + " "
	case len(c.mark) == len("- "):
		c.mark = g.Bullet + " "
		switch {
		case g.Unchecked == "":
		case strings.HasPrefix(line, "[ ] "):
			c.mark, line = g.Unchecked+" ", line[len("[ ] "):]
		case strings.HasPrefix(line, "[x] "), strings.HasPrefix(line, "[X] "):
			c.mark, line = g.Checked+" ", line[len("[x] "):]
		}
	}
	return line
}

// leaf handles a line without its container marks.
func (s *Stream) leaf(line string) {
	text := strings.TrimSpace(line)
	if text == "" {
		return
	}
	if s.para.text != "" && s.begins(text) {
		return
	}
	title, isHeading := heading(line)
	switch {
	case isHeading:
		s.closeLeaf()
		s.heading(text, title)
	case indentOf(line) < 4 && fenceMark(text) != "":
		s.closeLeaf()
		s.openFence(line)
	case rule(line):
		s.closeLeaf()
		switch {
		case s.Marks:
		case s.Glyphs.Rule != "" && s.Width > 0:
			text = strings.Repeat(s.Glyphs.Rule, s.room())
		default:
			text = "---"
		}
		s.emit(s.memory().stock.Line(draw.Faint, text))
	case s.table.open():
		s.tableLine(text)
	case s.para.text == "" && indentOf(line) >= 4:
		s.emit(s.memory().stock.Line(draw.Text, clean(line))) // indented code, or preformatted text
	default:
		s.para.add(line)
	}
}

// heading renders a heading.
func (s *Stream) heading(line, title string) {
	if s.Marks {
		title = line
	}
	l := s.look()
	pieces, _ := l.inline(title, ' ')
	row := l.row(pieces, draw.Heading)
	if short(pieces, s.room()) {
		s.emit(row)
		return
	}
	s.emit(draw.Wrap(row, s.room(), nil)...)
}

// separate inserts an empty row before the next one.
func (s *Stream) separate() {
	if !s.begun {
		return
	}
	s.blank = draw.Row{}
	for i, c := range s.stack {
		if c.bar {
			s.blank = s.stack[:i+1].prefix()
		}
	}
	if n := len(s.blank); n > 0 {
		s.blank[n-1].Text = strings.TrimRight(s.blank[n-1].Text, " ")
	}
}

// closeLeaf renders the open paragraph or table, and ends code.
func (s *Stream) closeLeaf() {
	switch {
	case s.para.text != "":
		s.emit(s.para.broken(s.look(), s.room())...)
		s.para = paragraph{}
	case s.table.open():
		s.drawTable()
		s.table = table{}
	case s.fence.mark != "":
		s.endFence()
	}
}

// closeTo closes all but the first n containers.
func (s *Stream) closeTo(n int) {
	s.closeLeaf()
	for len(s.stack) > n {
		if c := s.stack[len(s.stack)-1]; !c.bar && !c.shown {
			s.emit(nil) // an empty item
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
}

// emit adds rows prefixed with the marks of their containers.
func (s *Stream) emit(rows ...draw.Row) {
	for _, row := range rows {
		if s.blank != nil {
			s.out = append(s.out, s.blank)
			s.blank = nil
		}
		s.begun = true
		s.out = append(s.out, s.stack.enclose(row, &s.memory().stock))
	}
}

// enclose returns a row prefixed with its containers' marks, which then count as shown.
func (s stack) enclose(row draw.Row, from *draw.RowArena) draw.Row {
	if len(s) == 0 {
		return row
	}
	out := from.Row(len(s) + len(row))
	for i := range s {
		out = append(out, s[i].span(s[i].shown))
		s[i].shown = true
	}
	return append(out, row...)
}

// prefix returns the prefix of rows after the first.
func (s stack) prefix() draw.Row {
	row := make(draw.Row, len(s))
	for i := range s {
		row[i] = s[i].span(true)
	}
	return row
}

// memory returns the memory reused across texts.
func (s *Stream) memory() *space {
	if s.space == nil {
		s.space = &space{}
	}
	return s.space
}

// look returns the look of the next block. In containers, its rows become part of others and
// are valid until the next block.
func (s *Stream) look() look {
	l := look{s.Marks, s.Links, s.memory(), &s.memory().stock}
	if len(s.stack) > 0 {
		l.stock = &l.space.scratch
		l.stock.Reuse()
	}
	return l
}

// room returns the width available to prose inside the containers.
func (s *Stream) room() int { return s.within(s.Width) }

// within returns the width available inside the containers in a row of w cells.
func (s *Stream) within(w int) int {
	if w <= 0 {
		return 0
	}
	left := w
	for _, c := range s.stack {
		left -= cells.Width(c.mark)
	}
	return max(left, min(w, 16))
}

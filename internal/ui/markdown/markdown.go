// Package markdown draws Markdown that arrives in pieces as rows: paragraphs, headings, nested lists, quotes, code, tables
// and rules. What it returns once never changes. Where rows go is left to the front ends.
package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/ui/draw"
)

// A Stream draws a text. Lines of prose are wrapped and keep their breaks; code is left as it is, so that it can be
// copied. However the text is cut into pieces, the rows are the same.
type Stream struct {
	// Width is the width of a row of prose.
	Width int
	// Marks says that the marks of Markdown stay, where no style could show what they mean.
	Marks bool
	// Links says that the terminal bears links: the address of a link is not written out.
	Links bool

	line   []byte // the one that is not complete
	inside bool   // the beginning of the line is part of the paragraph already
	length int    // of the line so far
	state
}

// The state is what lines that are complete have led to.
type state struct {
	stack stack
	para  paragraph
	fence fence
	table table
	blank draw.Row // an empty row that stands before the next one; may be nil
	begun bool     // there was a row
	out   []draw.Row
}

// A container is a quote or an item of a list.
type container struct {
	mark   string // of an item; empty for a quote
	indent int    // of what belongs to the item
	shown  bool   // the mark was drawn
}

// A stack is the containers that are open, the outermost first.
type stack []container

const (
	// step is after how many bytes of a line it is looked at before it is complete.
	step = 256
	// maxLine is the length at which a line counts as complete.
	maxLine = 64 << 10
)

// Add takes a piece of text and returns the rows that will not change any more.
func (s *Stream) Add(text string) []draw.Row {
	for text != "" {
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

// Rows returns how the part that was not returned yet looks so far.
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

// complete takes the line, which is complete.
func (s *Stream) complete() {
	line := strings.TrimSuffix(string(s.line), "\r")
	inside := s.inside
	s.line, s.inside, s.length = s.line[:0], false, 0
	if inside {
		s.para.text = strings.TrimRight(s.para.text+line, " \t")
		s.settle()
		return
	}
	s.take(line)
	s.settle()
}

// early takes the beginning of a long line, if it can only be prose. A character that is not complete waits.
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

// whole returns how many bytes of text are whole characters.
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

// prose reports whether the line is part of a paragraph, whatever follows.
func (s *Stream) prose() bool {
	if s.fence.mark != "" || s.table.open() || bytes.IndexByte(s.line, '|') >= 0 {
		return false
	}
	rest, _ := s.stack.match(string(s.line))
	for {
		inner, c := open(rest)
		if c == nil {
			break
		}
		rest = inner
	}
	_, isHeading := heading(rest)
	text := strings.TrimSpace(rest)
	return indentOf(rest) < 4 && !isHeading && fenceMark(text) == "" && strings.Trim(text, "-*_=:. \t") != ""
}

// take takes a complete line.
func (s *Stream) take(line string) {
	rest, n := s.stack.match(line)
	if n == len(s.stack) && s.fence.mark != "" {
		s.fenced(rest)
		return
	}
	empty := strings.TrimSpace(rest) == ""
	if n < len(s.stack) {
		if !empty && s.para.text != "" && !starts(rest) {
			s.para.add(rest) // a line without the marks of its paragraph still belongs to it
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
		inner, c := open(rest)
		if c == nil || s.para.text != "" && !interrupts(rest) {
			break
		}
		s.closeLeaf()
		s.stack = append(s.stack, *c)
		rest = inner
	}
	s.leaf(rest)
}

// leaf takes a line without the marks of its containers.
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
		if !s.Marks {
			text = "---"
		}
		s.emit([]draw.Row{draw.Line(draw.Faint, text)})
	case s.table.open():
		s.tableLine(text)
	case s.para.text == "" && indentOf(line) >= 4:
		s.emit([]draw.Row{draw.Line(draw.Text, clean(line))}) // code, too, or text that was laid out
	default:
		s.para.add(line)
	}
}

// heading draws a heading.
func (s *Stream) heading(line, title string) {
	if s.Marks {
		title = line
	}
	pieces, _ := s.look().inline(title, ' ')
	s.emit(draw.Wrap(rowOf(pieces).In(draw.Heading), s.room(), nil))
}

// separate leaves an empty row before the next one.
func (s *Stream) separate() {
	if !s.begun {
		return
	}
	s.blank = draw.Row{}
	for i, c := range s.stack {
		if c.mark == "" {
			s.blank = s.stack[:i+1].prefix(false)
		}
	}
	if n := len(s.blank); n > 0 {
		s.blank[n-1].Text = strings.TrimRight(s.blank[n-1].Text, " ")
	}
}

// closeLeaf draws the paragraph or table that is open, and ends code.
func (s *Stream) closeLeaf() {
	switch {
	case s.para.text != "":
		s.emit(s.para.broken(s.look(), s.room()).rows())
		s.para = paragraph{}
	case s.table.open():
		s.endTable()
	case s.fence.mark != "":
		s.endFence()
	}
}

// closeTo ends all but the first n containers.
func (s *Stream) closeTo(n int) {
	s.closeLeaf()
	for len(s.stack) > n {
		if c := s.stack[len(s.stack)-1]; c.mark != "" && !c.shown {
			s.emit([]draw.Row{nil}) // an item without content
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
}

// emit adds rows behind the marks of their containers.
func (s *Stream) emit(rows []draw.Row) {
	if len(rows) == 0 {
		return
	}
	if s.blank != nil {
		s.out = append(s.out, s.blank)
		s.blank = nil
	}
	s.begun = true
	if len(s.stack) == 0 {
		s.out = append(s.out, rows...)
		return
	}
	s.out = append(s.out, draw.Indent(rows, s.stack.prefix(true), s.stack.prefix(false))...)
	for i := range s.stack {
		s.stack[i].shown = true
	}
}

// prefix returns what stands before a row in containers. First says that it is the first row, which has the marks of items.
func (s stack) prefix(first bool) draw.Row {
	row := make(draw.Row, 0, len(s))
	for _, c := range s {
		switch {
		case c.mark == "":
			row = append(row, draw.Span{Role: draw.Faint, Text: "> "})
		case first && !c.shown:
			row = append(row, draw.Span{Text: c.mark + " "})
		default:
			row = append(row, draw.Span{Text: strings.Repeat(" ", len(c.mark)+1)})
		}
	}
	return row
}

func (s *Stream) look() look { return look{s.Marks, s.Links} }

// room returns the width that containers leave to a row.
func (s *Stream) room() int {
	if s.Width <= 0 {
		return 0
	}
	w := s.Width
	for _, c := range s.stack {
		w -= max(1, len(c.mark)) + 1
	}
	return max(w, min(s.Width, 16))
}

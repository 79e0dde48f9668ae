package markdown

import (
	"strings"
	"unicode/utf8"

	"adze/internal/ui/draw"
)

// A paragraph is one that is open.
type paragraph struct {
	text   string // its lines; of a long one, what was not drawn yet
	before rune   // the character before text; 0 if there is none
}

func (p *paragraph) add(line string) {
	line = trim(line)
	if p.text == "" {
		p.text = line
		return
	}
	p.text += "\n" + line
}

const (
	// keepRows is how many rows at the end of a paragraph are held back, and maxPara the most text.
	keepRows = 3
	maxPara  = 8 << 10
)

// settle draws the first rows of a long paragraph, as far as what follows cannot change them.
func (s *Stream) settle() {
	if len(s.para.text) < step {
		return
	}
	s.para.text = clean(s.para.text)
	open := s.para.look(s.look(), s.room())
	if last := strings.LastIndexByte(s.para.text, '\n') + 1; strings.IndexByte(s.para.text[last:], '|') >= 0 {
		open = min(open, last) // it may be the head of a table
	}
	drawn := &s.space.lines
	for i := len(drawn.rows) - keepRows; i > 0; i-- {
		if at := drawn.src[i]; at > 0 && at <= open {
			s.emit(drawn.rows[:i]...)
			s.para.drop(at)
			break
		}
	}
	if len(s.para.text) < maxPara {
		return
	}
	at := strings.LastIndexAny(s.para.text, " \n") + 1
	if at == 0 {
		at = len(s.para.text)
	}
	head := paragraph{s.para.text[:at], s.para.before}
	s.emit(head.broken(s.look(), s.room())...)
	s.para.drop(at)
}

// drop forgets the beginning of the text.
func (p *paragraph) drop(n int) {
	p.before, _ = utf8.DecodeLastRuneInString(p.text[:n])
	p.text = p.text[n:]
}

// Lines are the rows of a paragraph.
type lines struct {
	rows []draw.Row
	src  []int // where each begins in the text; -1 if the text cannot be cut there
}

func (l *lines) add(row draw.Row, src int) { l.rows, l.src = append(l.rows, row), append(l.src, src) }

// broken breaks the paragraph into rows, which are there until something else is broken.
func (p paragraph) broken(l look, width int) []draw.Row {
	p.text = clean(p.text)
	p.look(l, width)
	return l.space.lines.rows
}

// look breaks the paragraph, whose text is clean, into the lines of the look. What follows the text can change it from open
// on.
func (p paragraph) look(l look, width int) (open int) {
	pieces, open := l.inline(p.text, p.before)
	out := &l.space.lines
	out.rows, out.src = out.rows[:0], out.src[:0]
	from := -1 // of the line; the first one cannot be cut off
	for len(pieces) > 0 {
		n := 0
		for n < len(pieces) && pieces[n].Text != "\n" {
			n++
		}
		l.broken(out, pieces[:n], from, width)
		if n == len(pieces) {
			break
		}
		if from = -1; pieces[n].plain {
			from = pieces[n].src + 1
		}
		pieces = pieces[n+1:]
	}
	return open
}

// broken adds the rows of a line that begins at an offset in the text.
func (l look) broken(out *lines, pieces []piece, from, width int) {
	if width <= 0 || short(pieces, width) {
		out.add(l.row(pieces, draw.Text), from)
		return
	}
	row := joined(l.space.row[:0], pieces)
	l.space.row = row
	breaks := draw.AppendBreaks(l.space.breaks[:0], row.String(), width, 0)
	l.space.breaks = breaks
	at := 0 // where row begins in the line
	for i, b := range breaks {
		if i > 0 {
			from = source(pieces, b.From)
		}
		for len(row) > 0 && at+len(row[0].Text) <= b.From {
			at, row = at+len(row[0].Text), row[1:]
		}
		out.add(l.stock.Slice(row, b.From-at, b.To-at), from)
	}
}

// short reports whether pieces surely fit into a row: no character takes more cells than bytes, except for a tab.
func short(pieces []piece, width int) bool {
	size, last := 0, byte(' ')
	for i := range pieces {
		text := pieces[i].Text
		if size += len(text); size > width || strings.IndexByte(text, '\t') >= 0 {
			return false
		}
		if text != "" {
			last = text[len(text)-1]
		}
	}
	return last != ' ' // blanks at the end are left out
}

// source returns the place in the source of an offset in what is shown, or -1 if the source cannot be cut there.
func source(pieces []piece, at int) int {
	for _, p := range pieces {
		if at < len(p.Text) {
			if p.plain {
				return p.src + at
			}
			return -1
		}
		at -= len(p.Text)
	}
	return -1
}

// row returns pieces as a row. Those that have no role of their own get one.
func (l look) row(pieces []piece, role draw.Role) draw.Row {
	row := joined(l.stock.Row(len(pieces)), pieces)
	for i := range row {
		if row[i].Role == draw.Text {
			row[i].Role = role
		}
	}
	return row
}

// joined appends pieces to a row. Those that look the same become one span.
func joined(row draw.Row, pieces []piece) draw.Row {
	for i := range pieces {
		p := &pieces[i]
		if n := len(row); n > 0 && row[n-1].Role == p.Role && row[n-1].Link == p.Link {
			row[n-1].Text += p.Text
			continue
		}
		if p.Text != "" {
			row = append(row, p.Span)
		}
	}
	return row
}

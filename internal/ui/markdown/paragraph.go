package markdown

import (
	"strings"
	"unicode/utf8"

	"adze/internal/ui/draw"
)

// A paragraph is an open paragraph.
type paragraph struct {
	text   string // its lines; for a long paragraph, the part not yet rendered
	before rune   // the character before text, or 0
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
	// keepRows is the number of rows held back at the end of a paragraph, and maxPara the
	// maximum text size.
	keepRows = 3
	maxPara  = 8 << 10
)

// settle renders the first rows of a long paragraph, as far as further text cannot change them.
func (s *Stream) settle() {
	if len(s.para.text) < step {
		return
	}
	s.para.text = clean(s.para.text)
	open := s.para.look(s.look(), s.room())
	if last := strings.LastIndexByte(s.para.text, '\n') + 1; strings.IndexByte(s.para.text[last:], '|') >= 0 {
		open = min(open, last) // the line may be the head of a table
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

// drop discards the beginning of the text.
func (p *paragraph) drop(n int) {
	p.before, _ = utf8.DecodeLastRuneInString(p.text[:n])
	p.text = p.text[n:]
}

// lines holds the rows of a paragraph.
type lines struct {
	rows []draw.Row
	src  []int // offset of each row in the text; -1 if the text cannot be cut there
}

func (l *lines) add(row draw.Row, src int) { l.rows, l.src = append(l.rows, row), append(l.src, src) }

// broken breaks the paragraph into rows, which are valid until the next call.
func (p paragraph) broken(l look, width int) []draw.Row {
	p.text = clean(p.text)
	p.look(l, width)
	return l.space.lines.rows
}

// look breaks the paragraph, whose text is clean, into the lines of l. Further text can change
// the result from offset open on.
func (p paragraph) look(l look, width int) (open int) {
	pieces, open := l.inline(p.text, p.before)
	out := &l.space.lines
	out.rows, out.src = out.rows[:0], out.src[:0]
	from := -1 // start of the line; the first line cannot be cut off
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

// broken adds the rows of a line that begins at offset from.
func (l look) broken(out *lines, pieces []piece, from, width int) {
	if width <= 0 || short(pieces, width) {
		out.add(l.row(pieces, draw.Text), from)
		return
	}
	row := joined(l.space.row[:0], pieces)
	l.space.row = row
	breaks := draw.AppendBreaks(l.space.breaks[:0], row.String(), width, 0)
	l.space.breaks = breaks
	at := 0 // start of the row in the line
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

// short reports whether pieces certainly fit into a row: except for tabs, no character is wider
// than its length in bytes.
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
	return last != ' ' // trailing blanks are dropped
}

// source maps an offset in the displayed text to its source offset, or -1 if the source cannot
// be cut there.
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

// row returns pieces as a row, with role applied to pieces without a role of their own.
func (l look) row(pieces []piece, role draw.Role) draw.Row {
	row := joined(l.stock.Row(len(pieces)), pieces)
	for i := range row {
		if row[i].Role == draw.Text {
			row[i].Role = role
		}
	}
	return row
}

// joined appends pieces to a row. Adjacent pieces with the same style become one span.
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

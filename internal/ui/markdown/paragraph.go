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
	if p.text != "" {
		p.text += "\n"
	}
	p.text += strings.Trim(line, " \t")
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
	rows, open := s.para.look(s.look(), s.room())
	if last := strings.LastIndexByte(s.para.text, '\n') + 1; strings.IndexByte(s.para.text[last:], '|') >= 0 {
		open = min(open, last) // it may be the head of a table
	}
	for i := len(rows) - keepRows; i > 0; i-- {
		if at := rows[i].src; at > 0 && at <= open {
			s.emit(rows[:i].rows())
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
	s.emit(head.broken(s.look(), s.room()).rows())
	s.para.drop(at)
}

// drop forgets the beginning of the text.
func (p *paragraph) drop(n int) {
	p.before, _ = utf8.DecodeLastRuneInString(p.text[:n])
	p.text = p.text[n:]
}

// A lineOf is a row of a paragraph.
type lineOf struct {
	draw.Row
	src int // where it begins in the text; -1 if the text cannot be cut there
}

type lines []lineOf

func (l lines) rows() []draw.Row {
	rows := make([]draw.Row, len(l))
	for i := range l {
		rows[i] = l[i].Row
	}
	return rows
}

// broken breaks the paragraph into rows.
func (p paragraph) broken(l look, width int) lines {
	p.text = clean(p.text)
	rows, _ := p.look(l, width)
	return rows
}

// look breaks the paragraph, whose text is clean, into rows. What follows the text can change it from open on.
func (p paragraph) look(l look, width int) (out lines, open int) {
	pieces, open := l.inline(p.text, p.before)
	from := -1 // of the line; the first one cannot be cut off
	for len(pieces) > 0 {
		n := 0
		for n < len(pieces) && pieces[n].Text != "\n" {
			n++
		}
		out = append(out, broken(pieces[:n], from, width)...)
		if n == len(pieces) {
			break
		}
		if from = -1; pieces[n].plain {
			from = pieces[n].src + 1
		}
		pieces = pieces[n+1:]
	}
	return out, open
}

// broken breaks a line that begins at an offset in the text.
func broken(pieces []piece, from, width int) lines {
	row := rowOf(pieces)
	text := row.String()
	if width <= 0 {
		return lines{{row, from}}
	}
	var out lines
	for i, b := range draw.Breaks(text, width, 0) {
		if i > 0 {
			from = source(pieces, b.From)
		}
		out = append(out, lineOf{row.Slice(b.From, b.To), from})
	}
	return out
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

// rowOf returns pieces as a row.
func rowOf(pieces []piece) draw.Row {
	var row draw.Row
	for _, p := range pieces {
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

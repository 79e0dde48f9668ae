package pager

import (
	"strings"

	"adze/internal/ui/draw"
)

// A query is a search text. It is case-sensitive if it contains capitals. The zero value
// matches nothing.
type query struct {
	text  string
	exact bool
	at    int // line of the last match, or -1
}

func newQuery(text string) query {
	return query{text: text, exact: text != strings.ToLower(text), at: -1}
}

// index returns the offset of the first match in text, or -1.
func (q query) index(text string) int {
	if q.exact {
		return strings.Index(text, q.text)
	}
	first := q.text[0]
	for i := 0; i+len(q.text) <= len(text); i++ {
		if lower(text[i]) == first && strings.EqualFold(text[i:i+len(q.text)], q.text) {
			return i
		}
	}
	return -1
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// matches returns the offset of the first match in a line, or -1. Most lines are shown as they
// are and need no sanitizing for the search.
func (q query) matches(line draw.Row) int {
	text := line.String()
	if q.index(text) < 0 && plain(text) {
		return -1
	}
	shown, _ := clean(line)
	return q.index(shown.String())
}

// plain reports whether text is shown as it is.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// mark returns the line with its matches highlighted.
func (q query) mark(line draw.Row) draw.Row {
	if q.text == "" || len(line) == 0 {
		return line
	}
	text := line.String()
	var out draw.Row
	done := 0
	for {
		i := q.index(text[done:])
		if i < 0 {
			break
		}
		out = append(out, line.Slice(done, done+i)...)
		for _, s := range line.Slice(done+i, done+i+len(q.text)) {
			s.Role = draw.Accent
			out = append(out, s)
		}
		done += i + len(q.text)
	}
	if done == 0 {
		return line
	}
	return append(out, line.Slice(done, len(text))...)
}

// find moves to the next or previous match, and wraps around at the end.
func (p *Pager) find(step int) {
	total := p.lines.Len()
	if p.query.text == "" || total == 0 {
		p.message = "Nothing is looked for; / searches."
		return
	}
	p.settle()
	from := p.query.at
	if from < 0 {
		from = p.top.line - step // a match in the first line counts
	}
	for n := 1; n <= total; n++ {
		i := ((from+n*step)%total + total) % total
		at := p.query.matches(p.lines.Row(i))
		if at < 0 {
			continue
		}
		if (i-from)*step <= 0 {
			p.message = "The search continues from the other end."
		}
		p.query.at = i
		p.show(i, at)
		return
	}
	p.message = "No line contains " + p.query.text + "."
}

// show scrolls to an offset in a line, with lines around it.
func (p *Pager) show(line, at int) {
	row := 0
	for folded, seen := p.folded(line), 0; row < len(folded)-1; row++ {
		if seen += len(folded[row].String()); seen > at {
			break
		}
	}
	want := place{line, row}
	last := p.top
	for range p.height - 1 {
		if last.line >= p.lines.Len() {
			break
		}
		last = p.after(last)
	}
	if !want.before(p.top) && !last.before(want) {
		p.follow = false
		return
	}
	p.top, p.follow = want, false
	for n := p.height / 3; n > 0 && p.top != (place{}); n-- {
		p.top = p.before(p.top)
	}
}

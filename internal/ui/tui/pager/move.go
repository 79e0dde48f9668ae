package pager

import (
	"fmt"

	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
)

// move moves by rows.
func (p *Pager) move(rows int) {
	p.settle()
	p.follow = false
	for ; rows < 0 && p.top != (place{}); rows++ {
		p.top = p.before(p.top)
	}
	end := p.end()
	for ; rows > 0 && p.top.before(end); rows-- {
		p.top = p.after(p.top)
	}
	p.follow = p.text.End && p.top == end
}

func (a place) before(b place) bool { return a.line < b.line || a.line == b.line && a.row < b.row }

// before returns the previous row, and after the next one.
func (p *Pager) before(at place) place {
	if at.row > 0 {
		return place{at.line, at.row - 1}
	}
	return place{at.line - 1, len(p.folded(at.line-1)) - 1}
}

func (p *Pager) after(at place) place {
	if at.row+1 < len(p.folded(at.line)) {
		return place{at.line, at.row + 1}
	}
	return place{at.line + 1, 0}
}

// end returns the first row of the last screen.
func (p *Pager) end() place {
	left := p.height
	for i := p.lines.Len() - 1; i >= 0; i-- {
		if n := len(p.folded(i)); n >= left {
			return place{i, n - left}
		} else {
			left -= n
		}
	}
	return place{}
}

// settle makes the position valid after a change of the text or screen size.
func (p *Pager) settle() {
	end := p.end()
	if p.follow || end.before(p.top) {
		p.top = end
	}
	if p.top.line < p.lines.Len() {
		p.top.row = min(p.top.row, len(p.folded(p.top.line))-1)
	}
}

// part moves to the next or previous part.
func (p *Pager) part(step int) {
	parts, ok := p.lines.(Parts)
	if !ok {
		p.message = "This text has no parts."
		return
	}
	p.settle()
	for i := p.top.line + step; i >= 0 && i < p.lines.Len(); i += step {
		if parts.Part(i) {
			p.top, p.follow = place{i, 0}, false
			return
		}
	}
	if step < 0 {
		p.top, p.follow = place{}, false
		return
	}
	p.message = "This is the last part."
}

// status describes the position and the available keys. Last is the number of lines up to the
// end of the screen.
func (p *Pager) status(w, last int) draw.Row {
	if p.message != "" {
		return draw.Line(draw.Warning, draw.Clean(p.message)).Cut(w, p.glyphs.More)
	}
	total := p.lines.Len()
	where := "all"
	switch {
	case p.top == place{} && last == total:
	case p.follow && p.text.End:
		where = fmt.Sprintf("end of %d lines, followed", total)
	case p.follow:
		where = fmt.Sprintf("end of %d lines", total)
	default:
		where = fmt.Sprintf("line %d of %d, %d%%", p.top.line+1, total, 100*last/max(1, total))
	}
	dot := " " + p.glyphs.Dot + " "
	row := draw.Row{{Role: draw.Faint, Text: where}}
	if p.text.Title != "" {
		row = draw.Row{{Role: draw.Strong, Text: draw.Clean(p.text.Title)}, {Role: draw.Faint, Text: dot + where}}
	}
	const leave = "q closes"
	room := w - row.Width() - cells.Width(dot+leave)
	for _, hint := range p.hints() {
		if n := cells.Width(dot + hint); n <= room {
			row, room = append(row, draw.Span{Role: draw.Faint, Text: dot + hint}), room-n
		}
	}
	if room >= 0 {
		row = append(row, draw.Span{Role: draw.Faint, Text: dot + leave})
	}
	return row.Cut(w, p.glyphs.More)
}

// hints returns hints for further keys.
func (p *Pager) hints() []string {
	if p.query.text != "" {
		return []string{"n next", "N before"}
	}
	if _, ok := p.lines.(Parts); ok {
		return []string{"[ ] parts", "/ searches"}
	}
	return []string{"/ searches"}
}

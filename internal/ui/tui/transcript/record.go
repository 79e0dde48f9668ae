package transcript

import (
	"adze/internal/platform/proc/shelf"
	"adze/internal/ui/draw"
)

// A record holds everything shown, in order.
type record struct {
	cfg    Config
	book   []*part // all parts
	queue  []*part // the last parts, which are not final yet
	last   group   // group of the last final part
	shelf  shelf.Shelf
	stowed int // number of parts in book whose long texts are on the shelf
	// command is an entered command that is not shown yet, or "".
	command string
}

// add appends a part. Content that is being written stays above it, and is completed first.
func (r *record) add(c content) *part {
	if line := r.command; line != "" {
		r.command = ""
		r.put(&prompt{text: line, brief: line})
	}
	if n := len(r.queue); n > 0 {
		if last, ok := r.queue[n-1].content.(*run); ok && last != c {
			r.queue[n-1].closed = true
		}
	}
	p := &part{content: c}
	r.queue = append(r.queue, p)
	r.book = append(r.book, p)
	return p
}

// Final returns the rows that have become final, once each, for a terminal that is w cells
// wide.
func (r *record) Final(w int) []draw.Row {
	v := r.view(w)
	var rows []draw.Row
	for len(r.queue) > 0 {
		p := r.queue[0]
		more := p.take(v, p.closed)
		if len(more) > 0 {
			if !p.begun && r.last != nothing && apart(r.last, p.group()) {
				rows = append(rows, nil)
			}
			rows = append(rows, more...)
			p.begun, r.last = true, p.group()
		}
		if !p.closed {
			break
		}
		p.final = true
		r.queue = r.queue[1:]
	}
	r.stow()
	return rows
}

// Parted records that a question has written rows below the final ones.
func (r *record) Parted() { r.last = questionGroup }

// recent is the number of parts that keep their texts in memory.
const recent = 64

// stow moves the long texts of old parts to the shelf: only a pager still shows them.
func (r *record) stow() {
	for ; r.stowed < len(r.book)-recent && r.book[r.stowed].final; r.stowed++ {
		if c, ok := r.book[r.stowed].content.(interface{ stow(*shelf.Shelf) }); ok {
			c.stow(&r.shelf)
		}
	}
}

// view returns the current view.
func (r *record) view(w int) view {
	if w <= 0 {
		w = 80
	}
	v := view{Config: r.cfg, w: max(8, w-1), prose: max(8, min(w-1, maxProse)), now: r.cfg.Now()}
	if r.cfg.Keys != nil {
		v.keys = r.cfg.Keys()
	}
	v.moves = r.cfg.Moving != nil && r.cfg.Moving()
	v.thinking = r.cfg.Thinking != nil && r.cfg.Thinking()
	return v
}

// put adds a complete part.
func (r *record) put(c content) { r.add(c).closed = true }

func (r *record) faint(text string) { r.put(&note{role: draw.Faint, text: text}) }

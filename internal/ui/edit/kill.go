package edit

import "slices"

// maxKills is the number of killed texts kept.
const maxKills = 30

// A ring is a kill ring, the latest text last.
type ring struct {
	texts  [][]rune
	grows  bool // the last key killed text; the next kill extends it
	yanked pos  // start of the text the last key inserted
	nth    int  // its index from the end; 0 if the last key did not yank
}

// add stores text killed before the caret (back) or after it.
func (r *ring) add(cut []rune, back bool) {
	if len(cut) == 0 {
		return
	}
	n := len(r.texts)
	switch {
	case !r.grows || n == 0:
		r.texts = append(r.texts, cut)
		if len(r.texts) > maxKills {
			r.texts = slices.Delete(r.texts, 0, 1)
		}
	case back:
		r.texts[n-1] = slices.Concat(cut, r.texts[n-1])
	default:
		r.texts[n-1] = slices.Concat(r.texts[n-1], cut)
	}
	r.grows = true
}

// kill cuts the text between two positions.
func (r *ring) kill(b *buffer, from, to pos) {
	r.add(b.slice(from, to), from.before(b.caret))
	b.change(from, to, nil, apart)
}

// yank inserts the most recently killed text.
func (r *ring) yank(b *buffer) {
	if n := len(r.texts); n > 0 {
		r.yanked, r.nth = b.caret, 1
		b.change(b.caret, b.caret, r.texts[n-1], apart)
	}
}

// pop replaces the text just yanked with the previous killed text; nth is the index of the
// yanked one.
func (r *ring) pop(b *buffer, nth int) {
	n := len(r.texts)
	if nth == 0 || n == 0 {
		return
	}
	next := nth%n + 1
	b.change(r.yanked, advance(r.yanked, r.texts[n-nth]), r.texts[n-next], apart)
	r.nth = next
}

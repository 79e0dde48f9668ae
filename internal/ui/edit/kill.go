package edit

import "slices"

// maxKills is how many texts that were cut are kept.
const maxKills = 30

// A ring holds what was cut, the last one at the end.
type ring struct {
	texts  [][]rune
	grows  bool // the last key cut something: the next one adds to it
	yanked pos  // where the text begins that the last key inserted
	nth    int  // which one that was, from the end; 0 if the last key inserted none
}

// add keeps what was cut before the caret, or after it.
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

// kill cuts what stands between two places.
func (r *ring) kill(b *buffer, from, to pos) {
	r.add(b.slice(from, to), from.before(b.caret))
	b.change(from, to, nil, apart)
}

// yank inserts what was cut last.
func (r *ring) yank(b *buffer) {
	if n := len(r.texts); n > 0 {
		r.yanked, r.nth = b.caret, 1
		b.change(b.caret, b.caret, r.texts[n-1], apart)
	}
}

// pop puts what was cut before in the place of what was just inserted; nth says which that was.
func (r *ring) pop(b *buffer, nth int) {
	n := len(r.texts)
	if nth == 0 || n == 0 {
		return
	}
	next := nth%n + 1
	b.change(r.yanked, advance(r.yanked, r.texts[n-nth]), r.texts[n-next], apart)
	r.nth = next
}

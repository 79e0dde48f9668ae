package edit

import (
	"slices"
	"time"
)

// A change is one to a text, which can be undone.
type change struct {
	at                pos
	removed, inserted []rune
	before, after     pos // the caret
	joins             bool
}

// Changes are those that were made to a text, and those that were undone.
type changes struct {
	done, undone []change
	size         int // of what is done, in characters
	last         kind
	at           time.Time
	group        int // of the last one
}

// A kind of change says which ones are undone together.
type kind uint8

const (
	apart   kind = iota // by itself
	typing              // of a word
	erasing             // character by character
	within              // with the change before it, in any case
)

const (
	// pause is after which what is typed is undone by itself.
	pause = time.Second
	// maxUndo bounds what can be undone, in changes, and maxUndoText in characters.
	maxUndo     = 10_000
	maxUndoText = 4 << 20
)

// A buffer is a text with a caret, whose changes can be undone.
type buffer struct {
	text
	caret   pos
	folds   []fold
	changes changes
	at      time.Time // of the key that is handled
	group   int       // changes of the same group are undone together; 0 means that pauses decide
}

// change puts runes in the place of what stands between two places, and the caret after them.
func (b *buffer) change(from, to pos, with []rune, k kind) {
	c := change{at: from, removed: b.slice(from, to), inserted: slices.Clone(with), before: b.caret}
	if len(c.removed) == 0 && len(with) == 0 {
		return
	}
	b.caret = b.snap(b.replace(from, to, with))
	c.after = b.caret
	if b.group != 0 && b.group == b.changes.group {
		k = within
	}
	b.changes.group = b.group
	b.changes.add(c, k, b.at)
}

// add records a change.
func (cs *changes) add(c change, k kind, at time.Time) {
	if n := len(cs.done); n > 0 {
		c.joins = k == within || k != apart && k == cs.last && at.Sub(cs.at) < pause && c.before == cs.done[n-1].after && !newWord(cs.done[n-1], c)
	}
	cs.last, cs.at = k, at
	cs.done = append(cs.done, c)
	cs.undone = nil
	cs.size += len(c.removed) + len(c.inserted)
	for len(cs.done) > 1 && (len(cs.done) > maxUndo || cs.size > maxUndoText) {
		cs.forget()
	}
}

// forget drops the oldest changes that are undone together.
func (cs *changes) forget() {
	for {
		cs.size -= len(cs.done[0].removed) + len(cs.done[0].inserted)
		cs.done = cs.done[1:]
		if len(cs.done) == 0 || !cs.done[0].joins {
			return
		}
	}
}

// newWord reports whether a change begins a word after another one.
func newWord(last, c change) bool {
	if len(last.inserted) == 0 || len(c.inserted) == 0 {
		return false
	}
	return classOf(last.inserted[len(last.inserted)-1]) == blank && classOf(c.inserted[0]) != blank
}

// undo takes back what was changed last, and redo makes it again.
func (b *buffer) undo() {
	cs := &b.changes
	for len(cs.done) > 0 {
		c := cs.done[len(cs.done)-1]
		cs.done = cs.done[:len(cs.done)-1]
		cs.size -= len(c.removed) + len(c.inserted)
		b.replace(c.at, advance(c.at, c.inserted), c.removed)
		b.caret = c.before
		cs.undone = append(cs.undone, c)
		if !c.joins {
			break
		}
	}
	cs.last, cs.group = apart, -1
}

func (b *buffer) redo() {
	cs := &b.changes
	for first := true; len(cs.undone) > 0; first = false {
		c := cs.undone[len(cs.undone)-1]
		if !first && !c.joins {
			break
		}
		cs.undone = cs.undone[:len(cs.undone)-1]
		cs.size += len(c.removed) + len(c.inserted)
		b.replace(c.at, advance(c.at, c.removed), c.inserted)
		b.caret = c.after
		cs.done = append(cs.done, c)
	}
	cs.last, cs.group = apart, -1
}

// advance returns the place after runes that begin at p.
func advance(p pos, runes []rune) pos {
	for _, r := range runes {
		p.col++
		if r == '\n' {
			p = pos{p.line + 1, 0}
		}
	}
	return p
}

// erase removes what stands between two places.
func (b *buffer) erase(from, to pos) { b.change(from, to, nil, erasing) }

// set makes runes the text, with the caret at their end.
func (b *buffer) set(runes []rune) {
	b.change(pos{}, b.end(), runes, apart)
	b.caret = b.end()
}

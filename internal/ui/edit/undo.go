package edit

import (
	"slices"
	"time"
)

// A change is an undoable change to a text.
type change struct {
	at                pos
	removed, inserted []rune
	before, after     pos // caret positions
	joins             bool
}

// changes holds the changes made to a text and the undone ones.
type changes struct {
	done, undone []change
	size         int // total of done, in characters
	last         kind
	at           time.Time
	group        int // group of the last change
}

// A kind determines which changes are undone together.
type kind uint8

const (
	apart   kind = iota // undone separately
	typing              // undone with the rest of the word
	erasing             // deletes character by character
	within              // always undone with the previous change
)

const (
	// pause is the interval after which typed text is undone separately.
	pause = time.Second
	// maxUndo limits the undo history in changes, and maxUndoText in characters.
	maxUndo     = 10_000
	maxUndoText = 4 << 20
)

// A buffer is a text with a caret and an undo history.
type buffer struct {
	text
	caret   pos
	folds   []fold
	changes changes
	at      time.Time // time of the current key
	group   int       // changes in the same group are undone together; 0 groups by pauses
}

// change replaces the text between two positions and moves the caret after the new text.
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

// forget drops the oldest group of changes.
func (cs *changes) forget() {
	for {
		cs.size -= len(cs.done[0].removed) + len(cs.done[0].inserted)
		cs.done = cs.done[1:]
		if len(cs.done) == 0 || !cs.done[0].joins {
			return
		}
	}
}

// newWord reports whether a change begins a new word after the last one.
func newWord(last, c change) bool {
	if len(last.inserted) == 0 || len(c.inserted) == 0 {
		return false
	}
	return classOf(last.inserted[len(last.inserted)-1]) == blank && classOf(c.inserted[0]) != blank
}

// undo reverts the last change, and redo reapplies it.
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

// advance returns the position after runes that begin at p.
func advance(p pos, runes []rune) pos {
	for _, r := range runes {
		p.col++
		if r == '\n' {
			p = pos{p.line + 1, 0}
		}
	}
	return p
}

// erase removes the text between two positions.
func (b *buffer) erase(from, to pos) { b.change(from, to, nil, erasing) }

// set replaces the text with runes and moves the caret to the end.
func (b *buffer) set(runes []rune) {
	b.change(pos{}, b.end(), runes, apart)
	b.caret = b.end()
}

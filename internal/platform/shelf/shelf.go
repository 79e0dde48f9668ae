// Package shelf keeps texts in memory that are seldom read again. They are compressed, many at a time.
package shelf

import (
	"bytes"
	"compress/flate"
	"io"
)

// boxSize is how much is compressed at a time, in bytes.
const boxSize = 256 << 10

// A Shelf keeps texts. The zero value is empty. It belongs to one goroutine.
type Shelf struct {
	last  *box   // that texts are put into; may be nil
	open  *box   // that was read last; may be nil
	plain []byte // what is in it
}

// A box is texts one after the other.
type box struct {
	plain  []byte // nil once they are compressed
	packed []byte
	size   int
}

// A Text is one on a shelf.
type Text struct {
	shelf    *Shelf
	box      *box
	from, to int
}

// Put keeps a text.
func (s *Shelf) Put(text string) Text {
	if s.last != nil && len(s.last.plain)+len(text) > boxSize {
		s.last.pack()
		s.last = nil
	}
	if s.last == nil {
		s.last = &box{plain: make([]byte, 0, max(boxSize, len(text)))}
	}
	from := len(s.last.plain)
	s.last.plain = append(s.last.plain, text...)
	return Text{s, s.last, from, len(s.last.plain)}
}

// String returns the text.
func (t Text) String() string {
	if t.box == nil {
		return ""
	}
	return string(t.shelf.contents(t.box)[t.from:t.to])
}

// contents returns what is in a box. That of the last one stays at hand: texts are read in their order.
func (s *Shelf) contents(b *box) []byte {
	if b.plain != nil {
		return b.plain
	}
	if s.open != b {
		s.open, s.plain = b, b.unpack()
	}
	return s.plain
}

// pack compresses what is in the box.
func (b *box) pack() {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed) // ok: the level is a valid one
	w.Write(b.plain)                               // ok: a buffer takes everything
	w.Close()                                      // ok: likewise
	b.packed, b.size, b.plain = bytes.Clone(out.Bytes()), len(b.plain), nil
}

// unpack returns what was in the box.
func (b *box) unpack() []byte {
	plain := make([]byte, b.size)
	io.ReadFull(flate.NewReader(bytes.NewReader(b.packed)), plain) // ok: it is what was written
	return plain
}

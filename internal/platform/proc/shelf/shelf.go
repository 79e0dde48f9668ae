// Package shelf keeps rarely read texts compressed in memory, many at a time.
package shelf

import (
	"bytes"
	"compress/flate"
	"io"
)

// boxSize is the size of a compressed block, in bytes.
const boxSize = 256 << 10

// A Shelf stores texts. The zero value is empty. It is not safe for concurrent use.
type Shelf struct {
	last  *box   // receives new texts; may be nil
	open  *box   // last box read; may be nil
	plain []byte // content of open
}

// A box is a block of concatenated texts.
type box struct {
	plain  []byte // nil once compressed
	packed []byte
	size   int
}

// A Text is a text on a shelf.
type Text struct {
	shelf    *Shelf
	box      *box
	from, to int
}

// Put stores a text.
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

// contents returns the content of a box. It caches the last box, because texts are read in
// order.
func (s *Shelf) contents(b *box) []byte {
	if b.plain != nil {
		return b.plain
	}
	if s.open != b {
		s.open, s.plain = b, b.unpack()
	}
	return s.plain
}

// pack compresses the box.
func (b *box) pack() {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestSpeed) // ok: the level is valid
	w.Write(b.plain)                               // ok: writing to a buffer cannot fail
	w.Close()                                      // ok: likewise
	b.packed, b.size, b.plain = bytes.Clone(out.Bytes()), len(b.plain), nil
}

// unpack decompresses the box.
func (b *box) unpack() []byte {
	plain := make([]byte, b.size)
	io.ReadFull(flate.NewReader(bytes.NewReader(b.packed)), plain) // ok: pack wrote the data
	return plain
}

package textfile

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A byteOrder decodes a code unit.
type byteOrder func([]byte) uint16

func littleEndian(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func bigEndian(b []byte) uint16    { return binary.BigEndian.Uint16(b) }

// A utf16Reader converts UTF-16 to UTF-8. An unpaired surrogate becomes an invalid byte, so
// that it is detected like any other damage.
type utf16Reader struct {
	src   *bufio.Reader
	order byteOrder
	ready []byte // decoded but not yet read
	err   error
}

func newUTF16(src io.Reader, order byteOrder) *utf16Reader {
	return &utf16Reader{src: bufio.NewReaderSize(src, blockSize), order: order}
}

const damaged = 0xff

func (r *utf16Reader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// fill decodes the next few thousand characters.
func (r *utf16Reader) fill() {
	r.ready = r.ready[:0]
	for len(r.ready) < 4096 {
		unit, ok := r.unit()
		if !ok {
			return
		}
		c := rune(unit)
		if !utf16.IsSurrogate(c) {
			r.ready = utf8.AppendRune(r.ready, c)
			continue
		}
		next, err := r.src.Peek(2)
		pair := utf8.RuneError
		if err == nil {
			pair = utf16.DecodeRune(c, rune(r.order(next)))
		}
		if pair == utf8.RuneError {
			r.ready = append(r.ready, damaged)
			continue
		}
		r.src.Discard(2) // ok: the bytes were just peeked
		r.ready = utf8.AppendRune(r.ready, pair)
	}
}

// unit reads a code unit. At an odd end it emits an invalid byte.
func (r *utf16Reader) unit() (uint16, bool) {
	var b [2]byte
	n, err := io.ReadFull(r.src, b[:])
	if err == nil {
		return r.order(b[:]), true
	}
	if n == 1 {
		r.ready = append(r.ready, damaged)
	}
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	r.err = err
	return 0, false
}

package textfile

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A byteOrder reads one code unit.
type byteOrder func([]byte) uint16

func littleEndian(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func bigEndian(b []byte) uint16    { return binary.BigEndian.Uint16(b) }

// A utf16Reader yields as UTF-8 what it reads as UTF-16. Half a character becomes a byte that is not
// valid UTF-8, so that it is noticed like any other damage.
type utf16Reader struct {
	src   *bufio.Reader
	order byteOrder
	ready []byte // decoded and not yet read
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
		r.src.Discard(2) // ok: they were just seen
		r.ready = utf8.AppendRune(r.ready, pair)
	}
}

// unit reads one code unit. At an odd end it leaves a damaged byte.
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

package scan

import (
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	firstSize = 64 << 10 // initial buffer size
	keptSize  = 1 << 20  // buffer size kept between files
	maxEmpty  = 100      // consecutive reads that return neither bytes nor an error
)

// An input is the text of a file, part of which is in memory.
type input struct {
	src   io.Reader
	data  []byte // part in memory, as UTF-8
	done  int    // searched part of data
	base  int64  // amount of text before data
	total int64  // bytes read from src
	eof   bool

	sniffed  bool // the encoding is known
	utf16    byteOrder
	raw      []byte // UTF-16 bytes not yet in data
	inLine   bool   // data begins within a line
	skipLine bool   // the rest of that line is not needed
}

type byteOrder uint8

const (
	notUTF16 byteOrder = iota
	littleEndian
	bigEndian
)

func (in *input) reset(src io.Reader) {
	*in = input{src: src, data: in.data[:0], raw: in.raw[:0]}
}

// release releases the file, and a buffer that has become large.
func (in *input) release() {
	in.src = nil
	if cap(in.data) > keptSize {
		in.data = nil
	}
}

// read reads once and reports whether there are n unsearched bytes.
func (in *input) read(n int) (full bool, err error) {
	if in.utf16 != notUTF16 {
		err = in.readUTF16()
	} else {
		in.data, err = in.readInto(in.data, in.done+n)
		if !in.sniffed && (in.eof || len(in.data) > 3) {
			in.sniff()
		}
	}
	return len(in.data)-in.done >= n, err
}

// readInto appends the result of one read to buf, which grows to at most limit and some room
// for the read.
func (in *input) readInto(buf []byte, limit int) ([]byte, error) {
	if cap(buf) == 0 {
		buf = make([]byte, 0, firstSize)
	}
	if len(buf) == cap(buf) {
		size := max(firstSize, min(4*cap(buf), limit+firstSize))
		buf = append(make([]byte, 0, max(size, cap(buf)+firstSize)), buf...)
	}
	for range maxEmpty {
		n, err := in.src.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		in.total += int64(n)
		if err == io.EOF {
			in.eof = true
			return buf, nil
		}
		if n > 0 || err != nil {
			return buf, err
		}
	}
	return buf, io.ErrNoProgress
}

// sniff looks for a byte order mark and removes it.
func (in *input) sniff() {
	in.sniffed = true
	d := in.data
	switch {
	case len(d) >= 3 && d[0] == 0xef && d[1] == 0xbb && d[2] == 0xbf:
		in.data = append(d[:0], d[3:]...)
		return
	case len(d) >= 2 && d[0] == 0xff && d[1] == 0xfe:
		in.utf16 = littleEndian
	case len(d) >= 2 && d[0] == 0xfe && d[1] == 0xff:
		in.utf16 = bigEndian
	default:
		return
	}
	in.raw = append(in.raw, d[2:]...)
	in.data = d[:0]
	in.decode()
}

func (in *input) readUTF16() (err error) {
	in.raw, err = in.readInto(in.raw, firstSize)
	in.decode()
	return err
}

// decode moves whole characters from raw to data. Invalid ones become U+FFFD.
func (in *input) decode() {
	i := 0
	for ; i+1 < len(in.raw); i += 2 {
		r := in.unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(in.raw) && !in.eof {
				break
			}
			pair := rune(utf8.RuneError)
			if i+3 < len(in.raw) {
				pair = utf16.DecodeRune(r, in.unit(i+2))
			}
			if r = pair; r != utf8.RuneError {
				i += 2
			}
		}
		in.data = utf8.AppendRune(in.data, r)
	}
	if in.eof && i < len(in.raw) {
		in.data = utf8.AppendRune(in.data, utf8.RuneError)
		i = len(in.raw)
	}
	in.raw = append(in.raw[:0], in.raw[i:]...)
}

func (in *input) unit(i int) rune {
	if in.utf16 == littleEndian {
		return rune(in.raw[i]) | rune(in.raw[i+1])<<8
	}
	return rune(in.raw[i])<<8 | rune(in.raw[i+1])
}

// drop discards the first n bytes of data.
func (in *input) drop(n int) {
	in.data = in.data[:copy(in.data, in.data[n:])]
	in.base += int64(n)
}

package store

import (
	"bytes"
	"errors"
	"io"
)

// maxLine is the maximum length of a line; adze writes no longer records.
const maxLine = 64 << 20

// lines reads a log line by line with a single buffer that grows to the longest line.
type lines struct {
	r          io.Reader
	buf        []byte
	start, end int   // range in buf not yet returned
	off        int64 // offset of buf[start] in the input
}

func newLines(r io.Reader) *lines { return &lines{r: r, buf: make([]byte, 256<<10)} }

// next returns the next complete line without its newline, and its offset. The line is valid
// until the next call. An overlong line is returned empty. At the end the error is [io.EOF], or
// [io.ErrUnexpectedEOF] if an incomplete line remains.
func (l *lines) next() (line []byte, off int64, err error) {
	for searched := l.start; ; {
		if i := bytes.IndexByte(l.buf[searched:l.end], '\n'); i >= 0 {
			return l.take(searched + i)
		}
		searched = l.end
		if l.end-l.start > maxLine {
			return l.drop()
		}
		moved, err := l.fill()
		searched -= moved
		if err != nil {
			return nil, l.off, err
		}
	}
}

func (l *lines) take(end int) ([]byte, int64, error) {
	line, off := l.buf[l.start:end], l.off
	l.start = end + 1
	l.off += int64(len(line)) + 1
	return line, off, nil
}

// fill makes room in the buffer and reads more; buffered data may move to the front.
func (l *lines) fill() (moved int, err error) {
	if l.end == len(l.buf) {
		moved = l.start
		if l.start == 0 {
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		} else {
			copy(l.buf, l.buf[l.start:l.end])
			l.start, l.end = 0, l.end-l.start
		}
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	switch {
	case n > 0:
		return moved, nil
	case errors.Is(err, io.EOF) && l.start < l.end:
		return moved, io.ErrUnexpectedEOF
	}
	return moved, err
}

// drop skips an overlong line.
func (l *lines) drop() ([]byte, int64, error) {
	off := l.off
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.off += int64(i) + 1
			l.start += i + 1
			return nil, off, nil
		}
		l.off += int64(l.end - l.start)
		l.start, l.end = 0, 0
		n, err := l.r.Read(l.buf)
		l.end = n
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, off, err
		}
	}
}

// blocks reads parts of a log, requested in order, with few system calls.
type blocks struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	off  int64 // offset of buf
}

// bytesAt returns n bytes at off. They are valid until the next call.
func (b *blocks) bytesAt(off int64, n int) ([]byte, error) {
	const block = 1 << 20
	if off < b.off || off+int64(n) > b.off+int64(len(b.buf)) {
		length := int(min(int64(max(n, block)), b.size-off))
		if cap(b.buf) < length {
			b.buf = make([]byte, length)
		}
		b.buf, b.off = b.buf[:length], off
		if m, err := b.r.ReadAt(b.buf, off); m < len(b.buf) {
			b.buf = b.buf[:0]
			return nil, err
		}
	}
	at := int(off - b.off)
	if at+n > len(b.buf) {
		return nil, io.ErrUnexpectedEOF
	}
	return b.buf[at : at+n], nil
}

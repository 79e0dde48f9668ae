// Package lines reads lines of bounded length from an input that may hold anything. What a line means
// is left to the caller.
package lines

import (
	"bufio"
	"errors"
	"io"
)

// ErrTooLong says that a line was skipped for its length.
var ErrTooLong = errors.New("line is too long")

// A Reader reads lines. What is too long is skipped without being kept in memory.
type Reader struct {
	r   *bufio.Reader
	max int
}

// NewReader returns a reader of lines of at most max bytes, their ends not counted.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{bufio.NewReaderSize(r, 64<<10), max}
}

// Next returns the next line without its end. It returns [ErrTooLong] in place of a line that it
// skipped, and [io.EOF] when there are no more. The last line need not have an end.
func (l *Reader) Next() ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > l.max+1; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, ErrTooLong
		case errors.Is(err, io.EOF) && len(line) > l.max:
			return nil, ErrTooLong
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		}
		return line[:len(line)-1], nil
	}
}

// Package lines reads lines of limited length from untrusted input.
package lines

import (
	"bufio"
	"errors"
	"io"
)

// ErrTooLong means that a line was skipped because it is too long.
var ErrTooLong = errors.New("line is too long")

// A Reader reads lines. It skips lines that are too long without keeping them in memory.
type Reader struct {
	r   *bufio.Reader
	max int
}

// NewReader returns a reader for lines of at most max bytes, excluding line endings.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{bufio.NewReaderSize(r, 64<<10), max}
}

// headSize is how many bytes of a too-long line are kept.
const headSize = 4 << 10

// Next returns the next line without its line ending, or [io.EOF] at the end. If a line is too
// long, Next returns its beginning and [ErrTooLong]. The last line need not be terminated.
func (l *Reader) Next() ([]byte, error) {
	var line, head []byte
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if len(head) < headSize {
			head = append(head, piece[:min(len(piece), headSize-len(head))]...)
		}
		if long = long || len(line)+len(piece) > l.max+1; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return head, ErrTooLong
		case errors.Is(err, io.EOF) && len(line) > l.max:
			return head, ErrTooLong
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		}
		return line[:len(line)-1], nil
	}
}

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

// headSize is how much is kept of a line that is too long, in bytes.
const headSize = 4 << 10

// Next returns the next line without its end. Of a line that is too long it returns the beginning, with
// [ErrTooLong]. When there are no more it returns [io.EOF]. The last line need not have an end.
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

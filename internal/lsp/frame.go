package lsp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxHeader limits the header of a message, in bytes.
	maxHeader = 8 << 10
	// maxMessage limits a message, in bytes. Larger ones are skipped.
	maxMessage = 8 << 20
	// maxSkipped limits a message that is skipped.
	maxSkipped = 1 << 30
)

// A frameReader splits a server's output into messages. Output may arrive in pieces of any size.
type frameReader struct {
	deliver func(message []byte) // the message is only valid during the call
	fail    func(error)          // called once; further output is discarded

	header []byte
	body   []byte
	left   int // missing bytes of the body; 0 while reading a header
	skip   bool
	dead   bool
}

// Write implements [io.Writer]. It never fails.
func (f *frameReader) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && !f.dead {
		if f.left > 0 {
			b = f.readBody(b)
		} else {
			b = f.readHeader(b)
		}
	}
	return n, nil
}

// readBody consumes bytes of the body and returns the rest.
func (f *frameReader) readBody(b []byte) []byte {
	k := min(f.left, len(b))
	if !f.skip {
		f.body = append(f.body, b[:k]...)
	}
	f.left -= k
	if f.left == 0 && !f.skip {
		f.deliver(f.body)
		if f.body = f.body[:0]; cap(f.body) > 1<<20 {
			f.body = nil
		}
	}
	return b[k:]
}

// readHeader consumes bytes of the header and returns the rest.
func (f *frameReader) readHeader(b []byte) []byte {
	for i, c := range b {
		f.header = append(f.header, c)
		if c == '\n' && (bytes.HasSuffix(f.header, []byte("\n\n")) || bytes.HasSuffix(f.header, []byte("\n\r\n"))) {
			size, err := contentLength(f.header)
			f.header = f.header[:0]
			if err != nil {
				f.stop(err)
				return nil
			}
			f.left, f.skip = size, size > maxMessage
			return b[i+1:]
		}
		if len(f.header) > maxHeader {
			f.stop(errors.New("it printed text instead of messages"))
			return nil
		}
	}
	return nil
}

func (f *frameReader) stop(err error) {
	f.dead, f.header, f.body = true, nil, nil
	f.fail(err)
}

// contentLength returns the length of the body that a header announces. Lines that are not
// header fields are ignored: some servers print a greeting.
func contentLength(header []byte) (int, error) {
	for line := range strings.SplitSeq(string(header), "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n > maxSkipped {
			return 0, fmt.Errorf("it sent a message of invalid length %.40q", strings.TrimSpace(value))
		}
		return n, nil
	}
	return 0, errors.New("it sent a message without a length")
}

// frame returns a message with its header.
func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

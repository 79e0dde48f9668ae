package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// maxLine is the maximum length of a line and of an event's data.
const maxLine = 16 << 20

var (
	errLineTooLong = errors.New("a line of the stream is longer than 16 MB")
	errNotStream   = errors.New("a web page came instead of a stream")
)

// An sseReader splits a server-sent event stream into events. It is incremental, accepts any
// line ending, skips comments, joins the data lines of an event, and does not require the final
// blank line.
type sseReader struct {
	r       io.Reader
	err     error  // error from r, reported after the data before it
	buf     []byte // buf[start:] is unread
	start   int
	scanned int  // buf[start:scanned] holds no line ending
	skipLF  bool // the previous line ended in CR, so a LF belongs to it
	began   bool // something other than white space was read

	name  string
	named string // last event name read
	data  []byte
}

// Next implements [Frames]: it returns the next event that has data. Its data is valid until the following call.
func (s *sseReader) Next() (name string, data []byte, err error) {
	s.name, s.data = "", s.data[:0]
	seen := false
	for {
		line, err := s.line()
		if err != nil {
			if seen && err == io.EOF {
				return s.name, s.data, nil
			}
			return "", nil, err
		}
		if len(line) == 0 {
			if seen {
				return s.name, s.data, nil
			}
			s.name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			if string(value) != s.named { // most events have the same name as the previous one
				s.named = string(value)
			}
			s.name = s.named
		case "data":
			if len(s.data)+len(value) > maxLine {
				return "", nil, errLineTooLong
			}
			if seen {
				s.data = append(s.data, '\n')
			} else if s.blank() { // common case: a single data line
				return s.name, value, nil
			}
			seen = true
			s.data = append(s.data, value...)
		}
	}
}

// blank consumes a blank line if it is known to be next.
func (s *sseReader) blank() bool {
	at := s.start
	if s.skipLF && at < len(s.buf) && s.buf[at] == '\n' {
		at++
	}
	if at >= len(s.buf) || s.buf[at] != '\n' && s.buf[at] != '\r' {
		return false
	}
	s.start, s.skipLF = at+1, s.buf[at] == '\r'
	return true
}

// lineEnd returns the end of the first line of b, or -1.
func lineEnd(b []byte) int {
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		b = b[:end]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return end
}

// line returns the next line without its ending. It is valid until the following call.
func (s *sseReader) line() ([]byte, error) {
	for {
		if s.skipLF && s.start < len(s.buf) {
			if s.buf[s.start] == '\n' {
				s.start++
			}
			s.skipLF = false
		}
		s.scanned = max(s.scanned, s.start)
		if i := lineEnd(s.buf[s.scanned:]); i >= 0 {
			end := s.scanned + i
			line := s.buf[s.start:end]
			s.skipLF = s.buf[end] == '\r'
			s.start, s.scanned = end+1, end+1
			return line, nil
		}
		s.scanned = len(s.buf)
		if s.scanned-s.start > maxLine {
			return nil, errLineTooLong
		}
		if s.err != nil {
			line := s.buf[s.start:]
			s.start = len(s.buf)
			if len(line) > 0 && s.err == io.EOF {
				return line, nil
			}
			return nil, s.err
		}
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads more into buf, which grows only if a line does not fit.
func (s *sseReader) fill() error {
	if s.start > 0 {
		n := copy(s.buf, s.buf[s.start:])
		s.buf = s.buf[:n]
		s.scanned -= s.start
		s.start = 0
	}
	if len(s.buf) == cap(s.buf) {
		s.buf = append(make([]byte, 0, max(4<<10, 2*cap(s.buf))), s.buf...)
	}
	n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	s.err = err
	if !s.began {
		return s.begin()
	}
	return nil
}

// begin skips white space and byte order marks at the start of a stream, and rejects a web page
// at its first character, since its end may take long to arrive.
func (s *sseReader) begin() error {
	const mark = "\ufeff"
	rest := bytes.TrimLeft(s.buf, mark+" \t\r\n")
	if strings.HasPrefix(mark, string(rest)) {
		return nil // nothing yet, or half a byte order mark
	}
	s.began = true
	if rest[0] == '<' {
		return errNotStream
	}
	s.start = len(s.buf) - len(rest)
	return nil
}

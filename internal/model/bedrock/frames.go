package bedrock

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// An event-stream message consists of a prelude (total length, header length and a checksum of
// both), the headers, the payload, and a checksum of everything before it. Numbers are
// big-endian. A header is a name, a type and a value.

const (
	mediaType = "application/vnd.amazon.eventstream"

	preludeSize = 12
	crcSize     = 4
	// maxFrame is the maximum message size accepted.
	maxFrame = 16 << 20
)

var (
	errFrameTooLong = errors.New("a message of the stream is longer than 16 MB")
	errChecksum     = errors.New("a message of the stream has a wrong checksum")
	errFrame        = errors.New("a message of the stream is not framed as it should be")
	errPage         = errors.New("a web page came instead of a stream")
)

// MediaType implements [wire.FramedDialect].
func (Dialect) MediaType() string { return mediaType }

// A frameReader reads the messages of an event stream. It implements [wire.Frames].
type frameReader struct {
	r   io.Reader
	buf []byte
	// buf[start:end] is unread.
	start, end int
	begun      bool
}

// Next implements [wire.Frames]. The name is the event type; for an exception it begins with
// exceptionPrefix.
func (f *frameReader) Next() (name string, data []byte, err error) {
	if err := f.fill(1); err != nil {
		return "", nil, err
	}
	if !f.begun && f.buf[f.start] == '<' {
		return "", nil, errPage
	}
	f.begun = true
	if err := f.fill(preludeSize); err != nil {
		return "", nil, err
	}
	prelude := f.buf[f.start:]
	total, headers := binary.BigEndian.Uint32(prelude), binary.BigEndian.Uint32(prelude[4:])
	switch {
	case total > maxFrame:
		return "", nil, errFrameTooLong
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return "", nil, errChecksum
	case total < preludeSize+crcSize || headers > total-preludeSize-crcSize:
		return "", nil, errFrame
	}
	if err := f.fill(int(total)); err != nil {
		return "", nil, err
	}
	message := f.buf[f.start : f.start+int(total)]
	f.start += int(total)
	body := message[:total-crcSize]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(message[total-crcSize:]) {
		return "", nil, errChecksum
	}
	payload := body[preludeSize+headers:]
	name, text, err := nameOf(body[preludeSize : preludeSize+headers])
	if text != nil { // an error without a payload
		payload = text
	}
	return name, payload, err
}

// fill ensures that at least n bytes of buf are unread. It returns [io.EOF] at the end of the
// stream, even in the middle of a message.
func (f *frameReader) fill(n int) error {
	if f.end-f.start >= n {
		return nil
	}
	if f.start > 0 {
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
	}
	for f.end < n {
		if f.end == len(f.buf) {
			f.buf = append(f.buf, make([]byte, max(4096, min(len(f.buf), n)))...)
		}
		read, err := f.r.Read(f.buf[f.end:])
		f.end += read
		if err != nil && f.end < n {
			return err
		}
	}
	return nil
}

const (
	exceptionPrefix = "exception:"
	chunkName       = "chunk"
)

// nameOf returns a message's name from its headers. text is the message of an error without a
// payload.
func nameOf(headers []byte) (name string, text []byte, err error) {
	var kind, event []byte
	failed := false
	for len(headers) > 0 {
		field, value, rest, ok := cutHeader(headers)
		if !ok {
			return "", nil, errFrame
		}
		headers = rest
		switch string(field) {
		case ":message-type":
			kind = value
			failed = string(value) == "exception" || string(value) == "error"
		case ":event-type", ":exception-type", ":error-code":
			event = value
		case ":error-message":
			text = value
		}
	}
	switch {
	case failed:
		name = exceptionPrefix + string(event)
	case string(event) == chunkName:
		name = chunkName // avoids an allocation
	default:
		name = string(event)
	}
	if string(kind) != "error" {
		text = nil
	}
	return name, text, nil
}

// sizes holds the value sizes by header type; -1 means that the value is length-prefixed.
var sizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// cutHeader splits off the first header.
func cutHeader(b []byte) (name, value, rest []byte, ok bool) {
	n := int(b[0]) + 1
	if len(b) <= n || int(b[n]) >= len(sizes) {
		return nil, nil, nil, false
	}
	name, size := b[1:n], sizes[b[n]]
	b = b[n+1:]
	if size < 0 {
		if len(b) < 2 {
			return nil, nil, nil, false
		}
		size = int(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) < size {
		return nil, nil, nil, false
	}
	return name, b[:size], b[size:], true
}

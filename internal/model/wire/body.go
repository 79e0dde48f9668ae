package wire

import (
	"io"
	"slices"
)

// A Body is a request body in pieces, which must not be modified.
type Body [][]byte

// Len returns the number of bytes.
func (b Body) Len() int64 {
	var n int64
	for _, piece := range b {
		n += int64(len(piece))
	}
	return n
}

// Bytes returns a copy of the whole body.
func (b Body) Bytes() []byte {
	if b == nil {
		return nil
	}
	return slices.Concat(b...)
}

// Reader returns a reader for the whole body.
func (b Body) Reader() io.Reader { return &bodyReader{slices.Clone(b)} }

// A bodyReader reads pieces without an intermediate buffer.
type bodyReader struct{ rest Body }

func (r *bodyReader) Read(p []byte) (n int, err error) {
	for n < len(p) && len(r.rest) > 0 {
		taken := copy(p[n:], r.rest[0])
		n += taken
		if r.rest[0] = r.rest[0][taken:]; len(r.rest[0]) == 0 {
			r.rest = r.rest[1:]
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *bodyReader) WriteTo(w io.Writer) (n int64, err error) {
	for len(r.rest) > 0 {
		written, err := w.Write(r.rest[0])
		n += int64(written)
		if err != nil {
			return n, err
		}
		r.rest = r.rest[1:]
	}
	return n, nil
}

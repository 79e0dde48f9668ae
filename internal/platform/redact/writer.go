package redact

import (
	"bytes"
	"io"
	"strings"
)

// maxHeld bounds what a [Writer] holds back of a line that does not end.
const maxHeld = 256 << 10

// maxKey bounds a private key.
const maxKey = 16 << 10

// A Writer is [String] for a stream. It holds back what may be a part of a secret: a line until it
// ends, and a private key until that does.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write redacts the lines that p completes and writes them.
func (w *Writer) Write(p []byte) (int, error) {
	end := 0
	if n := bytes.LastIndexByte(p, '\n'); n >= 0 {
		end = len(w.buf) + n + 1
	}
	w.buf = append(w.buf, p...)
	if begun := openKey(w.buf[:end]); begun >= 0 {
		end = begun
	}
	if end == 0 && len(w.buf) > maxHeld {
		end = len(w.buf) // no secret is that long
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := w.w.Write(Bytes(w.buf[:end]))
	w.buf = append(w.buf[:0], w.buf[end:]...)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// openKey returns where a private key begins that does not end in b, or -1.
func openKey(b []byte) int {
	begun := bytes.LastIndex(b, []byte(pemBegin))
	if begun < 0 || len(b)-begun > maxKey {
		return -1
	}
	if s := string(b[begun:]); privateKey(s, 0) == len(s) && !strings.Contains(s, pemEnd) {
		return begun
	}
	return -1
}

// Close writes what was held back. It does not close the writer below.
func (w *Writer) Close() error {
	_, err := w.w.Write(Bytes(w.buf))
	w.buf = nil
	return err
}

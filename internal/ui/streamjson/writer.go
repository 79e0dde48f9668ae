package streamjson

import (
	"io"
	"sync"
)

// A Writer writes whole lines, each with a single write. After an error it writes nothing more,
// so that no line follows a gap. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	err error // error of the failed write
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes a line, which ends in a newline.
func (w *Writer) Write(line []byte) {
	w.WriteFunc(func() []byte { return line })
}

// WriteFunc writes the line returned by f. It holds the lock, so that lines triggered by f
// follow its own line.
func (w *Writer) WriteFunc(f func() []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := f()
	if w.err == nil {
		_, w.err = w.w.Write(line)
	}
}

// Err returns the error of the failed write, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

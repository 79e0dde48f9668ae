package streamjson

import (
	"io"
	"sync"
)

// A Writer writes whole lines, each with a single write. After an error it writes nothing more, so that no line
// follows a gap. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	failed bool
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes a line, which ends in a newline.
func (w *Writer) Write(line []byte) {
	w.WriteFunc(func() []byte { return line })
}

// WriteFunc writes the line that f returns. Other lines wait until then: what f sets off is written after its line.
func (w *Writer) WriteFunc(f func() []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := f()
	if w.failed {
		return
	}
	_, err := w.w.Write(line)
	w.failed = err != nil
}

// Failed reports whether a write has failed.
func (w *Writer) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

package headless

import (
	"io"
	"sync"
)

// An output writes whole lines, each with one write, from any goroutine. After a failure it writes
// nothing more: half a stream of lines must not be followed by the rest of it.
type output struct {
	mu     sync.Mutex
	w      io.Writer
	broken bool
}

func (o *output) write(line []byte) {
	o.hold(func() []byte { return line })
}

// hold writes the line that make returns. What make sets off is written after it.
func (o *output) hold(make func() []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line := make()
	if o.broken {
		return
	}
	_, err := o.w.Write(line)
	o.broken = err != nil
}

// closed reports whether a write has failed.
func (o *output) closed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}

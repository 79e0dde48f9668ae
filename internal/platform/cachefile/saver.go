package cachefile

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// delay is how long nothing is written: there is more to do when a session begins.
	delay = 200 * time.Millisecond
	// closeWait is how long Close waits for a file that is being written.
	closeWait = time.Second
)

// A Saver saves a file in the background, a little later: what it holds can be used meanwhile, and a process that is killed
// leaves the file from before or none. The zero value is ready, and is safe for concurrent use.
type Saver struct {
	saving sync.WaitGroup
	begun  atomic.Int64 // how often

	making, closing sync.Once
	closed          chan struct{} // see done

	mu   sync.Mutex // held while the file is written
	last int64      // which time was written last
}

// Save saves the file with what encode returns a little later, or when the saver is closed, unless it was called again before
// that. A file that cannot be written is not reported: the next start reads what it would hold.
func (s *Saver) Save(f Format, path string, encode func() *Writer) {
	n := s.begun.Add(1)
	s.saving.Go(func() {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.done():
		}
		if n < s.begun.Load() {
			return
		}
		w := encode()
		s.mu.Lock()
		defer s.mu.Unlock()
		if n > s.last {
			s.last = n
			_ = f.Save(path, w) // ok: see above
		}
	})
}

// done returns what Close closes.
func (s *Saver) done() chan struct{} {
	s.making.Do(func() { s.closed = make(chan struct{}) })
	return s.closed
}

// Close writes what is still to be saved, and waits for it, for a short time.
func (s *Saver) Close() {
	s.closing.Do(func() { close(s.done()) })
	written := make(chan struct{})
	go func() {
		s.saving.Wait()
		close(written)
	}()
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}

package cachefile

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// delay postpones writing, because a starting session has more urgent work.
	delay = 200 * time.Millisecond
	// closeWait limits how long Close waits for a write in progress.
	closeWait = time.Second
)

// A Saver saves a file in the background after a short delay. If the process is killed, the
// previous file, if any, remains. The zero value is ready to use. A Saver is safe for
// concurrent use.
type Saver struct {
	saving sync.WaitGroup
	begun  atomic.Int64 // number of Save calls

	making, closing sync.Once
	closed          chan struct{} // see done

	mu   sync.Mutex // held while the file is written
	last int64      // number of the last save written
}

// Save writes the result of encode to the file after a short delay or when the saver is closed,
// unless Save is called again before then. Write errors are not reported: the next start
// rebuilds the data.
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

// done returns the channel that Close closes.
func (s *Saver) done() chan struct{} {
	s.making.Do(func() { s.closed = make(chan struct{}) })
	return s.closed
}

// Close writes pending data and waits briefly for it.
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

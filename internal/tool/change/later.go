package change

import "sync"

// later runs jobs in the background, sequentially.
type later struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last job is done; nil if none
}

func (l *later) add(job func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, done := l.last, make(chan struct{})
	l.last = done
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		job()
	}()
}

// wait waits for the pending jobs.
func (l *later) wait() {
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last != nil {
		<-last
	}
}

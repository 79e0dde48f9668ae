package change

import "sync"

// jobQueue runs jobs in the background, sequentially.
type jobQueue struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last job is done; nil if none
}

func (l *jobQueue) add(job func()) {
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
func (l *jobQueue) wait() {
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last != nil {
		<-last
	}
}

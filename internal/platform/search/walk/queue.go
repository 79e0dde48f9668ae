package walk

import (
	"sync"
	"sync/atomic"
)

// A job is something a worker can do next.
type job struct {
	kind  jobKind
	dir   *dir
	batch *Batch

	retried bool
}

type jobKind uint8

const (
	readDir     jobKind = iota // open dir and read it
	continueDir                // read on in dir, which is open
	visitBatch                 // visit batch, whose files are in dir
)

// A queue holds the jobs that no worker has taken. Each worker keeps its own jobs and gives some away
// only when another one has nothing to do.
type queue struct {
	idle    atomic.Int32 // workers that wait
	stopped atomic.Bool
	single  atomic.Bool // all workers but one are to leave

	mu      sync.Mutex
	wake    sync.Cond
	jobs    []job
	workers int   // that have not left
	err     error // the first one
}

func (q *queue) init(workers int) {
	q.workers = workers
	q.wake.L = &q.mu
}

// push offers jobs to idle workers.
func (q *queue) push(jobs ...job) {
	q.mu.Lock()
	q.jobs = append(q.jobs, jobs...)
	q.mu.Unlock()
	if len(jobs) > 1 {
		q.wake.Broadcast()
		return
	}
	q.wake.Signal()
}

// take waits for a job. Without one the worker is to leave: there will be no more, or others do them.
func (q *queue) take() (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.stopped.Load():
			return job{}, false
		case q.single.Load() && q.workers > 1:
			q.workers--
			q.wake.Signal()
			return job{}, false
		case len(q.jobs) > 0:
			last := len(q.jobs) - 1
			j := q.jobs[last]
			q.jobs[last] = job{}
			q.jobs = q.jobs[:last]
			return j, true
		case int(q.idle.Load())+1 == q.workers:
			q.stopped.Store(true)
			q.wake.Broadcast()
			return job{}, false
		}
		q.idle.Add(1)
		q.wake.Wait()
		q.idle.Add(-1)
	}
}

// stop makes all workers leave soon.
func (q *queue) stop() {
	q.mu.Lock()
	q.stopped.Store(true)
	q.mu.Unlock()
	q.wake.Broadcast()
}

// fail stops the walk for an error.
func (q *queue) fail(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.mu.Unlock()
	q.stop()
}

// shrink makes all workers but one leave. It reports whether there was more than one.
func (q *queue) shrink() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.single.Store(true)
	return q.workers > 1
}

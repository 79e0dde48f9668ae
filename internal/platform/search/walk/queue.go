package walk

import (
	"sync"
	"sync/atomic"
)

// A job is a unit of work for a worker.
type job struct {
	kind  jobKind
	dir   *dir
	batch *Batch

	retried bool
}

type jobKind uint8

const (
	readDir     jobKind = iota // open dir and read it
	continueDir                // continue reading dir, which is open
	visitBatch                 // visit batch, whose files are in dir
)

// A queue holds the jobs that no worker has taken. Each worker keeps its own jobs and shares
// some only when another worker is idle.
type queue struct {
	idle    atomic.Int32 // number of waiting workers
	stopped atomic.Bool
	single  atomic.Bool // all workers but one must exit

	mu      sync.Mutex
	wake    sync.Cond
	jobs    []job
	workers int   // number of remaining workers
	err     error // first error
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

// take waits for a job. Not ok means that the worker must exit: there will be no more jobs, or
// other workers do them.
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

// stop makes all workers exit soon.
func (q *queue) stop() {
	q.mu.Lock()
	q.stopped.Store(true)
	q.mu.Unlock()
	q.wake.Broadcast()
}

// fail stops the walk with an error.
func (q *queue) fail(err error) {
	q.mu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.mu.Unlock()
	q.stop()
}

// shrink makes all workers but one exit. It reports whether there was more than one.
func (q *queue) shrink() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.single.Store(true)
	return q.workers > 1
}

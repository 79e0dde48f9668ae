package hook

import "sync"

// recorder is an observer that records its calls.
type recorder struct {
	progress func()

	mu      sync.Mutex
	started []Run
	done    []Report
	seen    bool // progress
}

func (r *recorder) HookStarted(run Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, run)
}

func (r *recorder) HookProgress(Run, Streams) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen && r.progress != nil {
		r.progress()
	}
	r.seen = true
}

func (r *recorder) HookDone(_ Run, rep Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, rep)
}

package agents

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// maxWaiting is the maximum number of queued agents.
const maxWaiting = 500

// A Limiter limits how many agents of a session run concurrently. Others wait in FIFO order. The
// zero value is empty. It is safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	busy    int
	waiting []*waiter
}

// A waiter is a queued agent's position.
type waiter struct {
	most  int
	ready chan struct{} // closed when the agent may run
}

// full returns an error if no further agent can be queued.
func (l *Limiter) full() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= maxWaiting {
		return fmt.Errorf("%d agents are waiting already: wait for some to end, or do the work yourself", len(l.waiting))
	}
	return nil
}

// acquire waits until fewer than most agents run; 0 means no limit.
func (l *Limiter) acquire(ctx context.Context, most int) error {
	l.mu.Lock()
	if most == 0 || l.busy < most && len(l.waiting) == 0 {
		l.busy++
		l.mu.Unlock()
		return nil
	}
	p := &waiter{most, make(chan struct{})}
	l.waiting = append(l.waiting, p)
	l.mu.Unlock()
	select {
	case <-p.ready:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, p); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else {
		l.busy--
	}
	l.admit()
	return context.Cause(ctx)
}

// release releases an agent's slot.
func (l *Limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	l.admit()
}

// admit starts queued agents while there is room. The caller holds the lock.
func (l *Limiter) admit() {
	for len(l.waiting) > 0 && l.busy < l.waiting[0].most {
		l.busy++
		close(l.waiting[0].ready)
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
}

// block releases the slot of the conversation's agent while it waits for its own agents, which
// must not wait for it. The main conversation has no slot. The returned function takes the slot
// again.
func (a *Agents) block() (end func()) {
	if a.cfg.Depth == 0 {
		return func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.blocked++; a.blocked == 1 {
		a.cfg.Limiter.release()
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.blocked--; a.blocked == 0 {
			a.cfg.Limiter.acquire(context.Background(), 0) // ok: does not block
		}
	}
}

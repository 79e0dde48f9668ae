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
func (c *Limiter) full() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxWaiting {
		return fmt.Errorf("%d agents are waiting already: wait for some to end, or do the work yourself", len(c.waiting))
	}
	return nil
}

// acquire waits until fewer than most agents run; 0 means no limit.
func (c *Limiter) acquire(ctx context.Context, most int) error {
	c.mu.Lock()
	if most == 0 || c.busy < most && len(c.waiting) == 0 {
		c.busy++
		c.mu.Unlock()
		return nil
	}
	p := &waiter{most, make(chan struct{})}
	c.waiting = append(c.waiting, p)
	c.mu.Unlock()
	select {
	case <-p.ready:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, p); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	} else {
		c.busy--
	}
	c.admit()
	return context.Cause(ctx)
}

// release releases an agent's slot.
func (c *Limiter) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.admit()
}

// admit starts queued agents while there is room. The caller holds the lock.
func (c *Limiter) admit() {
	for len(c.waiting) > 0 && c.busy < c.waiting[0].most {
		c.busy++
		close(c.waiting[0].ready)
		c.waiting = slices.Delete(c.waiting, 0, 1)
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

package subagents

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// maxWaiting is how many agents may wait for others to end.
const maxWaiting = 500

// A Crowd limits how many agents of a session work at once. Others wait, in the order in which they came. The zero value is
// empty. It is safe for concurrent use.
type Crowd struct {
	mu      sync.Mutex
	busy    int
	waiting []*place
}

// A place is that of an agent that waits.
type place struct {
	most  int
	ready chan struct{} // closed when the agent may work
}

// full returns why no further agent can wait, or nil.
func (c *Crowd) full() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxWaiting {
		return fmt.Errorf("%d agents are waiting already: wait for some to end, or do the work yourself", len(c.waiting))
	}
	return nil
}

// enter waits until fewer than most agents run; 0 means no limit.
func (c *Crowd) enter(ctx context.Context, most int) error {
	c.mu.Lock()
	if most == 0 || c.busy < most && len(c.waiting) == 0 {
		c.busy++
		c.mu.Unlock()
		return nil
	}
	p := &place{most, make(chan struct{})}
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

// leave ends the work of an agent, or interrupts it.
func (c *Crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.admit()
}

// admit lets those work for whom there is room. The caller holds the lock.
func (c *Crowd) admit() {
	for len(c.waiting) > 0 && c.busy < c.waiting[0].most {
		c.busy++
		close(c.waiting[0].ready)
		c.waiting = slices.Delete(c.waiting, 0, 1)
	}
}

// block gives up the place of the agent whose conversation it is while it waits for agents of its own: those must not wait for
// it. The main conversation has no place. The returned function ends that.
func (a *Agents) block() (end func()) {
	if a.cfg.Depth == 0 {
		return func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.blocked++; a.blocked == 1 {
		a.cfg.Crowd.leave()
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.blocked--; a.blocked == 0 {
			a.cfg.Crowd.enter(context.Background(), 0) // ok: it does not wait
		}
	}
}

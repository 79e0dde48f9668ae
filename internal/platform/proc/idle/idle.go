// Package idle pauses polling while the user is inactive, so that an idle program uses no
// power.
package idle

import (
	"context"
	"sync"
	"time"

	"adze/internal/platform/proc/bell"
)

// Timeout is how long after the last activity polling stops.
const Timeout = 10 * time.Second

// A Tracker tracks activity. A Tracker that has never beaten never rests, because a program without
// a user has no other sign of activity. The zero value and nil are ready to use.
type Tracker struct {
	mu   sync.Mutex
	last time.Time // time of the last beat
	bell bell.Bell
}

// Beat records activity by or for the user.
func (p *Tracker) Beat() {
	if p == nil {
		return
	}
	p.mu.Lock()
	rested := time.Since(p.last) >= Timeout
	p.last = time.Now()
	p.mu.Unlock()
	if rested {
		p.bell.Ring()
	}
}

// Wait waits for d and then, while the pulse rests, for the next beat. It reports false if ctx
// is done first.
func (p *Tracker) Wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	if p == nil {
		return true
	}
	next := p.bell.Next()
	p.mu.Lock()
	rests := !p.last.IsZero() && time.Since(p.last) >= Timeout
	p.mu.Unlock()
	if !rests {
		return true
	}
	select {
	case <-next:
		return true
	case <-ctx.Done():
		return false
	}
}

// Package pulse lets what looks at something again and again rest while the user is away: a program that waits for the user
// uses no power.
package pulse

import (
	"context"
	"sync"
	"time"

	"adze/internal/platform/bell"
)

// Rest is how long after the last sign of life the looks stop.
const Rest = 10 * time.Second

// A Pulse tells whether something goes on. One that has never beaten never rests: a program without a user has no other
// sign of life. The zero value is ready to use, and so is nil.
type Pulse struct {
	mu   sync.Mutex
	last time.Time // when it beat
	bell bell.Bell
}

// Beat is called when the user does something, or something happens for the user.
func (p *Pulse) Beat() {
	if p == nil {
		return
	}
	p.mu.Lock()
	rested := time.Since(p.last) >= Rest
	p.last = time.Now()
	p.mu.Unlock()
	if rested {
		p.bell.Ring()
	}
}

// Wait waits for the given time, and while the pulse rests until it beats. It reports false if ctx was done before.
func (p *Pulse) Wait(ctx context.Context, d time.Duration) bool {
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
	rests := !p.last.IsZero() && time.Since(p.last) >= Rest
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

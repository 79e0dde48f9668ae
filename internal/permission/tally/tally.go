// Package tally counts refusals, so that neither a model that insists nor a judge that errs goes on and on. What
// is decided, and what becomes of a count, is left to package permission.
package tally

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Limits of asking again and again.
const (
	maxDenials = 3
	coolDown   = 30 * time.Second
)

// Denials remembers what was refused, so that a model that insists does not wear the user down. The
// zero value is ready.
type Denials struct {
	mu    sync.Mutex
	tools map[string]*refused
}

// refused is what happened to the calls of one tool.
type refused struct {
	row   int // denials without a success between
	since time.Time
	calls map[[sha256.Size]byte]string // refused in this row, with the reason
}

// Denied counts a refusal and reports whether the limit is reached.
func (d *Denials) Denied(tool string, input json.RawMessage, reason string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tools == nil {
		d.tools = map[string]*refused{}
	}
	r := d.tools[tool]
	if r == nil {
		r = &refused{}
		d.tools[tool] = r
	}
	if r.calls == nil || len(r.calls) >= 100 {
		r.calls = map[[sha256.Size]byte]string{}
	}
	r.row++
	r.since = time.Now()
	r.calls[sha256.Sum256(input)] = reason
	return r.row == maxDenials
}

// Allowed forgets the refusals of a tool.
func (d *Denials) Allowed(tool string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tools, tool)
}

// Repeated returns why an identical call was refused, if it need not be asked about again yet.
func (d *Denials) Repeated(tool string, input json.RawMessage) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.tools[tool]
	if r == nil || r.row < maxDenials || time.Since(r.since) > coolDown {
		return "", false
	}
	reason, ok := r.calls[sha256.Sum256(input)]
	return reason, ok
}

// How many calls a judge may block, in a row and in all, before the user is asked.
const (
	MaxBlockedRow = 3
	MaxBlocked    = 20
)

// A Breaker counts what a judge blocks: a model that runs against it again and again, or a judge that errs, is a
// matter for the user. The zero value is ready.
type Breaker struct {
	mu       sync.Mutex
	row, all int
	passed   int // that were not blocked
	blocked  int // since the beginning
}

// Count counts a call that the judge blocked or not.
func (b *Breaker) Count(blocked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !blocked {
		b.row = 0
		b.passed++
		return
	}
	b.row++
	b.all++
	b.blocked++
}

// Counts returns how many calls the judge has let pass and blocked.
func (b *Breaker) Counts() (passed, blocked int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.passed, b.blocked
}

// Tripped says why the judge is no longer asked, or nothing.
func (b *Breaker) Tripped() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.row >= MaxBlockedRow:
		return fmt.Sprintf("auto mode has refused %d calls in a row", b.row)
	case b.all >= MaxBlocked:
		return fmt.Sprintf("auto mode has refused %d calls in this session", b.all)
	}
	return ""
}

// Allowed forgets the row: the user has allowed a call.
func (b *Breaker) Allowed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.row = 0
}

// Reset starts over: the user has chosen the mode again.
func (b *Breaker) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.row, b.all = 0, 0
}

// Package tally counts refusals, to stop both a model that repeats refused calls and a judge
// that keeps erring.
package tally

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Limits on repeated prompts.
const (
	maxDenials = 3
	coolDown   = 30 * time.Second
)

// Denials tracks refused calls, so that a persistent model does not wear the user down. The
// zero value is ready to use.
type Denials struct {
	mu    sync.Mutex
	tools map[string]*refused
}

// refused tracks the refusals of one tool's calls.
type refused struct {
	row   int // denials since the last success
	since time.Time
	calls map[[sha256.Size]byte]string // input hashes refused since the last success, with the reason
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

// Allowed clears a tool's refusals.
func (d *Denials) Allowed(tool string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tools, tool)
}

// Repeated returns the reason an identical call was refused, if the tool has reached the denial
// limit and it is too early to ask again.
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

// Limits on the calls a judge may block, in a row and in total, before adze asks the user.
const (
	MaxBlockedRow = 3
	MaxBlocked    = 20
)

// A Breaker counts the calls a judge blocks. A model that keeps running into the judge, or a
// judge that errs, needs the user. The zero value is ready to use.
type Breaker struct {
	mu       sync.Mutex
	row, all int
	passed   int // calls not blocked
	blocked  int // calls blocked in total
}

// Count records the judge's verdict on a call.
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

// Counts returns how many calls the judge has passed and blocked.
func (b *Breaker) Counts() (passed, blocked int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.passed, b.blocked
}

// Tripped returns the reason to bypass the judge, or "".
func (b *Breaker) Tripped() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.row >= MaxBlockedRow:
		return fmt.Sprintf("auto mode has denied %d calls in a row", b.row)
	case b.all >= MaxBlocked:
		return fmt.Sprintf("auto mode has denied %d calls in this session", b.all)
	}
	return ""
}

// Allowed resets the row count after the user allowed a call.
func (b *Breaker) Allowed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.row = 0
}

// Reset resets the counts after the user chose the mode again.
func (b *Breaker) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.row, b.all = 0, 0
}

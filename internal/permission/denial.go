package permission

import (
	"crypto/sha256"
	"encoding/json"
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
type denials struct {
	mu    sync.Mutex
	tools map[string]*refused
}

// refused is what happened to the calls of one tool.
type refused struct {
	row   int // denials without a success between
	since time.Time
	calls map[[sha256.Size]byte]string // refused in this row, with the reason
}

// denied counts a refusal and reports whether the limit is reached.
func (d *denials) denied(tool string, input json.RawMessage, reason string) bool {
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

// allowed forgets the refusals of a tool.
func (d *denials) allowed(tool string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tools, tool)
}

// repeated returns why an identical call was refused, if it need not be asked about again yet.
func (d *denials) repeated(tool string, input json.RawMessage) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.tools[tool]
	if r == nil || r.row < maxDenials || time.Since(r.since) > coolDown {
		return "", false
	}
	reason, ok := r.calls[sha256.Sum256(input)]
	return reason, ok
}

// insisting is what the model is told when its calls keep being refused.
const insisting = "Your last three calls of %s were refused. Do not try the same in another way: change the approach, or tell the user what you need and why."

package deferral

import (
	"slices"
	"sync"
)

// Limits on a [Discovered] set: above maxDiscovered the oldest names are dropped, down to
// keptDiscovered.
const (
	maxDiscovered  = 500
	keptDiscovered = 400
)

// Discovered holds the names of tools that a conversation's model has found or that were
// suggested to it. It is only for suggestions. The zero value is empty; it is safe for
// concurrent use.
type Discovered struct {
	mu      sync.Mutex
	names   []string // oldest first
	set     map[string]bool
	changed bool
}

// Add adds names. Existing names keep their position.
func (d *Discovered) Add(names ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names {
		if d.set[name] {
			continue
		}
		if d.set == nil {
			d.set = map[string]bool{}
		}
		d.names, d.set[name], d.changed = append(d.names, name), true, true
		if len(d.names) > maxDiscovered {
			for _, old := range d.names[:len(d.names)-keptDiscovered] {
				delete(d.set, old)
			}
			d.names = slices.Clone(d.names[len(d.names)-keptDiscovered:])
		}
	}
}

// Has reports whether a name is in the set.
func (d *Discovered) Has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.set[name]
}

// Restore sets the names from an earlier process, oldest first.
func (d *Discovered) Restore(names []string) {
	d.Add(names...)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = false
}

// Changes returns all names, oldest first, if new ones were added since the last call.
func (d *Discovered) Changes() (names []string, changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed, d.changed = d.changed, false
	return slices.Clone(d.names), changed
}

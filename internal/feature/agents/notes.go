package agents

import (
	"encoding/json"
	"maps"
	"sync"
)

// Notes holds a conversation's notes for resume and fork. It is safe for concurrent use.
type Notes struct {
	mu   sync.Mutex
	last map[string]map[string]any
}

// Keep stores the fields of a note.
func (n *Notes) Keep(kind string, fields map[string]any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = map[string]map[string]any{}
	}
	n.last[kind] = fields
}

// Over returns this process's notes merged over earlier ones.
func (n *Notes) Over(earlier map[string]json.RawMessage) map[string]json.RawMessage {
	all := maps.Clone(earlier)
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for kind, fields := range n.last {
		if data, err := json.Marshal(fields); err == nil {
			all[kind] = data
		}
	}
	return all
}

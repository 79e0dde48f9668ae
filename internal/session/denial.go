package session

import (
	"encoding/json"
	"sync"

	"adze/internal/tool"
)

// A Denial is a call that was not allowed.
type Denial struct {
	Tool  string
	UseID string
	Input json.RawMessage
}

// denials are the calls of a session that were not allowed. They are safe for concurrent use.
type denials struct {
	mu   sync.Mutex
	list []Denial
}

func (d *denials) add(u *tool.Use) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, Denial{Tool: u.Name, UseID: u.ID, Input: u.Input})
}

// all returns the list so far. It shares memory with later ones, so it must not be changed.
func (d *denials) all() []Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list[:len(d.list):len(d.list)]
}

package session

import (
	"encoding/json"
	"sync"

	"adze/internal/tool"
)

// A Denial is a denied call.
type Denial struct {
	Tool  string
	UseID string
	Input json.RawMessage
}

// denials holds a session's denied calls. It is safe for concurrent use.
type denials struct {
	mu   sync.Mutex
	list []Denial
}

func (d *denials) add(u *tool.Use) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, Denial{Tool: u.Name, UseID: u.ID, Input: u.Input})
}

// all returns the denials so far. The slice shares memory with later results, so it must not be
// modified.
func (d *denials) all() []Denial {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list[:len(d.list):len(d.list)]
}

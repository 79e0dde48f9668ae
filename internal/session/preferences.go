package session

import (
	"sync"

	"adze/internal/agent"
)

// preferences are what the turns to come use. They are safe for concurrent use.
type preferences struct {
	mu    sync.Mutex
	model string
	loop  agent.Options
}

func (p *preferences) get() (model string, loop agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model, p.loop
}

func (p *preferences) set(change func(*preferences)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

package session

import (
	"cmp"
	"sync"

	"adze/internal/agent"
)

// preferences are what the turns to come use. They are safe for concurrent use.
type preferences struct {
	mu    sync.Mutex
	model string
	loop  agent.Options
	turn  Override // of the turn that runs
}

func (p *preferences) get() (model string, loop agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model, p.loop
}

// now returns what the turn that runs uses.
func (p *preferences) now() (model string, loop agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	loop = p.loop
	loop.Effort = cmp.Or(p.turn.Effort, loop.Effort)
	return cmp.Or(p.turn.Model, p.model), loop
}

func (p *preferences) set(change func(*preferences)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

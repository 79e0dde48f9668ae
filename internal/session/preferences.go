package session

import (
	"cmp"
	"sync"

	"adze/internal/agent"
	"adze/internal/model"
)

// preferences holds the settings of subsequent turns. It is safe for concurrent use.
type preferences struct {
	mu    sync.Mutex
	model string
	loop  agent.Options
	turn  Override // override for the running turn
}

func (p *preferences) get() (model string, loop agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model, p.loop
}

// now returns the settings of the running turn.
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

// Effort returns the reasoning effort of the next turn; empty means the model's default.
func (s *Session) Effort() model.Effort {
	_, loop := s.prefs.get()
	return loop.Effort
}

// Thinking returns the thinking mode of the next turn.
func (s *Session) Thinking() model.Thinking {
	_, loop := s.prefs.get()
	return loop.Thinking
}

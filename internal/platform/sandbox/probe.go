package sandbox

import "sync"

// A Probe remembers the results of self-tests, so that the sandboxes of a process test a tier once: a test
// starts a program. The zero value is ready to use, by several goroutines.
type Probe struct {
	mu      sync.Mutex
	results map[probeKey]error
}

// A probeKey holds what the result of a self-test depends on.
type probeKey struct {
	tier   Tier
	detail string // what the tier is made of
	home   string
	helper string
}

// result returns the result of the self-test of what is described by key. Test carries it out, the first
// time; others wait for it.
func (p *Probe) result(key probeKey, test func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err, known := p.results[key]
	if !known {
		if p.results == nil {
			p.results = map[probeKey]error{}
		}
		err = test()
		p.results[key] = err
	}
	return err
}

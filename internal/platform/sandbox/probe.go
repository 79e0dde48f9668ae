package sandbox

import "sync"

// A Probe caches self-test results, so that the sandboxes of a process test each tier once: a
// test starts a program. The zero value is ready to use. It is safe for concurrent use.
type Probe struct {
	mu      sync.Mutex
	results map[probeKey]error
}

// A probeKey identifies a self-test by everything its result depends on.
type probeKey struct {
	tier   Tier
	detail string // mechanisms that the tier uses
	home   string
	helper string
}

// result returns the self-test result for key. The first call runs test; concurrent calls wait
// for it.
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

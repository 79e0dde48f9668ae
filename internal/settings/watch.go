package settings

import (
	"context"
	"maps"
	"slices"
	"sync"

	"adze/internal/settings/config"
)

// A Watch watches settings files on behalf of its followers, as long as there are any. The zero
// value is ready.
type Watch struct {
	mu        sync.Mutex
	listeners map[int]func(config.Change)
	next      int
	stop      func()
}

// Follow registers hear for changes passed to [Watch.Tell], until the returned function is
// called. While there are followers, tell is called for each change of p's settings files.
func (s *Watch) Follow(p *Project, tell, hear func(config.Change)) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == nil {
		s.listeners = map[int]func(config.Change){}
	}
	id := s.next
	s.next++
	s.listeners[id] = hear
	if len(s.listeners) == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { p.Watch(ctx, tell) })
		s.stop = func() { cancel(); done.Wait() }
	}
	return func() {
		s.mu.Lock()
		delete(s.listeners, id)
		stop := s.stop
		last := len(s.listeners) == 0
		s.mu.Unlock()
		if last {
			stop()
		}
	}
}

// Tell reports problems with the settings and notifies the followers of a change.
func (s *Watch) Tell(change config.Change, say func(string)) {
	for _, problem := range change.Problems {
		say(problem.String())
	}
	s.mu.Lock()
	listeners := slices.Collect(maps.Values(s.listeners))
	s.mu.Unlock()
	for _, hear := range listeners {
		hear(change)
	}
}

package settings

import (
	"context"
	"maps"
	"slices"
	"sync"

	"adze/internal/platform/config"
)

// A Watch looks at the settings files for all that follow them, while there are any. The zero value is ready.
type Watch struct {
	mu        sync.Mutex
	listeners map[int]func(config.Change)
	next      int
	stop      func()
}

// Follow calls hear for each change of the settings files of a project that tell passes on, until the returned function is
// called.
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

// Tell reports what is wrong with the settings, and passes a change on to those that follow.
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

package aside

import (
	"context"
	"fmt"
	"sync"

	"adze/internal/model"
)

// A Small asks the small model of a conversation. If the provider turns out not to have that model, the main
// model is asked from then on. It is safe for concurrent use.
type Small struct {
	Asker Asker
	// Models returns the ids of the small and of the main model; they are the same if there is no small one.
	Models func() (small, main string)
	// Say tells the user something.
	Say func(string)

	mu      sync.Mutex
	missing map[string]bool
}

// Ask asks the small model, or the one that q names, and returns the whole answer; see [Asker.Ask].
func (s *Small) Ask(ctx context.Context, q Question) (*Answer, error) {
	if q.Model != "" {
		return s.Asker.Ask(ctx, q)
	}
	small, main := s.models()
	q.Model = small
	answer, err := s.Asker.Ask(ctx, q)
	if model.KindOf(err) != model.NoModel || small == main {
		return answer, err
	}
	s.miss(small, main)
	q.Model = main
	return s.Asker.Ask(ctx, q)
}

// Own reports whether there is a small model beside the main one. What is not worth the main model is not asked
// without it.
func (s *Small) Own() bool {
	small, main := s.models()
	return small != main
}

// models returns the models to ask: a small one that is missing is the main one.
func (s *Small) models() (small, main string) {
	small, main = s.Models()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing[small] {
		return main, main
	}
	return small, main
}

// miss notes that the provider does not have a model, and tells the user once.
func (s *Small) miss(small, main string) {
	s.mu.Lock()
	known := s.missing[small]
	if s.missing == nil {
		s.missing = map[string]bool{}
	}
	s.missing[small] = true
	s.mu.Unlock()
	if !known {
		s.Say(fmt.Sprintf("the provider does not have the small model %s; using %s instead (ADZE_SMALL_MODEL names another)", small, main))
	}
}

package sidequery

import (
	"context"
	"fmt"
	"sync"

	"adze/internal/model"
)

// A SmallModel sends questions to a conversation's small model. If the provider does not have that
// model, it uses the main model from then on. It is safe for concurrent use.
type SmallModel struct {
	Asker Asker
	// Models returns the IDs of the small and the main model, which are equal if no small model
	// is configured.
	Models func() (small, main string)
	// Say shows the user a message.
	Say func(string)

	mu      sync.Mutex
	missing map[string]bool
}

// Ask sends q to the small model, or to the model that q names, and returns the complete
// answer; see [Asker.Ask].
func (s *SmallModel) Ask(ctx context.Context, q Question) (*Answer, error) {
	if q.Model != "" {
		return s.Asker.Ask(ctx, q)
	}
	small, main := s.models()
	q.Model = small
	answer, err := s.Asker.Ask(ctx, q)
	if model.KindOf(err) != model.NoModel || small == main {
		return answer, err
	}
	s.markMissing(small, main)
	q.Model = main
	return s.Asker.Ask(ctx, q)
}

// Own reports whether the small model differs from the main one. Questions not worth the main
// model's cost are skipped otherwise.
func (s *SmallModel) Own() bool {
	small, main := s.models()
	return small != main
}

// models returns the models to use; the main model replaces a missing small one.
func (s *SmallModel) models() (small, main string) {
	small, main = s.Models()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing[small] {
		return main, main
	}
	return small, main
}

// markMissing records that the provider does not have a model and notifies the user once.
func (s *SmallModel) markMissing(small, main string) {
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

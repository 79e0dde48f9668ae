package session

import (
	"context"
	"fmt"

	"adze/internal/permission"
)

// A pending question waits for an answer.
type pending struct {
	question permission.Question
	answer   chan permission.Answer
}

// Ask asks whoever follows the session and waits for the first answer. It is a [permission.Asker]; the
// question is withdrawn when ctx is done.
func (s *Session) Ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	id := s.newID()
	p := &pending{question: q, answer: make(chan permission.Answer, 1)}
	s.mu.Lock()
	s.asked[id] = p
	s.mu.Unlock()
	s.feed.add(ctx, Asked{ID: id, Question: q}, false)
	select {
	case a := <-p.answer:
		s.feed.add(ctx, Settled{ID: id, Answer: &a}, false)
		return a, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	delete(s.asked, id)
	s.mu.Unlock()
	s.feed.add(ctx, Settled{ID: id}, false)
	return permission.Answer{}, context.Cause(ctx)
}

// answer settles a question. Only the first answer counts.
func (s *Session) answer(op Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.asked[op.ID]
	if !ok {
		return fmt.Errorf("no question %q is open", op.ID)
	}
	delete(s.asked, op.ID)
	p.answer <- op.Answer
	return nil
}

// Questions returns the questions that nobody has answered yet, by id.
func (s *Session) Questions() map[string]permission.Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := make(map[string]permission.Question, len(s.asked))
	for id, p := range s.asked {
		open[id] = p.question
	}
	return open
}

package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"adze/internal/permission"
)

// A Question is something the user has to answer. Only the types below implement it.
type Question interface {
	// Unanswered returns the reply to use if no user is available. It permits nothing.
	Unanswered() Reply
	// check returns an error if a reply does not answer the question.
	check(r Reply) error
}

// A Reply answers a question. Each type of question has its type of reply.
type Reply interface{ reply() }

type (
	// Permission asks whether a call may run, including a call that presents a plan. A
	// [Decision] answers it.
	Permission struct{ permission.Question }

	// Decision answers [Permission].
	Decision struct{ permission.Answer }
)

func (Decision) reply() {}

// Unanswered denies the call.
func (Permission) Unanswered() Reply {
	return Decision{permission.Answer{Behavior: permission.Deny, By: permission.Headless}}
}

func (Permission) check(r Reply) error {
	if _, ok := r.(Decision); !ok {
		return mismatch(r)
	}
	return nil
}

func mismatch(r Reply) error { return fmt.Errorf("%T does not answer this kind of question", r) }

// questions holds the open questions. It is safe for concurrent use.
type questions struct {
	mu   sync.Mutex
	open map[string]openQuestion
}

// An openQuestion is an open question.
type openQuestion struct {
	Question
	reply chan Reply
}

func (qs *questions) add(id string, q Question) openQuestion {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.open == nil {
		qs.open = map[string]openQuestion{}
	}
	p := openQuestion{q, make(chan Reply, 1)}
	qs.open[id] = p
	return p
}

func (qs *questions) withdraw(id string) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	delete(qs.open, id)
}

// settle answers a question. Only the first answer counts; an invalid answer leaves the
// question open.
func (qs *questions) settle(id string, r Reply) error {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	p, ok := qs.open[id]
	if !ok {
		return fmt.Errorf("no question %q is open", id)
	}
	if err := p.check(r); err != nil {
		return err
	}
	delete(qs.open, id)
	p.reply <- r
	return nil
}

// Ask asks the front ends a question and waits for the first answer, whose type matches the
// question. The question is withdrawn when ctx is done.
func (s *Session) Ask(ctx context.Context, q Question) (Reply, error) {
	id := s.cfg.NewID()
	p := s.questions.add(id, q)
	s.feed.add(ctx, Asked{ID: id, Question: q}, false)
	select {
	case r := <-p.reply:
		s.feed.add(ctx, Settled{ID: id, Reply: r}, false)
		return r, nil
	case <-ctx.Done():
	}
	s.questions.withdraw(id)
	s.feed.add(ctx, Settled{ID: id, Cause: context.Cause(ctx)}, false)
	return nil, context.Cause(ctx)
}

// AskPermission asks whether a call may run. It is a [permission.Asker].
func (s *Session) AskPermission(ctx context.Context, q permission.Question) (permission.Answer, error) {
	r, err := s.Ask(ctx, Permission{q})
	if err != nil {
		return permission.Answer{}, err
	}
	return r.(Decision).Answer, nil
}

// ReadDecision decodes the answer of a program that decides about a call in place of the user:
// {"behavior": "allow" or "deny", …}. By names the program, such as "host". An invalid answer
// denies the call.
func ReadDecision(body []byte, by string) Decision {
	var r struct {
		Behavior    permission.Behavior `json:"behavior"`
		Input       json.RawMessage     `json:"updatedInput"`
		Permissions []permission.Update `json:"updatedPermissions"`
		Message     string              `json:"message"`
		Interrupt   bool                `json:"interrupt"`
	}
	deny := permission.Answer{Behavior: permission.Deny, By: by}
	if err := json.Unmarshal(body, &r); err != nil {
		deny.Message = fmt.Sprintf("The %s's answer is not valid: it must be an object with a behavior.", by)
		return Decision{deny}
	}
	switch r.Behavior {
	case permission.Allow:
		if bytes.Equal(r.Input, []byte("null")) {
			r.Input = nil
		}
		return Decision{permission.Answer{Behavior: permission.Allow, Input: r.Input, Updates: r.Permissions, By: by}}
	case permission.Deny:
		deny.Message, deny.Interrupt = r.Message, r.Interrupt
	default:
		deny.Message = fmt.Sprintf("The %s answered neither allow nor deny, but %q.", by, r.Behavior)
	}
	return Decision{deny}
}

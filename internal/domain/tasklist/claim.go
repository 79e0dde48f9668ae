package tasklist

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Reason is the reason a task was not claimed.
type Reason string

// The reasons.
const (
	NotFound        Reason = "task_not_found"
	AlreadyResolved Reason = "already_resolved"
	AlreadyClaimed  Reason = "already_claimed"
	Blocked         Reason = "blocked"
	AgentBusy       Reason = "agent_busy"
	// LockTimeout means that another process has held the list for too long. Other changes can
	// fail with it too.
	LockTimeout Reason = "lock_timeout"
)

// A Refusal is the error of a claim.
type Refusal struct {
	Reason Reason
	ID     string
	// By lists the task's owner, the tasks it waits for, or the owner's other open tasks,
	// depending on the reason.
	By  []string
	err error
}

// Error returns the reason followed by an explanation.
func (r *Refusal) Error() string {
	by := strings.Join(r.By, ", ")
	text := map[Reason]string{
		NotFound:        "no task " + clip(r.ID),
		AlreadyResolved: "task " + r.ID + " is completed",
		AlreadyClaimed:  "task " + r.ID + " belongs to " + by,
		Blocked:         "task " + r.ID + " waits for " + by,
		AgentBusy:       "finish task " + by + " first",
		LockTimeout:     "another process is changing the task list",
	}[r.Reason]
	if r.err != nil {
		text += ": " + r.err.Error()
	}
	return string(r.Reason) + ": " + text
}

// Unwrap returns the underlying error, or nil.
func (r *Refusal) Unwrap() error { return r.err }

// Claim assigns a task to owner. The task must be open and must not wait for another. If
// several owners claim a task concurrently, one succeeds and the others get a [Refusal].
// Claiming one's own task again succeeds.
func (l *List) Claim(ctx context.Context, id, owner string) (claimed Task, err error) {
	err = l.locked(ctx, func() error {
		claimed, err = l.claim(l.reader.some(number(id)), id, owner)
		return err
	})
	return claimed, err
}

// ClaimAlone is like Claim for an owner who must not have another open task.
func (l *List) ClaimAlone(ctx context.Context, id, owner string) (claimed Task, err error) {
	err = l.change(ctx, func(s *snapshot) error {
		if _, err := s.claimable(id, owner); err != nil {
			return err
		}
		for _, n := range s.numbers() {
			if t := s.tasks[n]; t.Owner == owner && t.Open() && t.ID != id {
				return &Refusal{Reason: AgentBusy, ID: id, By: []string{t.ID}}
			}
		}
		claimed, err = l.claim(s, id, owner)
		return err
	})
	return claimed, err
}

// claim assigns a task to owner. The list is locked.
func (l *List) claim(s *snapshot, id, owner string) (Task, error) {
	t, err := s.claimable(id, owner)
	if err != nil {
		return Task{}, err
	}
	t.Owner, t.Status = owner, InProgress
	return *t, l.write(t)
}

// claimable returns a task that owner may claim.
func (s *snapshot) claimable(id, owner string) (*Task, error) {
	if strings.TrimSpace(owner) == "" {
		return nil, errors.New("a claim needs an owner")
	}
	t, err := s.task(id)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, &Refusal{Reason: NotFound, ID: id}
	case err != nil:
		return nil, err
	case !t.Open():
		return nil, &Refusal{Reason: AlreadyResolved, ID: id}
	case t.Owner != "" && t.Owner != owner:
		return nil, &Refusal{Reason: AlreadyClaimed, ID: id, By: []string{t.Owner}}
	}
	if open := s.waits(t); len(open) > 0 {
		return nil, &Refusal{Reason: Blocked, ID: id, By: open}
	}
	return t, nil
}

// Next claims the first pending task that has no owner and waits for no other. It returns false
// if no such task exists.
func (l *List) Next(ctx context.Context, owner string) (claimed Task, ok bool, err error) {
	free, err := l.free()
	if err != nil || len(free) == 0 {
		return Task{}, false, err
	}
	err = l.locked(ctx, func() error {
		for _, n := range free {
			s := l.reader.some(n)
			if t := s.tasks[n]; t == nil || !s.free(t) {
				continue // another process was first
			}
			claimed, err = l.claim(s, strconv.Itoa(n), owner)
			ok = err == nil
			return err
		}
		return nil
	})
	return claimed, ok, err
}

// free returns the tasks that anyone can claim, as far as can be determined without locking the
// list.
func (l *List) free() (free []int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.reader.look()
	if err != nil {
		return nil, err
	}
	for _, n := range s.numbers() {
		if s.free(s.tasks[n]) {
			free = append(free, n)
		}
	}
	return free, nil
}

// free reports whether anyone can claim a task.
func (s *snapshot) free(t *Task) bool {
	return t.Status == Pending && t.Owner == "" && !t.Internal() && len(s.waits(t)) == 0
}

// Release resets the open tasks of an owner who has stopped working on them: they become
// pending, without an owner. It returns them.
func (l *List) Release(ctx context.Context, owner string) (released []Task, err error) {
	if owner == "" {
		return nil, nil
	}
	err = l.change(ctx, func(s *snapshot) error {
		for _, n := range s.numbers() {
			t := s.tasks[n]
			if t.Owner != owner || !t.Open() {
				continue
			}
			t.Owner, t.Status = "", Pending
			if err := l.write(t); err != nil {
				return fmt.Errorf("releasing task %s: %w", t.ID, err)
			}
			released = append(released, *t)
		}
		return nil
	})
	return released, err
}

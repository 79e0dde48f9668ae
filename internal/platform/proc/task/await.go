package task

import (
	"context"
	"fmt"
	"time"
)

// NotAwaited is the Limit of a task that [Table.Await] does not wait for.
const NotAwaited time.Duration = -1

// Awaited reports whether [Table.Await] waits for a task.
func Awaited(task *Task) bool { return task.Limit != NotAwaited }

// announced wakes waiters after an announcement. ended is the number of awaited tasks that have
// ended.
func (t *Table) announced(ended int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pendingEnds -= ended
	close(t.news)
	t.news = make(chan struct{})
}

// Wake makes [Table.Await] call heard again.
func (t *Table) Wake() { t.announced(0) }

// Await waits until heard returns true or ctx is done; it calls heard initially and after each
// announcement. It returns false as soon as the end of every awaited background task has been
// announced. It stops tasks that exceed their limit.
func (t *Table) Await(ctx context.Context, heard func() bool) (more bool) {
	for {
		t.mu.Lock()
		news, open := t.news, t.pendingEnds
		t.mu.Unlock()
		switch {
		case open == 0:
			return false
		case heard() || ctx.Err() != nil:
			return true
		}
		t.awaitNews(ctx, news)
	}
}

// awaitNews waits for news, the end of ctx, or the time when the next task exceeds its limit.
func (t *Table) awaitNews(ctx context.Context, news <-chan struct{}) {
	var late <-chan time.Time
	if next := t.expire(); next > 0 {
		timer := time.NewTimer(next)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-news:
	case <-late:
	case <-ctx.Done():
	}
}

// expire stops background tasks that exceed their limit. It returns the time until the next one
// does, or 0.
func (t *Table) expire() (next time.Duration) {
	for _, task := range t.List() {
		if task.Limit <= 0 || task.Status() != Running || task.Stopped() {
			continue
		}
		left := time.Until(task.Started.Add(task.Limit))
		switch {
		case left <= 0:
			task.stop(errOverdue)
		case next == 0 || left < next:
			next = left
		}
	}
	return next
}

// errOverdue is the cancellation cause of a task that exceeds its limit.
var errOverdue = fmt.Errorf("%w: it ran longer than its limit", ErrStopped)

// overdue reports whether the task was stopped because it exceeded its limit.
func (task *Task) overdue() bool { return context.Cause(task.ctx) == errOverdue }

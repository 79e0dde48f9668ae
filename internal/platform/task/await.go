package task

import (
	"context"
	"fmt"
	"time"
)

// NotAwaited is the limit of a task that [Table.Await] does not wait for.
const NotAwaited time.Duration = -1

// Awaited reports whether [Table.Await] waits for a task.
func Awaited(task *Task) bool { return task.Limit != NotAwaited }

// announced tells those who wait that something was announced, and that this many tasks have ended.
func (t *Table) announced(ended int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open -= ended
	close(t.news)
	t.news = make(chan struct{})
}

// Wake makes [Table.Await] ask heard again.
func (t *Table) Wake() { t.announced(0) }

// Await waits until heard reports true, which is asked first and after each announcement, or ctx is done. It
// returns false if every task in the background that is waited for has ended and that was announced. It stops tasks that
// have run longer than their limit.
func (t *Table) Await(ctx context.Context, heard func() bool) (more bool) {
	for {
		t.mu.Lock()
		news, open := t.news, t.open
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

// awaitNews waits for news, the end of ctx, or the moment when the next task has run too long.
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

// expire stops the tasks in the background that have run longer than their limit. It returns when that will
// be true of the next one, or 0.
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

// errOverdue is the cause with which a task is cancelled that has run longer than its limit.
var errOverdue = fmt.Errorf("%w: it ran longer than its limit", ErrStopped)

// overdue reports whether the task was stopped because it ran longer than its limit.
func (task *Task) overdue() bool { return context.Cause(task.ctx) == errOverdue }

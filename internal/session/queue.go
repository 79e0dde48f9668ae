package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// ErrClosed says that a session takes no more operations.
var ErrClosed = errors.New("the session is closed")

// A job waits for its turn.
type job struct {
	Prompt
	note  bool // the model is not asked
	heard bool // already
	// chore, if not nil, is what to do instead of a turn.
	chore chore
	// local, if not nil, is what to do without the model.
	local func(ctx context.Context) (string, error)
	// later, if not nil, returns the operation to carry out when the job begins.
	later func(ctx context.Context) (Op, error)
	// markdown says that the text which local returns is an answer of the model.
	markdown bool
	// stopped is why it was interrupted before it began.
	stopped tool.Abort
	// kept is what the log has of it while it waits.
	kept string
}

// tells reports whether something comes of the job although it has no prompt.
func (j *job) tells() bool { return j.chore != nil || j.local != nil || j.later != nil }

// A queue lets jobs wait and does one after the other. What is said while a turn runs goes to its inbox. A
// queue is safe for concurrent use.
type queue struct {
	life    context.Context // of all turns; its end is theirs
	do      func(context.Context, job)
	note    func(store.Note)
	hear    func(context.Context, Prompt) Hearing // nil lets everything pass
	tell    func(agent.Event)
	inbox   agent.Inbox
	workers sync.WaitGroup // one that does the jobs, and one for each prompt that is being heard

	mu     sync.Mutex
	jobs   []job
	said   []said                  // to the turn that runs
	busy   bool                    // a worker does the jobs
	idle   chan struct{}           // closed when the worker is done; nil before the first
	stop   context.CancelCauseFunc // of the turn that runs
	unsaid string                  // the id of the prompt that the user has taken back by an interrupt
	wake   bool                    // a notification must not wait for the user
	closed bool
}

// A said is what was said to the turn that runs, and can be taken back until the turn has it.
type said struct {
	id    string
	parts []msg.Part // nil while it is being heard
}

// add takes a job, unless there is nothing to do.
func (q *queue) add(j job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.addLocked(j)
}

func (q *queue) addLocked(j job) error {
	switch {
	case q.closed:
		return ErrClosed
	case empty(j.Parts) && !j.tells():
		return nil
	}
	if q.busy && !j.tells() {
		// It may wait for long: keep it, in case the program does not live to take it up.
		j.kept = msg.PlainText(j.Parts)
		q.note(store.Queue{Op: store.Enqueue, Content: j.kept})
	}
	q.start(j)
	return nil
}

// empty reports whether parts hold nothing but white space.
func empty(parts []msg.Part) bool {
	for _, p := range parts {
		if t, ok := p.(*msg.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return false
		}
	}
	return true
}

// start lets a job wait, and starts a worker if there is none.
func (q *queue) start(j job) {
	q.jobs = append(q.jobs, j)
	if !q.busy {
		q.busy = true
		q.idle = make(chan struct{})
		q.workers.Go(q.work)
	}
}

// say hands what the user said to the turn that runs, by way of to, once it was heard.
func (q *queue) say(p Prompt, to func(...msg.Part)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case empty(p.Parts):
		return nil
	case !q.busy || p.Make != nil:
		return q.addLocked(job{Prompt: p})
	case q.hear == nil:
		q.said = append(q.said, said{p.ID, p.Parts})
		to(p.Parts...)
		return nil
	}
	q.said = append(q.said, said{id: p.ID})
	q.workers.Go(func() { // hearing it may take a while
		h := q.hear(q.life, p)
		for _, text := range h.Notices {
			q.tell(agent.Notice{Text: text})
		}
		if h.Blocked != "" {
			q.tell(agent.Notice{Text: h.Blocked})
			q.withdraw(p.ID) // ok: it may have been taken back already
			return
		}
		q.hand(Prompt{ID: p.ID, Parts: slices.Concat(p.Parts, h.Context)}, to)
	})
	return nil
}

// hand hands over what was heard, unless it was taken back. If the turn has ended meanwhile it makes one of its own.
func (q *queue) hand(p Prompt, to func(...msg.Part)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.said, func(s said) bool { return s.id == p.ID && s.parts == nil })
	if i < 0 {
		return
	}
	if q.said[i].parts = p.Parts; q.busy {
		to(p.Parts...)
		return
	}
	q.start(job{Prompt: p, heard: true})
}

func (q *queue) notify(op Notify) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if op.Wake && !q.busy {
		return q.addLocked(job{Prompt: Prompt{Parts: []msg.Part{msg.Reminder(op.Text)}}, heard: true})
	}
	q.inbox.Notify(op.Text)
	q.wake = q.wake || op.Wake
	return nil
}

// interrupt is [Session.Interrupt].
func (q *queue) interrupt(op Interrupt) (waiting []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if op.Queued && len(q.jobs) > 0 {
		waiting = prompts(q.jobs)
		q.jobs = nil
		q.note(store.Queue{Op: store.Clear})
	}
	if op.Cause == "" {
		op.Cause = tool.AbortUser
	}
	if op.Unsay != "" {
		q.unsaid = op.Unsay
	}
	rest := q.jobs
	switch {
	case q.stop != nil:
		q.stop(op.Cause)
	case len(q.jobs) > 0: // it is about to begin
		q.jobs[0].stopped = op.Cause
		rest = q.jobs[1:]
	}
	return append(waiting, prompts(rest)...)
}

// waiting returns the ids of the jobs that wait and that something comes of.
func (q *queue) waiting() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return prompts(q.jobs)
}

// prompts returns the ids of the jobs that something comes of: all but notes.
func prompts(jobs []job) []string {
	var ids []string
	for _, j := range jobs {
		if !j.note || j.tells() {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

func (q *queue) withdraw(id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.jobs, func(j job) bool { return id != "" && j.ID == id })
	switch {
	case i < 0 && q.unsay(id):
		return nil
	case i < 0:
		return fmt.Errorf("no prompt %q waits", id)
	}
	if kept := q.jobs[i].kept; kept != "" {
		q.note(store.Queue{Op: store.Discard, Content: kept})
	}
	q.jobs = slices.Delete(q.jobs, i, i+1)
	return nil
}

// unsay takes back what was said to the turn that runs, and reports whether the turn did not have it yet.
func (q *queue) unsay(id string) bool {
	i := slices.IndexFunc(q.said, func(s said) bool { return id != "" && s.id == id })
	if i < 0 {
		return false
	}
	parts := q.said[i].parts
	q.said = slices.Delete(q.said, i, i+1)
	return parts == nil || q.inbox.Retract(parts...)
}

// work does the jobs, one after the other, until none is left.
func (q *queue) work() {
	for {
		ctx, j, ok := q.take()
		if !ok {
			return
		}
		q.do(ctx, j)
		q.done()
	}
}

// take returns the next job and the context to do it in. What was said too late for the turn it was
// meant for makes one of its own. When there is none the queue is idle.
func (q *queue) take() (context.Context, job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var j job
	switch {
	case q.life.Err() == nil && q.inbox.Waiting(): // it was said before what waits
		q.wake = false
	case q.life.Err() == nil && len(q.jobs) > 0:
		j, q.jobs = q.jobs[0], q.jobs[1:]
		if j.kept != "" {
			q.note(store.Queue{Op: store.Dequeue})
		}
	case q.life.Err() == nil && q.wake && q.inbox.Noted():
		q.wake = false
	default:
		q.jobs, q.busy = nil, false
		q.said = slices.DeleteFunc(q.said, func(s said) bool { return s.parts != nil }) // all of it was taken
		close(q.idle)
		return nil, j, false
	}
	ctx, stop := context.WithCancelCause(q.life)
	q.stop = stop
	if j.stopped != "" {
		stop(j.stopped)
	}
	return ctx, j, true
}

// takenBack reports whether the user has taken back the prompt of an id by an interrupt.
func (q *queue) takenBack(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.unsaid == id
}

// done says that the job that was taken is done.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop(nil)
	q.stop = nil
}

// wait waits until no job runs and none waits, or until ctx is done.
func (q *queue) wait(ctx context.Context) error {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close waits for the jobs that were taken. It takes no more.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.workers.Wait()
}

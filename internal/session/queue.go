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

// ErrClosed is returned for operations on a closed session.
var ErrClosed = errors.New("the session is closed")

// A job is queued work.
type job struct {
	Prompt
	note  bool // no request to the model
	heard bool // prompt hooks have seen it
	// chore, if not nil, runs in place of a turn.
	chore chore
	// local, if not nil, runs in place of a turn, without the model.
	local func(ctx context.Context) (string, error)
	// later, if not nil, returns the operation to execute when the job starts.
	later func(ctx context.Context) (Op, error)
	// markdown is true if the text returned by local is an answer from the model.
	markdown bool
	// stopped is the cause if the job was interrupted before it started.
	stopped tool.Abort
	// kept is the copy of the prompt in the log while it waits.
	kept string
}

// hasOutput reports whether the job produces output without a prompt.
func (j *job) hasOutput() bool { return j.chore != nil || j.local != nil || j.later != nil }

// A queue runs jobs one at a time. Input for a running turn goes to its inbox. A queue is safe
// for concurrent use.
type queue struct {
	life    context.Context // parent context of all turns
	do      func(context.Context, job)
	note    func(store.Note)
	hear    func(context.Context, Prompt) HookResult // nil accepts all prompts
	tell    func(agent.Event)
	inbox   agent.Inbox
	workers sync.WaitGroup // a worker for the jobs, and one per prompt passed to prompt hooks

	mu        sync.Mutex
	jobs      []job
	inputs    []pendingInput          // input for the running turn
	busy      bool                    // a worker is running
	idle      chan struct{}           // closed when the worker exits; nil before the first
	stop      context.CancelCauseFunc // cancels the running turn
	withdrawn string                  // ID of the prompt withdrawn by an interrupt
	wake      bool                    // a notification must not wait for the user
	closed    bool
}

// A pendingInput is input for the running turn; it can be withdrawn until delivered.
type pendingInput struct {
	id    string
	parts []msg.Part // nil while prompt hooks run
}

// add queues a job unless it is empty.
func (q *queue) add(j job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.addLocked(j)
}

func (q *queue) addLocked(j job) error {
	switch {
	case q.closed:
		return ErrClosed
	case empty(j.Parts) && !j.hasOutput():
		return nil
	}
	if q.busy && !j.hasOutput() {
		// It may wait a long time: save it, in case the program exits before running it.
		j.kept = msg.PlainText(j.Parts)
		q.note(store.Queue{Op: store.Enqueue, Content: j.kept})
	}
	q.start(j)
	return nil
}

// empty reports whether parts contain only whitespace.
func empty(parts []msg.Part) bool {
	for _, p := range parts {
		if t, ok := p.(*msg.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return false
		}
	}
	return true
}

// start queues a job, and starts a worker if none is running.
func (q *queue) start(j job) {
	q.jobs = append(q.jobs, j)
	if !q.busy {
		q.busy = true
		q.idle = make(chan struct{})
		q.workers.Go(q.work)
	}
}

// say runs the prompt hooks on user input and delivers it to the running turn through to.
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
		q.inputs = append(q.inputs, pendingInput{p.ID, p.Parts})
		to(p.Parts...)
		return nil
	}
	q.inputs = append(q.inputs, pendingInput{id: p.ID})
	q.workers.Go(func() { // prompt hooks may be slow
		h := q.hear(q.life, p)
		for _, text := range h.Notices {
			q.tell(agent.Notice{Text: text})
		}
		if h.Blocked != "" {
			q.tell(agent.Notice{Text: h.Blocked})
			q.withdraw(p.ID) // ok: it may have been withdrawn already
			return
		}
		q.deliver(Prompt{ID: p.ID, Parts: slices.Concat(p.Parts, h.Context)}, to)
	})
	return nil
}

// deliver delivers input after the prompt hooks have run, unless it was withdrawn. If the turn has
// ended, the input gets its own turn.
func (q *queue) deliver(p Prompt, to func(...msg.Part)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.inputs, func(s pendingInput) bool { return s.id == p.ID && s.parts == nil })
	if i < 0 {
		return
	}
	if q.inputs[i].parts = p.Parts; q.busy {
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

// interrupt implements [Session.Interrupt].
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
	if op.WithdrawPrompt != "" {
		q.withdrawn = op.WithdrawPrompt
	}
	rest := q.jobs
	switch {
	case q.stop != nil:
		q.stop(op.Cause)
	case len(q.jobs) > 0: // the next job is about to start
		q.jobs[0].stopped = op.Cause
		rest = q.jobs[1:]
	}
	return append(waiting, prompts(rest)...)
}

// waiting returns the IDs of the queued jobs that produce output.
func (q *queue) waiting() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return prompts(q.jobs)
}

// prompts returns the IDs of the jobs that produce output: all except notes.
func prompts(jobs []job) []string {
	var ids []string
	for _, j := range jobs {
		if !j.note || j.hasOutput() {
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
	case i < 0 && q.withdrawInput(id):
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

// withdrawInput withdraws input for the running turn, and reports whether it was not delivered yet.
func (q *queue) withdrawInput(id string) bool {
	i := slices.IndexFunc(q.inputs, func(s pendingInput) bool { return id != "" && s.id == id })
	if i < 0 {
		return false
	}
	parts := q.inputs[i].parts
	q.inputs = slices.Delete(q.inputs, i, i+1)
	return parts == nil || q.inbox.Retract(parts...)
}

// work runs the jobs in order until the queue is empty.
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

// take returns the next job and its context. Input that was too late for its turn gets its own
// turn. If there is nothing to do, the queue becomes idle.
func (q *queue) take() (context.Context, job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var j job
	switch {
	case q.life.Err() == nil && q.inbox.Waiting(): // earlier than any queued job
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
		q.inputs = slices.DeleteFunc(q.inputs, func(s pendingInput) bool { return s.parts != nil }) // all delivered
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

// promptWithdrawn reports whether the user withdrew the prompt with this ID by an interrupt.
func (q *queue) promptWithdrawn(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.withdrawn == id
}

// done marks the current job as done.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop(nil)
	q.stop = nil
}

// wait waits until no job runs or waits, or until ctx is done.
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

// close stops accepting jobs and waits for the queued ones.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.workers.Wait()
}

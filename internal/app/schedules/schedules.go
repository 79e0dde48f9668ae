// Package schedules runs the jobs of a schedule in a conversation: a prompt that is due is submitted like one that the user
// typed, and waits for the turn that runs. Which jobs there are and when they are due is known to package schedule.
package schedules

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/schedule"
	"adze/internal/session"
)

// longest is how long the timer is set at most. It does not count the time that the machine sleeps, so that a job would be
// late by as much.
const longest = time.Minute

// A Config is what a runner works with. All of it is required.
type Config struct {
	Table    *schedule.Table
	Now      func() time.Time
	Language func() texts.Language
	// Session returns the session; it is called when the first front end attends.
	Session func() *session.Session
}

// A Runner submits the prompts of jobs to a session when they are due, while a front end attends to it. Nothing runs before
// there is a job: then there is one timer, for the next one. It is safe for concurrent use.
type Runner struct {
	cfg    Config
	life   context.Context
	end    context.CancelFunc
	follow sync.WaitGroup

	ticking sync.Mutex // held while jobs are taken
	mu      sync.Mutex
	timer   *time.Timer // may be nil
	prompt  Prompter    // nil while no front end attends
	runs    map[string]*run
	told    string // the last error that the user was told
	closed  bool
}

// A Prompter returns the prompt that the user would submit by typing a text.
type Prompter = func(ctx context.Context, text string) (session.Prompt, error)

// A run is a prompt of a job that waits or is being answered.
type run struct {
	schedule.Firing
	stop    context.CancelFunc // stops following it
	started bool
}

// New returns a runner.
func New(c Config) *Runner {
	r := &Runner{cfg: c, runs: map[string]*run{}}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// Attend lets prompts be submitted from now on, which a front end shows; p makes a prompt of what the user would type. Nil
// stops that.
func (r *Runner) Attend(p Prompter) {
	r.mu.Lock()
	r.prompt = p
	r.mu.Unlock()
	r.arm()
}

// Close ends the jobs of the session. Nothing is submitted after that. R may be nil.
func (r *Runner) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed, r.prompt = true, nil
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.end()
	r.ticking.Lock() // one that has begun
	defer r.ticking.Unlock()
	r.follow.Wait()
}

// Add makes a job.
func (r *Runner) Add(ctx context.Context, d schedule.Draft) (schedule.Job, error) {
	j, err := r.cfg.Table.Add(ctx, d)
	r.arm()
	return j, err
}

// Remove ends a job; see [schedule.Table.Remove]. Its prompt is taken back if it still waits.
func (r *Runner) Remove(ctx context.Context, id string) (schedule.Job, error) {
	j, err := r.cfg.Table.Remove(ctx, id)
	r.arm()
	if err != nil {
		return j, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for prompt, run := range r.runs {
		if run.ID == j.ID && !run.started && r.cfg.Session().Submit(ctx, session.Withdraw{ID: prompt}) == nil {
			run.stop()
			delete(r.runs, prompt)
		}
	}
	return j, nil
}

// List returns the jobs; see [schedule.Table.List].
func (r *Runner) List(ctx context.Context) ([]schedule.Job, error) { return r.cfg.Table.List(ctx) }

// arm sets the timer for the next job, if there is one.
func (r *Runner) arm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if r.prompt == nil || r.closed {
		return
	}
	next := r.cfg.Table.Next()
	if next.IsZero() {
		return
	}
	const least = 10 * time.Millisecond // the clock may be put back a little
	r.timer = time.AfterFunc(min(max(next.Sub(r.cfg.Now()), least), longest), r.tick)
}

// tick runs what is due.
func (r *Runner) tick() {
	r.ticking.Lock()
	defer r.ticking.Unlock()
	r.mu.Lock()
	attended := r.prompt != nil && !r.closed
	r.mu.Unlock()
	if !attended {
		return
	}
	due, err := r.cfg.Table.Take(r.life)
	r.fail(err)
	for _, f := range due {
		switch f.Verdict {
		case schedule.Missed:
			r.tell(missed(f))
		case schedule.Expired:
			r.tell(expired(f))
		case schedule.Run:
			r.fire(f)
		}
	}
	r.arm()
}

// fail tells the user what is wrong with the jobs, once.
func (r *Runner) fail(err error) {
	text := ""
	if err != nil && r.life.Err() == nil {
		text = err.Error()
	}
	r.mu.Lock()
	known := text == r.told
	r.told = text
	r.mu.Unlock()
	if !known && text != "" {
		r.tell(text)
	}
}

// tell tells the user something.
func (r *Runner) tell(text string) {
	r.cfg.Session().Submit(r.life, session.Tell{Text: text}) // ok: it cannot fail
}

// fire submits the prompt of a job, unless the one before still waits or is being answered.
func (r *Runner) fire(f schedule.Firing) {
	r.mu.Lock()
	busy, make := r.busy(f.ID), r.prompt
	r.mu.Unlock()
	if busy || make == nil {
		return
	}
	p := session.Prompt{Parts: []msg.Part{&msg.Text{Text: f.Prompt}}, Quoted: true}
	if !f.ByModel { // what a model wrote is not a command, and mentions no file
		var err error
		if p, err = make(r.life, f.Prompt); err != nil {
			r.tell(fmt.Sprintf("%s: %v", title(f.Job), err))
			r.done(f.Job, 0, schedule.Failed, err.Error())
			return
		}
	}
	p.ID = msg.NewID()
	s := r.cfg.Session()
	ctx, stop := context.WithCancel(r.life)
	run, after := &run{Firing: f, stop: stop}, s.Last()
	r.mu.Lock()
	r.runs[p.ID] = run
	r.mu.Unlock()
	if err := s.Submit(ctx, p); err != nil {
		r.forget(p.ID)
		return
	}
	r.follow.Go(func() { r.await(ctx, s, after, p.ID, run) })
}

// busy reports whether a prompt of a job waits or is being answered. One that was taken back does neither.
func (r *Runner) busy(job string) bool {
	for id, run := range r.runs {
		if run.ID != job {
			continue
		}
		if run.started || slices.Contains(r.cfg.Session().Waiting(), id) {
			return true
		}
		run.stop()
		delete(r.runs, id)
	}
	return false
}

// await follows the session until a prompt is answered, and keeps what came of it.
func (r *Runner) await(ctx context.Context, s *session.Session, after session.Seq, id string, run *run) {
	defer r.forget(id)
	for e := range s.Entries(ctx, after, session.Latest) {
		switch ev := e.Event.(type) {
		case session.Started:
			if ev.Prompt == id {
				r.mu.Lock()
				run.started = true
				r.mu.Unlock()
			}
		case session.Finished:
			if !run.started {
				continue
			}
			r.finished(run.Job, ev)
			return
		}
	}
}

// finished keeps what came of a turn.
func (r *Runner) finished(j schedule.Job, ev session.Finished) {
	why, result := ev.Detail, schedule.Succeeded
	if ev.Err != nil {
		why = ev.Err.Error()
	}
	switch {
	case ev.Reason.Aborted():
		result = schedule.Interrupted
	case ev.Local != nil && ev.Local.Err != nil: // the prompt of a command could not be made
		why, result = ev.Local.Err.Error(), schedule.Failed
	case !ev.Reason.OK():
		result = schedule.Failed
	}
	r.done(j, ev.After.CostUSD-ev.Before.CostUSD, result, why)
}

func (r *Runner) forget(prompt string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run := r.runs[prompt]; run != nil {
		run.stop()
		delete(r.runs, prompt)
	}
}

// done keeps what came of a run, and tells the user if that was the last one.
func (r *Runner) done(j schedule.Job, costUSD float64, result schedule.Result, why string) {
	j, ended, err := r.cfg.Table.Done(r.life, j, costUSD, result)
	r.fail(err)
	if ended {
		r.tell(failing(j, why))
	}
}

// Hear implements a hearer of the session: for a prompt of a job, it tells the user and the model which one it is. R may
// be nil.
func (r *Runner) Hear(_ context.Context, p session.Prompt) (h session.Hearing) {
	if r == nil {
		return h
	}
	r.mu.Lock()
	run := r.runs[p.ID]
	r.mu.Unlock()
	if run == nil {
		r.arm() // another process may have made a job
		return h
	}
	h.Notices = []string{begun(run.Firing)}
	h.Context = []msg.Part{msg.Reminder(catalogue.Text(r.cfg.Language(), "due", run.When()))}
	return h
}

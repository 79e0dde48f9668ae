// Package schedule runs scheduled jobs in a conversation: a due prompt is submitted as if
// typed by the user, and waits for a running turn. The jobs and their times come from package
// schedule.
package schedule

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adze/internal/domain/cron"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
)

// longest is the longest timer interval. Timers do not count time while the machine sleeps, so
// that a longer one could make a job that much late.
const longest = time.Minute

// Config configures a runner. All fields are required.
type Config struct {
	Table    *cron.Table
	Now      func() time.Time
	Language func() texts.Language
	// Session returns the session. It is called when the first front end attaches.
	Session func() *session.Session
}

// A Runner submits the prompts of due jobs to a session while a front end is attached. Without
// jobs nothing runs; otherwise there is one timer, for the next job. It is safe for concurrent
// use.
type Runner struct {
	cfg    Config
	life   context.Context
	end    context.CancelFunc
	follow sync.WaitGroup

	ticking   sync.Mutex // held while jobs are taken
	mu        sync.Mutex
	timer     *time.Timer // may be nil
	prompt    Prompter    // nil while no front end is attached
	runs      map[string]*run
	lastError string // last error reported to the user
	closed    bool
}

// A Prompter returns the prompt for text typed by the user.
type Prompter = func(ctx context.Context, text string) (session.Prompt, error)

// A run is a job's prompt that is queued or being answered.
type run struct {
	cron.DueJob
	stop    context.CancelFunc // stops following it
	started bool
}

// New returns a runner.
func New(c Config) *Runner {
	r := &Runner{cfg: c, runs: map[string]*run{}}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// Attend starts submitting prompts through an attached front end; p builds a prompt from typed
// text. Nil stops it.
func (r *Runner) Attend(p Prompter) {
	r.mu.Lock()
	r.prompt = p
	r.mu.Unlock()
	r.arm()
}

// Close ends the session's jobs. Nothing is submitted afterward.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed, r.prompt = true, nil
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.end()
	r.ticking.Lock() // waits for a running tick
	defer r.ticking.Unlock()
	r.follow.Wait()
}

// Add creates a job.
func (r *Runner) Add(ctx context.Context, d cron.Draft) (cron.Job, error) {
	j, err := r.cfg.Table.Add(ctx, d)
	r.arm()
	return j, err
}

// Remove removes a job; see [schedule.Table.Remove]. Its prompt is withdrawn if it is still
// queued.
func (r *Runner) Remove(ctx context.Context, id string) (cron.Job, error) {
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
func (r *Runner) List(ctx context.Context) ([]cron.Job, error) { return r.cfg.Table.List(ctx) }

// arm sets the timer for the next job, if any.
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
	const least = 10 * time.Millisecond // the clock may be set back slightly
	r.timer = time.AfterFunc(min(max(next.Sub(r.cfg.Now()), least), longest), r.tick)
}

// tick runs due jobs.
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
		case cron.Missed:
			r.tell(missed(f))
		case cron.Expired:
			r.tell(expired(f))
		case cron.Run:
			r.fire(f)
		}
	}
	r.arm()
}

// fail reports an error with the jobs to the user, once.
func (r *Runner) fail(err error) {
	text := ""
	if err != nil && r.life.Err() == nil {
		text = err.Error()
	}
	r.mu.Lock()
	known := text == r.lastError
	r.lastError = text
	r.mu.Unlock()
	if !known && text != "" {
		r.tell(text)
	}
}

// tell shows the user a message.
func (r *Runner) tell(text string) {
	r.cfg.Session().Submit(r.life, session.Tell{Text: text}) // ok: cannot fail
}

// fire submits a job's prompt, unless the previous one is still queued or being answered.
func (r *Runner) fire(f cron.DueJob) {
	r.mu.Lock()
	busy, make := r.busy(f.ID), r.prompt
	r.mu.Unlock()
	if busy || make == nil {
		return
	}
	p := session.Prompt{Parts: []msg.Part{&msg.Text{Text: f.Prompt}}, Quoted: true}
	if !f.ByModel { // model-written prompts can't be commands or mention files
		var err error
		if p, err = make(r.life, f.Prompt); err != nil {
			r.tell(fmt.Sprintf("%s: %v", title(f.Job), err))
			r.done(f.Job, 0, cron.Failed, err.Error())
			return
		}
	}
	p.ID = msg.NewID()
	s := r.cfg.Session()
	ctx, stop := context.WithCancel(r.life)
	run, after := &run{DueJob: f, stop: stop}, s.Last()
	r.mu.Lock()
	r.runs[p.ID] = run
	r.mu.Unlock()
	if err := s.Submit(ctx, p); err != nil {
		r.forget(p.ID)
		return
	}
	r.follow.Go(func() { r.await(ctx, s, after, p.ID, run) })
}

// busy reports whether a job's prompt is queued or being answered. A withdrawn prompt is
// neither.
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

// await follows the session until a prompt is answered, and records the result.
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

// finished records the result of a turn.
func (r *Runner) finished(j cron.Job, ev session.Finished) {
	why, result := ev.Detail, cron.Succeeded
	if ev.Err != nil {
		why = ev.Err.Error()
	}
	switch {
	case ev.Reason.Aborted():
		result = cron.Interrupted
	case ev.Local != nil && ev.Local.Err != nil: // the command's prompt could not be built
		why, result = ev.Local.Err.Error(), cron.Failed
	case !ev.Reason.OK():
		result = cron.Failed
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

// done records the result of a run, and notifies the user if it was the last one.
func (r *Runner) done(j cron.Job, costUSD float64, result cron.Result, why string) {
	j, ended, err := r.cfg.Table.Done(r.life, j, costUSD, result)
	r.fail(err)
	if ended {
		r.tell(failing(j, why))
	}
}

// PromptHook is a [session.PromptHook]: for a job's prompt, it tells the user and the model which
// job it belongs to.
func (r *Runner) PromptHook(_ context.Context, p session.Prompt) (h session.HookResult) {
	r.mu.Lock()
	run := r.runs[p.ID]
	r.mu.Unlock()
	if run == nil {
		r.arm() // another process may have created a job
		return h
	}
	h.Notices = []string{begun(run.DueJob)}
	h.Context = []msg.Part{msg.Reminder(catalogue.Text(r.cfg.Language(), "due", run.When()))}
	return h
}

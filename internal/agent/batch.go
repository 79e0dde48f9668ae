package agent

import (
	"context"
	"slices"
	"sync"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A batch runs the calls of one response. Calls are added in order while the response arrives;
// their results come out in the same order.
//
// A single worker handles the calls one by one, so that gates ask one question at a time. A
// concurrent call runs in its own goroutine; any other call waits for all calls before it, and
// later calls wait for it. A call that may change something waits until the response is
// complete and recorded, so that a discarded response has no effects.
type batch struct {
	ex     *exec.Executor
	pool   *tool.Pool
	ctx    context.Context
	cancel context.CancelCauseFunc
	slots  chan struct{}
	sync   func()             // makes the record of the response durable
	keep   func(exec.Outcome) // stores a result until all are recorded; nil before the batch is sealed, or if unsupported

	wake chan struct{} // signaled when take has something
	more chan struct{} // signaled when a call was added or the batch changed phase
	done chan struct{} // closed when every call has its outcome

	mu      sync.Mutex
	calls   []*call
	sealed  bool // the response is complete and recorded
	closed  bool // no more calls will come
	running sync.WaitGroup
	started []Event
	shown   int // calls whose ToolDone was taken

	// Accessed only by the worker: the outcome of the call that the user rejected, and whether
	// rejecting it stopped the turn.
	rejected *exec.Outcome
	halted   bool

	// shellFailed is the first shell call that failed, guarded by mu.
	shellFailed *call
}

// A call is one use in a batch. Its fields below mu's are guarded by the batch's mu.
type call struct {
	use     *msg.ToolUse
	pending *exec.Pending
	cancel  context.CancelCauseFunc

	outcome  *exec.Outcome
	kept     bool
	progress *tool.Progress
	steered  bool // the user sent a message after it was added
}

func newBatch(ctx context.Context, a *Agent, pool *tool.Pool, sync func()) *batch {
	n := a.Concurrency
	if n <= 0 {
		n = 10
	}
	b := &batch{
		ex: a.Executor, pool: pool, sync: sync,
		slots: make(chan struct{}, n),
		wake:  make(chan struct{}, 1),
		more:  make(chan struct{}, 1),
		done:  make(chan struct{}),
	}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	return b
}

// add appends a call. The first one starts the worker.
func (b *batch) add(use *msg.ToolUse) {
	b.mu.Lock()
	b.calls = append(b.calls, &call{use: use})
	first := len(b.calls) == 1
	b.mu.Unlock()
	if first {
		go b.work()
	}
	signal(b.more)
}

// addMissing adds the uses of a response that the batch does not have yet, so that each gets
// its result.
func (b *batch) addMissing(uses []*msg.ToolUse) {
	b.mu.Lock()
	n := len(b.calls)
	b.mu.Unlock()
	for _, u := range uses[min(n, len(uses)):] {
		b.add(u)
	}
}

// seal lets calls with effects run: the response is complete and in the history. From then on,
// keep, if non-nil, is called from any goroutine with the results of calls that finish before
// others.
func (b *batch) seal(keep func(exec.Outcome)) {
	b.mu.Lock()
	b.sealed, b.closed, b.keep = true, true, keep
	early := b.unkept()
	b.mu.Unlock()
	for _, o := range early {
		keep(o)
	}
	signal(b.more)
}

// unkept returns the outcomes to store now, each once. If all calls have finished, it returns
// none, because their results are about to be recorded.
func (b *batch) unkept() []exec.Outcome {
	if b.keep == nil || !slices.ContainsFunc(b.calls, func(c *call) bool { return c.outcome == nil }) {
		return nil
	}
	var out []exec.Outcome
	for _, c := range b.calls {
		if c.outcome != nil && !c.kept {
			c.kept = true
			out = append(out, *c.outcome)
		}
	}
	return out
}

// abort cancels the running calls and gives every call without an outcome a synthetic one.
func (b *batch) abort(why tool.Abort) {
	b.cancel(why)
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	signal(b.more)
}

// steer ends the calls that only wait, because the user has sent a new message. All others
// finish first.
func (b *batch) steer() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		c.steered = true
		if c.outcome == nil && c.cancel != nil && c.pending.Traits().Waits {
			c.cancel(tool.AbortNewMessage)
		}
	}
}

// empty reports whether no call was ever added.
func (b *batch) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls) == 0
}

// take returns the events since the last take. It returns only the last of several progress
// reports for a call.
func (b *batch) take() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.started
	b.started = nil
	for _, c := range b.calls[b.shown:] {
		if c.progress != nil {
			events = append(events, ToolProgress{ID: c.use.ID, Display: c.progress.Display})
			c.progress = nil
		}
	}
	for b.shown < len(b.calls) && b.calls[b.shown].outcome != nil {
		c := b.calls[b.shown]
		b.shown++
		events = append(events, ToolDone{Use: c.pending.Use(), Result: c.outcome.Result, Display: c.outcome.Display, Denied: c.outcome.Denied, Refusal: c.outcome.Refusal, Remedy: c.outcome.Remedy, Elapsed: c.outcome.Elapsed})
	}
	return events
}

// outcomes returns the outcome of every call in order. It may be called when done is closed.
func (b *batch) outcomes() []exec.Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]exec.Outcome, len(b.calls))
	for i, c := range b.calls {
		out[i] = *c.outcome
	}
	return out
}

func (b *batch) work() {
	defer close(b.done)
	defer b.running.Wait()
	for i := 0; ; i++ {
		c := b.next(i)
		if c == nil {
			return
		}
		b.handle(c)
	}
}

// next waits for call i and returns it, or nil if there will be none.
func (b *batch) next(i int) *call {
	for {
		b.mu.Lock()
		if i < len(b.calls) {
			c := b.calls[i]
			b.mu.Unlock()
			return c
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			signal(b.more) // wakes waitSealed and later calls of next
			return nil
		}
		<-b.more
	}
}

// handle passes one call through its gates and starts it, or runs it if it is not concurrent.
func (b *batch) handle(c *call) {
	p := b.ex.Bind(b.pool, c.use)
	b.settle(p)
	b.mu.Lock()
	c.pending = p
	verb, object := p.Past()
	b.started = append(b.started, ToolStarted{Use: p.Use(), Title: p.Title(), Activity: p.Activity(), Verb: verb, Object: object, Fold: p.Fold()})
	b.mu.Unlock()
	signal(b.wake)

	if o := p.Refused(); o != nil {
		b.finish(c, *o)
		return
	}
	if o := b.obstacle(c); o != nil {
		b.finish(c, *o)
		return
	}
	if !b.ex.Admit(b.ctx, p) {
		o := *p.Refused()
		if o.Rejected {
			b.rejected, b.halted = &o, b.halted || o.Stop != ""
		}
		b.finish(c, o)
		return
	}
	b.settle(p) // a gate may have rewritten the input so that the call must wait
	if b.ctx.Err() != nil {
		b.finish(c, exec.Unstarted(c.use, tool.AbortReason(b.ctx)))
		return
	}
	if !p.ReadOnly() {
		b.sync()
	}
	b.start(c, p)
}

// settle waits until p may run. A call that may change something waits until the response is
// recorded; a call that is not concurrent also waits for all calls before it.
func (b *batch) settle(p *exec.Pending) {
	if p.Refused() != nil {
		return
	}
	if !p.Concurrent() || !p.ReadOnly() {
		b.waitSealed()
	}
	if !p.Concurrent() {
		b.running.Wait()
	}
}

func (b *batch) waitSealed() {
	for {
		b.mu.Lock()
		sealed := b.sealed
		b.mu.Unlock()
		if sealed || b.ctx.Err() != nil {
			return
		}
		select {
		case <-b.more:
		case <-b.ctx.Done():
		}
	}
}

// obstacle returns the outcome of a call that must not run, or nil.
func (b *batch) obstacle(c *call) *exec.Outcome {
	b.mu.Lock()
	failed, steered := b.shellFailed, c.steered
	b.mu.Unlock()
	var o exec.Outcome
	switch {
	case b.ctx.Err() != nil:
		o = exec.Unstarted(c.use, tool.AbortReason(b.ctx))
	case steered && c.pending.Traits().Waits:
		o = exec.Interrupted(c.use, tool.AbortNewMessage)
	case b.rejected != nil && (b.halted || !c.pending.Concurrent()):
		o = exec.Skipped(c.use, b.rejected)
	case failed != nil && c.pending.Traits().Shell && !c.pending.ReadOnly():
		o = exec.Cancelled(c.use, failed.pending.Title())
	default:
		return nil
	}
	return &o
}

func (b *batch) start(c *call, p *exec.Pending) {
	ctx, cancel := context.WithCancelCause(b.ctx)
	b.mu.Lock()
	c.cancel = cancel
	b.mu.Unlock()
	run := func() {
		defer cancel(nil)
		b.finish(c, b.ex.Run(ctx, p, func(pr tool.Progress) { b.report(c, pr) }))
	}
	if !p.Concurrent() {
		run()
		return
	}
	if p.Traits().Delegates {
		b.running.Go(run)
		return
	}
	select {
	case b.slots <- struct{}{}:
	case <-b.ctx.Done():
		b.finish(c, exec.Unstarted(c.use, tool.AbortReason(b.ctx)))
		cancel(nil)
		return
	}
	b.running.Go(func() {
		defer func() { <-b.slots }()
		run()
	})
}

func (b *batch) report(c *call, p tool.Progress) {
	b.mu.Lock()
	if c.outcome == nil {
		c.progress = &p
	}
	b.mu.Unlock()
	signal(b.wake)
}

func (b *batch) finish(c *call, o exec.Outcome) {
	b.mu.Lock()
	c.outcome = &o
	if o.Result.IsError && !o.Denied && c.pending.Traits().Shell && b.shellFailed == nil {
		b.shellFailed = c
	}
	unkept := b.unkept()
	b.mu.Unlock()
	for _, o := range unkept {
		b.keep(o)
	}
	signal(b.wake)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

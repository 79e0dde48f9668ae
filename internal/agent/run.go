package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A run is one turn in progress. Everything here happens in the caller's goroutine; the provider's
// pump, the batch and the side work have theirs.
type run struct {
	a      *Agent
	h      History
	ctx    context.Context
	cancel context.CancelCauseFunc
	yield  func(Event) bool
	gone   bool // the caller left: nothing may be yielded any more
	// While holding, events wait in held.
	holding bool
	held    []Event
	pumps   sync.WaitGroup
	sides   sync.WaitGroup

	prefetch chan []msg.Part
	reader   reader

	// Facts of the turn that recovery looks at.
	fellBack    bool
	noThinking  bool
	stripped    bool // media were stripped in this turn
	hookRounds  int
	truncations int
	attempts    int
	iterations  int // that sent a request
	budget      tokenBudget
	lastStop    model.StopReason
	state       State

	ended *Ended
	// What is in flight, for the case that the caller panics.
	flight flight
}

// A flight is a response and its calls that are not in the history yet.
type flight struct {
	acc      *model.Accumulator
	batch    *batch
	recorded bool // the assistant message is in the history, its results are not
}

func newRun(ctx context.Context, a *Agent, h History, yield func(Event) bool) *run {
	r := &run{a: a, h: h, yield: yield}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.budget.limit = a.TokenBudget
	return r
}

// turn runs iterations until one ends the turn.
func (r *run) turn() {
	r.startPrefetch()
	s := State{Entries: r.h.Entries(), Model: r.a.Model, Iteration: 1}
	for {
		next, end := r.iterate(s)
		if end != nil {
			r.end(*end)
			return
		}
		next.Entries = r.h.Entries()
		s = next
	}
}

// iterate asks the model once, runs what it asks for, and says how to go on.
func (r *run) iterate(s State) (State, *Ended) {
	r.state = s
	if r.a.Observe != nil {
		r.a.Observe(s)
	}
	if end := r.obstacle(); end != nil {
		return s, end
	}
	v := r.view(s)
	if r.ctx.Err() != nil { // also while a summary was written
		return s, r.aborted()
	}
	s.Entries = r.h.Entries() // the last step may have started a new segment
	pool := r.a.Pool()
	req := r.request(s, v, pool)
	if end := r.overLimit(s, req, v); end != nil {
		return s, end
	}
	r.iterations = s.Iteration
	ans, err := r.ask(s, req, pool)
	switch {
	case r.ctx.Err() != nil:
		return s, r.aborted()
	case err != nil:
		return r.recover(s, req, err)
	}
	r.lastStop = ans.stop
	if next, end, ok := r.cut(s, ans); ok {
		return next, end
	}
	return r.digest(s, ans)
}

// digest records a whole response, runs its calls and records their results.
func (r *run) digest(s State, ans answer) (State, *Ended) {
	s.Compacted = false
	r.mainIsBack(s)
	if ans.batch.empty() {
		r.keep(s, ans)
		if r.ctx.Err() != nil {
			return s, r.aborted()
		}
		return r.finish(s, ans)
	}
	r.flight = flight{batch: ans.batch, recorded: true}
	r.record(ans.entry(s))
	ans.batch.seal()
	r.await(ans.batch)
	aborted := r.ctx.Err() != nil
	outcome := r.recordResults(ans.batch)
	switch {
	case outcome.fatal != nil:
		r.emit(Failed{Err: outcome.fatal})
		return s, &Ended{Reason: ModelError, Err: outcome.fatal}
	case aborted:
		return s, &Ended{Reason: AbortedTools}
	case outcome.stop != "":
		return s, &Ended{Reason: HookStopped, Detail: outcome.stop}
	}
	if next, end, ok := r.reached(s, ans); ok {
		return next, end
	}
	if end := r.capped(s); end != nil {
		return s, end
	}
	s.Resumes, s.MaxTokens = 0, 0
	return s.next(ToolUse), nil
}

// next returns s as the following iteration begins with it.
func (s State) next(t Transition) State {
	s.Transition = t
	s.Iteration++
	return s
}

// again returns s for a repetition of the same request, which is not a new iteration.
func (s State) again(t Transition) State {
	s.Transition = t
	return s
}

// obstacle returns the end of a turn that may make no further request, or nil.
func (r *run) obstacle() *Ended {
	if r.ctx.Err() != nil {
		return r.aborted()
	}
	limit := r.a.MaxBudgetUSD
	if r.a.Meter == nil || limit <= 0 {
		return nil
	}
	spent, out := r.a.Meter.Exhausted(limit)
	if !out {
		return nil
	}
	return &Ended{Reason: BudgetExhausted, Detail: fmt.Sprintf("spent $%.4f of the budget of $%.4f", spent, limit)}
}

// Room that is kept free below the window for the answer and for what an estimate misses.
const (
	reservedOutput = 20_000
	reservedSlack  = 3_000
)

// overLimit ends a turn whose request cannot fit, when nothing can make it shorter.
func (r *run) overLimit(s State, req *model.Request, v View) *Ended {
	if r.a.Shortener != nil && !v.Stuck || s.Model.Window <= 0 {
		return nil
	}
	limit := s.Model.Window - min(s.Model.MaxOutput, reservedOutput) - reservedSlack
	est := v.Size
	if est == 0 {
		est = estimate(req.System, req.Tools, req.Messages)
	}
	if est <= limit {
		return nil
	}
	err := &model.Error{Kind: model.TooLong, Message: fmt.Sprintf("the conversation is about %d tokens long, over the limit of %d for %s", est, limit, s.Model.ID)}
	r.emit(Failed{Err: err})
	return &Ended{Reason: BlockingLimit, Err: err, Detail: err.Message}
}

func (r *run) request(s State, v View, pool *tool.Pool) *model.Request {
	return &model.Request{
		Model:       s.Model.ID,
		System:      r.a.System,
		Messages:    r.withContext(v.Messages),
		Tools:       pool.Specs(),
		Cache:       r.a.Cache,
		Effort:      r.a.Effort,
		Thinking:    r.a.Thinking,
		MaxTokens:   r.maxTokens(s),
		Raw:         r.a.Raw,
		HasFallback: r.canFallBack(),
		UserID:      r.a.UserID,
	}
}

// defaultOutput is the output limit for a model of which none is known, in tokens.
const defaultOutput = 8192

// maxTokens returns the output limit of the next request.
func (r *run) maxTokens(s State) int {
	switch {
	case r.a.MaxTokens > 0:
		return r.a.MaxTokens
	case s.MaxTokens > 0:
		return s.MaxTokens
	case s.Model.Output > 0:
		return s.Model.Output
	}
	return defaultOutput
}

// results is what recordResults found beyond the results themselves.
type results struct {
	stop  string
	fatal error
}

// recordResults appends the results of b and what waits to be said beside them.
func (r *run) recordResults(b *batch) results {
	var out results
	m := msg.Message{Role: msg.User}
	var context []msg.Part
	structured := make(map[string]json.RawMessage)
	for _, o := range b.outcomes() {
		m.Parts = append(m.Parts, o.Result)
		context = append(context, o.Context...)
		if o.Structured != nil {
			structured[o.Result.ID] = o.Structured
		}
		if out.stop == "" {
			out.stop = o.Stop
		}
		if out.fatal == nil {
			out.fatal = o.Fatal
		}
	}
	m.Parts = append(m.Parts, context...)
	aborted := r.ctx.Err() != nil
	if !aborted {
		m.Parts = append(m.Parts, r.takePrefetch()...)
	} else if tool.AbortReason(r.ctx) == tool.AbortUser {
		m.Parts = append(m.Parts, &msg.Text{Text: InterruptedTools})
	}
	r.flight = flight{}
	b.cancel(nil)
	e := msg.Entry{Message: m}
	if len(structured) > 0 {
		e.Structured = structured
	}
	r.record(e)
	if !aborted && out.stop == "" && out.fatal == nil {
		r.recordInbox()
	}
	return out
}

// recordInbox appends what was said to the model since the turn began.
func (r *run) recordInbox() {
	if parts := r.a.Inbox.Take(); len(parts) > 0 {
		r.record(msg.Entry{Message: msg.Message{Role: msg.User, Parts: parts}})
	}
}

// await emits what b reports until every call has its outcome. Being cancelled makes that soon.
func (r *run) await(b *batch) {
	cancelled := r.ctx.Done()
	for {
		select {
		case <-b.wake:
			r.emitAll(b.take())
		case <-r.a.Inbox.steered():
			b.steer()
		case <-cancelled:
			b.abort(tool.AbortReason(r.ctx))
			cancelled = nil
		case <-b.done:
			r.emitAll(b.take())
			return
		}
	}
}

// record appends e to the history and says so.
func (r *run) record(e msg.Entry) {
	e.ID, e.Time = r.newID(), r.now()
	if entries := r.h.Entries(); len(entries) > 0 {
		e.Parent = entries[len(entries)-1].ID
	}
	if err := r.h.Append(context.WithoutCancel(r.ctx), e); err != nil {
		r.a.logger().Error("appending to the history failed", "err", err)
		r.emit(Notice{Text: fmt.Sprintf("The conversation could not be recorded: %v", err)})
		r.cancel(tool.Fatal(err))
		return
	}
	r.emit(Appended{Entry: e})
}

func (r *run) emit(e Event) {
	if r.gone {
		return
	}
	if r.holding {
		r.held = append(r.held, e)
		return
	}
	if !r.yieldSafely(e) {
		r.gone = true
		r.cancel(tool.AbortUser)
	}
}

// yieldSafely marks the caller as gone while it runs, so that cleaning up after its panic does not
// yield to it again.
func (r *run) yieldSafely(e Event) bool {
	r.gone = true
	ok := r.yield(e)
	r.gone = !ok
	return ok
}

// together stores what f stores before it yields what f emits: a caller that panics in the middle
// finds the history whole.
func (r *run) together(f func()) {
	r.holding = true
	f()
	held := r.held
	r.holding, r.held = false, nil
	r.emitAll(held)
}

func (r *run) emitAll(events []Event) {
	for _, e := range events {
		r.emit(e)
	}
}

func (r *run) end(e Ended) {
	e.Stop, e.Iterations = r.lastStop, r.iterations
	r.ended = &e
	r.syncHistory()
	r.finishSides()
	r.emit(e)
}

// close leaves nothing behind, also when the caller panicked in the middle.
func (r *run) close() {
	if r.ended == nil {
		r.gone = true
		r.cancel(tool.AbortUser)
		r.landFlight()
		r.syncHistory()
		r.finishSides()
	}
	r.cancel(nil)
}

// sideGrace is how long side work may take to notice that the turn is over.
const sideGrace = time.Second

// finishSides ends what runs beside the turn. Providers promise to return; side work that does not is
// left behind and logged.
func (r *run) finishSides() {
	r.cancel(nil)
	r.pumps.Wait()
	done := make(chan struct{})
	go func() { r.sides.Wait(); close(done) }()
	t := time.NewTimer(sideGrace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		r.a.logger().Error("side work ignored the end of the turn and was left behind")
	}
}

// side runs f beside the turn. It ends with the turn at the latest, and its panic is nobody's concern.
func (r *run) side(f func(context.Context)) {
	r.sides.Go(func() {
		_, err := protect(func() (struct{}, error) { f(r.ctx); return struct{}{}, nil })
		if err != nil {
			r.a.logger().Warn("side work failed", "err", err)
		}
	})
}

func (r *run) startPrefetch() {
	if len(r.a.Prefetch) == 0 {
		return
	}
	r.prefetch = make(chan []msg.Part, len(r.a.Prefetch))
	for _, f := range r.a.Prefetch {
		r.side(func(ctx context.Context) {
			if parts := f(ctx); len(parts) > 0 {
				r.prefetch <- parts
			}
		})
	}
}

// takePrefetch returns what is ready; it never waits.
func (r *run) takePrefetch() []msg.Part {
	var parts []msg.Part
	for {
		select {
		case p := <-r.prefetch:
			parts = append(parts, p...)
		default:
			return parts
		}
	}
}

func (r *run) syncHistory() {
	if s, ok := r.h.(Syncer); ok {
		if err := s.Sync(); err != nil {
			r.a.logger().Error("syncing the history failed", "err", err)
		}
	}
}

func (r *run) memo() *Memo {
	if r.a.Memo == nil {
		r.a.Memo = &Memo{}
	}
	return r.a.Memo
}

func (r *run) newID() string {
	if r.a.NewID != nil {
		return r.a.NewID()
	}
	return msg.NewID()
}

func (r *run) now() time.Time {
	if r.a.Now != nil {
		return r.a.Now()
	}
	return time.Now()
}

// protect calls f and turns a panic into an error.
func protect[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

var errNoEnd = errors.New("the response ended without saying why")

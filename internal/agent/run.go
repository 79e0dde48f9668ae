package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A run is one turn in progress. Everything here happens in the caller's goroutine; the
// provider's pump, the batch and the side work have their own.
type run struct {
	recorder
	a      *Agent
	ctx    context.Context
	cancel context.CancelCauseFunc

	pumps    sync.WaitGroup
	sides    *sideWork
	reader   reader
	recovery recovery

	attempts   int
	retried    int // failures of the request before any part of an answer arrived
	iterations int // iterations that sent a request
	hookRounds int
	budget     tokenBudget
	lastStop   model.StopReason
	state      State

	ended *Ended
	// inFlight is the response in flight, in case the caller panics.
	flight inFlight
}

func newRun(ctx context.Context, a *Agent, h History, yield func(Event) bool) *run {
	r := &run{a: a}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.recorder = recorder{
		eventSink: eventSink{yield: yield, leave: func() { r.cancel(tool.AbortUser) }},
		h:         h, ctx: context.WithoutCancel(ctx), fail: r.cancel, newID: a.NewID, now: a.Now, log: a.Log,
	}
	if r.newID == nil {
		r.newID = msg.NewID
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.recovery = recovery{run: r, memo: a.Memo}
	if a.Memo == nil {
		r.recovery.memo = &Memo{}
	}
	r.sides = startSideWork(r.ctx, a.Prefetch, r.log)
	r.budget.limit = a.TokenBudget
	return r
}

// turn runs iterations until one ends the turn.
func (r *run) turn(iterate func(State) (State, *Ended)) {
	s := State{Entries: r.h.Entries(), Model: r.a.Model, Effort: r.a.Effort, Iteration: 1}
	for {
		next, end := iterate(s)
		if end != nil {
			r.end(*end)
			return
		}
		next.Entries = r.h.Entries()
		s = next
	}
}

// iterate asks the model once, runs its response's calls, and returns the next state or the
// end.
func (r *run) iterate(s State) (State, *Ended) {
	r.state = s
	if end := r.obstacle(); end != nil {
		return s, end
	}
	s = s.adjusted(r.a.Adjust, r.recovery.fellBack)
	r.state = s
	pool := r.a.Pool()
	tools := r.a.List(pool.Specs()) // before the view, as it may cause reasoning to be withheld
	v := r.view(s)
	if r.ctx.Err() != nil { // also covers time spent on a summary
		return s, r.aborted()
	}
	s.Entries = r.h.Entries() // the last step may have started a new segment
	req := r.request(s, v, tools)
	if end := r.overLimit(s, req, v); end != nil {
		return s, end
	}
	r.iterations = s.Iteration
	ans, err := r.ask(s, req, pool)
	switch {
	case r.ctx.Err() != nil:
		return s, r.aborted()
	case err != nil && model.KindOf(err) == model.Broken && r.exhausted() != nil:
		r.emit(Failed{Err: err})
		return s, r.exhausted()
	case err != nil:
		return r.recovery.handle(s, req, err)
	}
	r.lastStop = ans.stop
	if next, end, ok := r.recovery.cut(s, ans); ok {
		return next, end
	}
	return r.handleResponse(s, ans)
}

// handleResponse records a complete response, runs its calls and records their results.
func (r *run) handleResponse(s State, ans answer) (State, *Ended) {
	s.Compacted = false
	r.recovery.noteMainRecovered(s)
	if ans.batch.empty() {
		r.keep(s, ans)
		if r.ctx.Err() != nil {
			return s, r.aborted()
		}
		return r.finish(s, ans)
	}
	r.flight = inFlight{batch: ans.batch, recorded: true}
	r.record(ans.entry(s))
	ans.batch.seal(r.keeper())
	r.await(ans.batch)
	aborted := r.ctx.Err() != nil
	outcome := r.recordResults(ans.batch)
	switch {
	case outcome.fatal != nil:
		r.emit(Failed{Err: outcome.fatal})
		return s, &Ended{Reason: ModelError, Err: outcome.fatal}
	case aborted:
		return s, &Ended{Reason: AbortedTools}
	case outcome.rejected:
		return s, &Ended{Reason: AbortedTools, Detail: outcome.stop}
	case outcome.tripped:
		return s, &Ended{Reason: DenialLimit, Detail: outcome.stop}
	case outcome.stop != "":
		return s, &Ended{Reason: HookStopped, Detail: outcome.stop}
	}
	if next, end, ok := r.reached(s, ans); ok {
		return next, end
	}
	if end := s.capped(r.a.MaxTurns); end != nil {
		return s, end
	}
	s.Resumes, s.MaxTokens = 0, 0
	if r.a.Label != nil {
		uses := ans.message.Uses()
		for i, u := range uses {
			uses[i] = ans.batch.pool.Forwarded(u)
		}
		r.sides.label(r.ctx, r.a.Label, uses)
	}
	return s.next(ToolUse), nil
}

// next returns the state for the next iteration.
func (s State) next(t Transition) State {
	s.Transition = t
	s.Iteration++
	return s
}

// again returns the state for repeating the same request, which is not a new iteration.
func (s State) again(t Transition) State {
	s.Transition = t
	return s
}

// obstacle returns the end of a turn that must not send another request, or nil.
func (r *run) obstacle() *Ended {
	if r.ctx.Err() != nil {
		return r.aborted()
	}
	return r.exhausted()
}

// exhausted returns the end of a turn whose budget is exhausted, or nil.
func (r *run) exhausted() *Ended {
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

// Tokens reserved in the window for the answer and for estimation errors.
const (
	reservedOutput = 20_000
	reservedSlack  = 3_000

	// narrowWindow is the window size below which half of it is available for input, regardless
	// of the reserved amounts.
	narrowWindow = 16_000
)

// overLimit ends a turn whose request does not fit and cannot be shortened.
func (r *run) overLimit(s State, req *model.Request, v View) *Ended {
	if r.a.Shortener != nil && !v.Stuck || s.Model.Window <= 0 {
		return nil
	}
	answer := min(s.Model.MaxOutput, reservedOutput)
	slack := reservedSlack
	if s.Model.Window < narrowWindow {
		slack = s.Model.Window / 8
	}
	limit := s.Model.Window - answer - slack
	if s.Model.Window < narrowWindow {
		limit = max(limit, s.Model.Window/2)
	}
	est := v.Size
	if est == 0 {
		est = tokens.New(s.Model.ID).Request(req.System, req.Tools, req.Messages)
	}
	if est <= limit {
		return nil
	}
	err := &model.Error{Kind: model.TooLong, Input: est, Window: s.Model.Window, Message: fmt.Sprintf("the conversation is about %d tokens long, over the limit of %d for %s", est, limit, s.Model.ID)}
	if est < s.Model.Window {
		err.Output = answer
		if est+answer <= s.Model.Window { // only the slack is missing
			err.Output = s.Model.Window - limit
		}
	}
	if tokens.New(s.Model.ID).Request(req.System, req.Tools, nil) > limit { // no conversation would fit
		err.Hint = cmp.Or(s.Model.Wider, "Choose a model with a larger context window")
	}
	r.emit(Failed{Err: err})
	return &Ended{Reason: BlockingLimit, Err: err, Detail: err.Message}
}

func (r *run) request(s State, v View, tools []msg.ToolSpec) *model.Request {
	req := NewRequest(r.a.Options, r.a.Preamble, s.Model, v.Messages, tools)
	req.MaxTokens, req.Effort = r.a.maxTokens(s), s.Effort
	req.Raw = r.a.Raw
	req.HasFallback = r.recovery.canFallBack()
	return req
}

// NewRequest returns the first request that a turn would send for a conversation. The
// conversation becomes part of the request.
func NewRequest(o Options, p Preamble, m Model, conversation []msg.Message, tools []msg.ToolSpec) *model.Request {
	return &model.Request{
		Model:     m.ID,
		System:    p.System,
		Messages:  p.open(conversation),
		Tools:     tools,
		Cache:     p.Cache,
		Effort:    o.Effort,
		Thinking:  o.Thinking,
		MaxTokens: o.maxTokens(State{Model: m}),
		UserID:    o.UserID,
	}
}

// defaultOutput is the output limit for a model with an unknown limit, in tokens.
const defaultOutput = 8192

// maxTokens returns the output limit of the next request.
func (o Options) maxTokens(s State) int {
	switch {
	case o.MaxTokens > 0:
		return o.MaxTokens
	case s.MaxTokens > 0:
		return s.MaxTokens
	case s.Model.Output > 0:
		return s.Model.Output
	}
	return defaultOutput
}

// results summarizes the outcomes of a batch for the loop.
type results struct {
	stop     string
	tripped  bool
	rejected bool // the user rejected a call and stopped the turn
	fatal    error
}

// recordResults appends b's results, with reminders and queued messages.
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
			out.stop, out.tripped = o.Stop, o.Tripped
		}
		out.rejected = out.rejected || o.Rejected && o.Stop != ""
		if out.fatal == nil {
			out.fatal = o.Fatal
		}
	}
	m.Parts = append(m.Parts, context...)
	aborted := r.ctx.Err() != nil
	if !aborted {
		m.Parts = append(m.Parts, r.sides.take()...)
	}
	if out.rejected || aborted && tool.AbortReason(r.ctx) == tool.AbortUser {
		m.Parts = append(m.Parts, &msg.Text{Text: InterruptedTools})
	}
	r.flight = inFlight{}
	b.cancel(nil)
	e := msg.Entry{Message: m}
	if len(structured) > 0 {
		e.Structured = structured
	}
	r.record(e)
	if !aborted && out.stop == "" && out.fatal == nil {
		if parts := r.a.Inbox.Take(); len(parts) > 0 { // messages queued since the turn began
			r.record(msg.Entry{Message: msg.Message{Role: msg.User, Parts: parts}})
		}
	}
	return out
}

// await emits b's events until every call has its outcome, which is soon after a cancellation.
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

func (r *run) end(e Ended) {
	e.Stop, e.Iterations = r.lastStop, r.iterations
	r.ended = &e
	r.stop()
	for len(r.sides.labels) > 0 {
		r.emit(<-r.sides.labels)
	}
	r.emit(e)
}

// stop ends the side work and waits for the provider, which returns promptly by contract.
func (r *run) stop() {
	r.sync()
	r.cancel(nil)
	r.pumps.Wait()
	r.sides.wait()
}

// close releases everything, even if the caller panicked.
func (r *run) close() {
	if r.ended == nil {
		r.gone = true
		r.cancel(tool.AbortUser)
		r.recordInFlight()
		r.stop()
	}
	r.cancel(nil)
}

// protect calls f and converts a panic into an error.
func protect[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

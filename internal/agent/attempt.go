package agent

import (
	"context"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// An answer is a whole response, and the batch that may already be running its calls.
type answer struct {
	attempt int
	message msg.Message
	start   model.Start
	usage   msg.Usage
	stop    model.StopReason
	batch   *batch
}

func (ans answer) entry(s State) msg.Entry {
	u := ans.usage
	return msg.Entry{
		Message: ans.message, Model: s.Model.ID, ResponseID: ans.start.ID, RequestID: ans.start.RequestID,
		Stop: string(ans.stop), Usage: &u,
	}
}

// ask sends req until a whole answer arrives. A response that breaks off is withdrawn and asked for
// again: once more streamed, then once in one piece.
func (r *run) ask(s State, req *model.Request, pool *tool.Pool) (answer, error) {
	for try := 1; ; try++ {
		again := *req
		again.NoStream = try == 3
		ans, err := r.attempt(s, &again, pool)
		if err == nil || r.ctx.Err() != nil || model.KindOf(err) != model.Broken || try == 3 {
			return ans, err
		}
		r.a.logger().Warn("response broke off", "try", try, "err", err)
	}
}

// attempt sends req once. If it fails, whatever was shown of the response is withdrawn; if the turn is
// aborted meanwhile, it stays in flight for [run.aborted].
func (r *run) attempt(s State, req *model.Request, pool *tool.Pool) (answer, error) {
	r.attempts++
	n := r.attempts
	r.emit(Requesting{Attempt: n, Model: req.Model})

	acc := &model.Accumulator{}
	b := newBatch(r.ctx, r.a, pool, r.syncHistory)
	r.flight = flight{acc: acc, batch: b}
	began := time.Now()
	shown, retries, err := r.stream(req, n, acc, b)
	stop, stopped := acc.Stop()
	if err == nil && !stopped {
		err = &model.Error{Kind: model.Broken, Err: errNoEnd}
	}
	usage := acc.Usage()
	usage.Estimated = usage.Estimated || err != nil
	r.book(s, usage, time.Since(began), retries)
	switch {
	case r.ctx.Err() != nil:
		return answer{}, context.Cause(r.ctx)
	case err != nil:
		why := tool.AbortBroken
		if model.KindOf(err) == model.Overloaded && r.canFallBack() {
			why = tool.AbortFallback
		}
		r.discard(n, b, why, shown)
		return answer{}, err
	}
	if r.a.Answered != nil {
		r.a.Answered(req, usage)
	}
	return answer{
		attempt: n, message: acc.Message(), start: acc.Started(), usage: usage, stop: stop, batch: b,
	}, nil
}

type item struct {
	ev  model.Event
	err error
}

// stream receives one response. An iterator cannot be selected on, so a pump of its own drives it
// while this goroutine also hears the tools and the abort. It returns whether anything was shown and
// how long the provider took to get through.
func (r *run) stream(req *model.Request, n int, acc *model.Accumulator, b *batch) (shown bool, retries time.Duration, err error) {
	began := time.Now()
	ctx, cancel := context.WithCancel(r.ctx)
	items := make(chan item, 64) // a response that arrives at once is handed over at once
	pumped := make(chan struct{})
	r.pumps.Go(func() {
		defer close(pumped)
		pump(ctx, r.a.Provider, req, items)
	})
	defer func() {
		cancel()
		if r.ctx.Err() == nil { // after an abort the pump's end is awaited with the turn's
			<-pumped
		}
	}()

	ids := make(map[string]bool)
	var late []*msg.ToolUse
	for {
		select {
		case it, ok := <-items:
			if !ok || it.err != nil {
				if it.err == nil {
					for _, u := range late {
						b.add(u)
					}
				}
				return shown, retries, it.err
			}
			if rt, ok := it.ev.(model.Retrying); ok {
				retries = time.Since(began) + rt.After
				r.emit(Retrying{rt})
				continue
			}
			var use *msg.ToolUse
			if done, ok := it.ev.(model.BlockDone); ok {
				if u, ok := done.Part.(*msg.ToolUse); ok {
					use = r.ownID(u, ids)
					done.Part = use
					it.ev = done
				}
			}
			acc.Add(it.ev)
			shown = true
			if use != nil && r.a.ToolsAfterStream {
				late = append(late, use)
			} else if use != nil {
				b.add(use)
			}
			r.emit(Delta{Attempt: n, Event: it.ev})
		case <-b.wake:
			r.emitAll(b.take())
		case <-r.ctx.Done():
			return shown, retries, context.Cause(r.ctx)
		}
	}
}

func pump(ctx context.Context, p model.Provider, req *model.Request, items chan<- item) {
	defer close(items)
	send := func(it item) bool {
		select {
		case items <- it:
			return true
		case <-ctx.Done():
			return false
		}
	}
	_, err := protect(func() (struct{}, error) {
		for ev, err := range p.Stream(ctx, req) {
			if !send(item{ev, err}) || err != nil {
				break
			}
		}
		return struct{}{}, nil
	})
	if err != nil {
		send(item{err: &model.Error{Kind: model.Unknown, Err: err}})
	}
}

// ownID returns u, with another id if its own is unusable or taken: results are matched by id.
func (r *run) ownID(u *msg.ToolUse, ids map[string]bool) *msg.ToolUse {
	if !msg.ValidID(u.ID) || ids[u.ID] || r.reader.conv.Uses(u.ID) {
		v := *u
		v.ID = r.newID()
		u = &v
	}
	ids[u.ID] = true
	return u
}

// discard drops an attempt: its calls are stopped, what was shown of it is void.
func (r *run) discard(n int, b *batch, why tool.Abort, shown bool) {
	r.flight = flight{}
	b.abort(why)
	if !b.empty() {
		<-b.done
		r.emitAll(b.take())
	}
	if shown {
		r.emit(Withdrawn{Attempt: n})
	}
}

func (r *run) book(s State, u msg.Usage, api, retries time.Duration) {
	r.budget.spent += u.Output
	if r.a.Meter != nil {
		r.a.Meter.Book(s.Model.ID, u, api, min(api, retries))
	}
}

// What the history says of an interruption by the person. Clients know these two sentences.
const (
	InterruptedStream = "[Request interrupted by user]"
	InterruptedTools  = "[Request interrupted by user for tool use]"
)

// aborted brings what is in flight into the history and returns the end of the turn.
func (r *run) aborted() *Ended {
	r.landFlight()
	if err := context.Cause(r.ctx); tool.IsFatal(err) {
		r.emit(Failed{Err: err})
		return &Ended{Reason: ModelError, Err: err}
	}
	return &Ended{Reason: AbortedStreaming, Detail: string(tool.AbortReason(r.ctx))}
}

// landFlight completes the history after an abort: the part of the answer that can be kept, a result
// for each of its calls, and the notice that the person interrupted.
func (r *run) landFlight() {
	f := r.flight
	r.flight = flight{}
	r.together(func() {
		switch {
		case f.batch == nil:
			r.recordNotice()
		case f.recorded:
			r.landCalls(f.batch)
		default:
			partial := f.acc.Partial()
			r.addMissing(f.batch, partial)
			if len(partial.Parts) > 0 {
				r.record(r.partialEntry(f.acc, partial))
			}
			r.landCalls(f.batch)
		}
	})
}

func (r *run) partialEntry(acc *model.Accumulator, partial msg.Message) msg.Entry {
	u, start := acc.Usage(), acc.Started()
	u.Estimated = true
	return msg.Entry{
		Message: partial, Aborted: true, Usage: &u,
		Model: r.state.Model.ID, ResponseID: start.ID, RequestID: start.RequestID,
	}
}

// landCalls stops the calls of b and records their results, or the notice if there are none.
func (r *run) landCalls(b *batch) {
	b.abort(tool.AbortReason(r.ctx))
	if b.empty() {
		r.recordNotice()
		return
	}
	<-b.done
	r.emitAll(b.take())
	r.recordResults(b)
}

// recordNotice tells the model that the person interrupted.
func (r *run) recordNotice() {
	if tool.AbortReason(r.ctx) == tool.AbortUser {
		r.record(msg.Entry{Message: msg.UserText(InterruptedStream)})
	}
}

// addMissing makes sure that b has every use of m, so that each gets its result.
func (r *run) addMissing(b *batch, m msg.Message) {
	b.mu.Lock()
	n := len(b.calls)
	b.mu.Unlock()
	if uses := m.Uses(); len(uses) > n {
		for _, u := range uses[n:] {
			b.add(u)
		}
	}
}

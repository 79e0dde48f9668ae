package agent

import (
	"context"
	"errors"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// An answer is a complete response and the batch that may already be running its calls.
type answer struct {
	attempt *attempt
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

// ask sends req until a complete answer arrives. A response that breaks off is withdrawn and
// requested again: once more as a stream, then without streaming, and then alternating, as
// often and for as long as the provider's retry policy allows.
func (r *run) ask(s State, req *model.Request, pool *tool.Pool) (answer, error) {
	r.retried = 0
	for try := 1; ; try++ {
		again := *req
		again.NoStream = whole(try)
		ans, err := r.attempt(s, &again, pool)
		if err == nil || r.ctx.Err() != nil || model.KindOf(err) != model.Broken {
			return ans, err
		}
		r.log.Warn("response broke off", "try", try, "err", err)
		if r.exhausted() != nil {
			return ans, err
		}
		if err := r.pause(try, try+r.retried, err); err != nil {
			return ans, err
		}
	}
}

// whole reports whether an attempt is made without streaming: an intermediary may break only
// streams.
func whole(try int) bool { return try >= 3 && try%2 == 1 }

// pause waits before the next attempt, given the number of broken attempts and of all failures.
// It returns an error if there must not be another attempt.
func (r *run) pause(tries, failures int, err error) error {
	p, ok := model.As[model.Retrier](r.a.Provider)
	switch {
	case ok:
		return p.Again(r.ctx, failures, err, func(rt model.Retrying) {
			rt.Whole = whole(tries + 1)
			r.emit(Retrying{rt})
		})
	case tries >= 3:
		return err
	}
	return nil
}

// An attempt is one try at streaming one response.
type attempt struct {
	r     *run
	n     int // attempt number within the turn
	req   *model.Request
	acc   *model.Accumulator
	batch *batch

	ids map[string]bool // tool-use IDs seen
	// prepared holds the tools whose calls have begun to arrive.
	prepared map[string]bool
	late     []*msg.ToolUse // uses deferred until the response ends
	shown    bool           // some of it was emitted
	began    time.Time
	retries  time.Duration // time the provider spent retrying
}

var errNoEnd = errors.New("the response ended without saying why")

// attempt sends req once. If it fails, the emitted deltas are withdrawn; if the turn is aborted
// during it, the response stays in flight for [run.aborted].
func (r *run) attempt(s State, req *model.Request, pool *tool.Pool) (answer, error) {
	r.attempts++
	at := &attempt{
		r: r, n: r.attempts, req: req, acc: &model.Accumulator{}, ids: make(map[string]bool),
		batch: newBatch(r.ctx, r.a, pool, r.sync), began: time.Now(),
	}
	r.emit(Requesting{Attempt: at.n, Model: req.Model})
	r.flight = inFlight{acc: at.acc, batch: at.batch}
	err := at.stream()
	stop, stopped := at.acc.Stop()
	if err == nil && !stopped {
		err = &model.Error{Kind: model.Broken, Err: errNoEnd}
	}
	usage := at.acc.Usage()
	usage.Estimated = usage.Estimated || err != nil
	r.budget.spent += usage.Output
	if r.a.Meter != nil {
		api := time.Since(at.began)
		r.a.Meter.Book(s.Model.ID, usage, api, min(api, at.retries))
	}
	switch {
	case r.ctx.Err() != nil:
		return answer{}, context.Cause(r.ctx)
	case err != nil:
		why := tool.AbortBroken
		if model.KindOf(err) == model.Overloaded && r.recovery.canFallBack() {
			why = tool.AbortFallback
		}
		at.discard(why)
		return answer{}, err
	}
	if r.a.Answered != nil {
		r.a.Answered(req, usage)
	}
	return answer{
		attempt: at, message: at.acc.Message(), start: at.acc.Started(), usage: usage, stop: stop, batch: at.batch,
	}, nil
}

type item struct {
	ev  model.Event
	err error
}

// stream receives one response. An iterator can't be used in a select, so a goroutine pumps its
// events into a channel while this one also receives from the tools and the abort.
func (at *attempt) stream() error {
	r := at.r
	ctx, cancel := context.WithCancel(r.ctx)
	items := make(chan item, 64) // buffered, so a fast response needs no handoff per event
	pumped := make(chan struct{})
	r.pumps.Go(func() {
		defer close(pumped)
		pump(ctx, r.a.Provider, at.req, items)
	})
	defer func() {
		cancel()
		if r.ctx.Err() == nil { // after an abort, the turn's end waits for the pump
			<-pumped
		}
	}()
	for {
		select {
		case it, ok := <-items:
			if it.err != nil {
				return it.err
			}
			if !ok {
				for _, u := range at.late {
					at.batch.add(u)
				}
				return nil
			}
			at.receive(it.ev)
		case <-at.batch.wake:
			r.emitAll(at.batch.take())
		case l := <-r.sides.labels:
			r.emit(l)
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
}

// prepare lets a tool prepare for a call that begins to arrive.
func (at *attempt) prepare(name string) {
	if at.prepared == nil {
		at.prepared = map[string]bool{}
	}
	at.prepared[name] = true
	if t, _, ok := at.batch.pool.Lookup(name); ok && t.Traits().Prepare != nil {
		at.r.pumps.Go(t.Traits().Prepare)
	}
}

// receive handles one event of the response.
func (at *attempt) receive(ev model.Event) {
	if rt, ok := ev.(model.Retrying); ok {
		at.retries = time.Since(at.began) + rt.After
		at.r.retried++
		at.r.emit(Retrying{rt})
		return
	}
	var use *msg.ToolUse
	if done, ok := ev.(model.BlockDone); ok {
		if u, ok := done.Part.(*msg.ToolUse); ok {
			use = at.ownID(u)
			done.Part = use
			ev = done
		}
	}
	if in, ok := ev.(model.InputDelta); ok && in.Name != "" && !at.prepared[in.Name] {
		at.prepare(in.Name)
	}
	at.acc.Add(ev)
	at.shown = true
	switch {
	case use != nil && at.r.a.ToolsAfterStream:
		at.late = append(at.late, use)
	case use != nil:
		at.batch.add(use)
	}
	at.r.emit(Delta{Attempt: at.n, Event: ev})
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

// ownID returns u, with a new ID if its own is invalid or taken, because results are matched by
// ID.
func (at *attempt) ownID(u *msg.ToolUse) *msg.ToolUse {
	if !msg.ValidID(u.ID) || at.ids[u.ID] || at.r.reader.conv.Uses(u.ID) {
		v := *u
		v.ID = "toolu_" + at.r.newID()
		u = &v
	}
	at.ids[u.ID] = true
	return u
}

// discard drops the attempt: it stops its calls and withdraws its deltas.
func (at *attempt) discard(why tool.Abort) {
	at.r.flight = inFlight{}
	at.batch.abort(why)
	if !at.batch.empty() {
		<-at.batch.done
		at.r.emitAll(at.batch.take())
	}
	if at.shown {
		at.r.emit(Withdrawn{Attempt: at.n})
	}
}

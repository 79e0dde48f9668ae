package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/hostapi"
)

// A thread is an open session.
type thread struct {
	*Conversation
	s    *server
	caps clientCapabilities
	id   string
	dir  string
	ctx  context.Context // done when the session is being closed
	stop context.CancelCauseFunc
	over chan struct{} // closed when all updates are sent
	asks sync.WaitGroup
	view view
	// after is the number of the last entry before the client knows the session: it may send a
	// prompt before the updates are followed.
	after session.Seq

	mu     sync.Mutex
	turn   *turn                   // the client's prompt; may be nil
	early  []string                // messages for the user from before the answer that opens the session
	opened bool                    // true once the answer is on its way
	open   map[string]openQuestion // open questions, by ID
	last   announced
}

// A turn is a prompt of the client, which is answered at the end of its turn.
type turn struct {
	prompt    string // ID of the prompt
	request   json.RawMessage
	ctx       context.Context // done when the prompt is cancelled
	cancel    context.CancelFunc
	cancelled bool
	submitted bool
	running   bool
}

func newThread(s *server, dir string) *thread {
	t := &thread{s: s, caps: *s.caps(), dir: dir, over: make(chan struct{}), open: map[string]openQuestion{}}
	t.ctx, t.stop = context.WithCancelCause(s.ctx)
	return t
}

// begin takes the conversation.
func (t *thread) begin(c *Conversation) {
	t.Conversation, t.id, t.after = c, c.Session.ID(), c.Session.Last()
	t.last = announced{mode: c.Commands.Permission.Mode(), options: t.options()}
	t.view = view{t: t}
	if c.OnComplete != nil {
		c.OnComplete(t.completed)
	}
}

// start sends the session's updates from now on. The answer that opens the session is on its
// way.
func (t *thread) start() {
	t.mu.Lock()
	if t.ctx.Err() != nil {
		t.mu.Unlock()
		return
	}
	early := t.early
	t.early, t.opened = nil, true
	t.Attend(true)
	if t.Ready != nil {
		t.asks.Go(func() {
			t.Ready(t.ctx)
			t.announce()
		})
	}
	t.mu.Unlock()
	for _, text := range early {
		t.notice("info", text)
	}
	t.announce()
	go func() {
		defer close(t.over)
		for e := range t.Session.Entries(context.WithoutCancel(t.ctx), t.after, session.Every) {
			t.s.conn.out.room(t.ctx)
			t.entry(e)
		}
	}()
}

// close interrupts the turn, denies open questions and closes the session.
func (t *thread) close() {
	t.mu.Lock()
	t.stop(tool.AbortShutdown)
	opened := t.opened
	t.Attend(false)
	t.mu.Unlock()
	t.interrupt(tool.AbortShutdown)
	t.Conversation.Close()
	if opened {
		<-t.over
	}
	t.asks.Wait()
	t.mu.Lock()
	turn := t.turn
	t.turn = nil
	t.mu.Unlock()
	if turn != nil { // never started
		t.s.untrack(turn.request)
		t.s.conn.respond(turn.request, promptResponse{"cancelled"}, nil)
	}
}

// interrupt stops the running turn and withdraws queued prompts.
func (t *thread) interrupt(cause tool.Abort) {
	t.Session.Interrupt(session.Interrupt{Queued: true, Cause: cause})
}

// busy reports whether a prompt of the client is running.
func (t *thread) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turn != nil
}

// say shows a message to the user as soon as the client knows the session.
func (t *thread) say(text string) {
	t.s.cfg.Say(text)
	t.mu.Lock()
	if !t.opened {
		t.early = append(t.early, text)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	t.notice("info", text)
}

// send sends an update.
func (t *thread) send(u any) { t.s.conn.out.add(update(t.id, u)) }

// text sends a piece of a message.
func (t *thread) text(kind, message, text string) {
	if text != "" {
		t.s.conn.out.text(t.id, kind, message, text)
	}
}

// notice shows a message outside the conversation, if the client has a place for it.
func (t *thread) notice(severity, text string) bool {
	if text = strings.TrimSpace(term.Sanitize(text)); t.caps.Session.Notices == nil || text == "" {
		return false
	}
	t.send(noticeUpdate{"notice", severity, text})
	return true
}

// prompt starts a turn. Sessions run one prompt of the client at a time.
func (s *server) prompt(m message) {
	var in promptRequest
	t, err := (*thread)(nil), decode(m.Params, &in)
	if err == nil {
		t, err = s.thread(in.SessionID)
	}
	var p session.Prompt
	if err == nil {
		p, err = promptOf(in.Prompt)
	}
	if err == nil {
		err = t.prompt(m.ID, p)
	}
	if err != nil {
		s.conn.respond(m.ID, nil, err)
	}
}

// prompt submits a prompt in the background: a command may take time to become a prompt.
func (t *thread) prompt(request json.RawMessage, p session.Prompt) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ctx.Err() != nil:
		return errorf(codeNotFound, "the session is closed")
	case t.turn != nil:
		return errorf(codeInvalid, "a prompt is running in this session; wait for its answer, or cancel it")
	}
	run := &turn{prompt: msg.NewID(), request: request}
	run.ctx, run.cancel = context.WithCancel(t.ctx)
	t.turn = run
	t.s.track(request, t.cancel)
	p.ID = run.prompt
	t.asks.Go(func() { t.submit(run, p) })
	return nil
}

// track makes a prompt cancellable by its request ID.
func (s *server) track(request json.RawMessage, cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[string(request)] = cancel
}

func (s *server) untrack(request json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, string(request))
}

func (t *thread) submit(run *turn, p session.Prompt) {
	p, command := hostapi.Interpret(run.ctx, t.Commands, p)
	var op session.Op = p
	if command != nil {
		op = command
	}
	t.mu.Lock()
	err := context.Cause(run.ctx)
	if !run.cancelled && err == nil {
		err = t.Session.Submit(t.ctx, op)
		run.submitted = err == nil
	}
	cancelled, submitted := run.cancelled, run.submitted
	t.mu.Unlock()
	switch {
	case submitted:
	case cancelled || errors.Is(err, context.Canceled):
		t.answer(run, promptResponse{"cancelled"}, nil)
	default:
		t.answer(run, nil, err)
	}
}

// answer answers a prompt, unless it was answered before.
func (t *thread) answer(run *turn, result any, err error) {
	t.mu.Lock()
	mine := t.turn == run
	if mine {
		t.turn = nil
	}
	t.mu.Unlock()
	if !mine {
		return
	}
	run.cancel()
	t.s.untrack(run.request)
	if t.ctx.Err() == nil {
		t.announce()
	}
	t.s.conn.respond(run.request, result, err)
}

// cancel cancels the client's prompt, or else a turn that runs without one. If nothing runs, it
// has no effect.
func (t *thread) cancel() {
	t.mu.Lock()
	run, submitted := t.turn, true
	if run != nil {
		run.cancelled = true
		submitted = run.submitted
	}
	t.mu.Unlock()
	if run != nil {
		run.cancel()
		if !submitted {
			return
		}
		if t.Session.Submit(t.ctx, session.Withdraw{ID: run.prompt}) == nil { // still queued
			t.answer(run, promptResponse{"cancelled"}, nil)
			return
		}
	}
	t.Session.Interrupt(session.Interrupt{Cause: tool.AbortUser})
}

// entry sends the updates of a session entry.
func (t *thread) entry(e session.Entry) {
	switch ev := e.Event.(type) {
	case session.Started:
		t.mu.Lock()
		run := t.turn
		if run != nil && run.prompt == ev.Prompt {
			run.running = true
		}
		t.mu.Unlock()
		t.view.begin(ev)
	case session.Loop:
		t.view.event(ev.Event)
	case session.Finished:
		t.finished(ev)
	case session.Asked:
		t.asked(ev)
	case session.Settled:
		t.settled(ev)
	case session.SubagentEvent:
		if done, ok := ev.Event.(agent.ToolDone); ok && t.view.calls[done.Use.ID] { // its question was shown
			t.view.done(done)
		}
	case session.Changed:
		t.announce()
	}
}

// finished ends a turn, and answers the client's prompt if it was that.
func (t *thread) finished(ev session.Finished) {
	t.mu.Lock()
	run := t.turn
	if run != nil && !run.running {
		run = nil
	}
	cancelled := run != nil && run.cancelled
	t.mu.Unlock()
	t.view.end(ev)
	reason, err := t.outcome(ev, cancelled)
	if run == nil {
		if err != nil {
			t.complain(err.Error())
		}
		t.announce()
		return
	}
	t.answer(run, reason, err)
}

// outcome returns the answer to the prompt of a turn.
func (t *thread) outcome(ev session.Finished, cancelled bool) (any, error) {
	stop := func(reason string) (any, error) { return promptResponse{reason}, nil }
	switch {
	case cancelled:
		return stop("cancelled")
	case ev.Local != nil:
		return stop("end_turn") // its text was sent
	case ev.Reason.OK() && ev.Stop == model.StopMaxTokens:
		return stop("max_tokens")
	case ev.Reason.OK() && ev.Stop == model.StopRefusal:
		return stop("refusal")
	case ev.Reason.OK():
		return stop("end_turn")
	case ev.Reason == agent.MaxTurnsReached:
		return stop("max_turn_requests")
	case ev.Err != nil:
		return nil, t.failure(ev.Err)
	case ev.Reason.Aborted() && t.ctx.Err() != nil:
		return stop("cancelled")
	}
	return stop("end_turn") // the detail was sent
}

// failure returns the error response for a failed turn.
func (t *thread) failure(err error) error {
	text := err.Error()
	if t.Explain != nil {
		text = t.Explain(err, t.Session.Model())
	}
	code := codeInternal
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.Auth {
		code = codeAuth
	}
	return &rpcError{code, text}
}

// complain shows a problem that has no answer to travel in.
func (t *thread) complain(text string) {
	if !t.notice("error", text) {
		t.text("agent_message_chunk", msg.NewID(), fmt.Sprintf("%s\n", text))
	}
}

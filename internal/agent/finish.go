package agent

import (
	"fmt"

	"adze/internal/model"
	"adze/internal/msg"
)

// finish decides how to proceed after an answer without calls. Usually the turn ends.
func (r *run) finish(s State, ans answer) (State, *Ended) {
	switch ans.stop {
	case model.StopPause:
		if end := s.capped(r.a.MaxTurns); end != nil {
			return s, end
		}
		return s.next(ToolUse), nil
	case model.StopRefusal:
		err := &model.Error{Kind: model.Refused, RequestID: ans.start.RequestID}
		r.emit(Failed{Err: err})
		return s, &Ended{Reason: ModelError, Err: err}
	}
	if next, end, ok := r.awaitPending(s); ok {
		return next, end
	}
	next, end, ok, done := r.missed(s, ans)
	if ok {
		return next, end
	}
	if next, end, ok := r.stopHooks(s, ans); ok {
		return next, end
	}
	nudge, reason := r.budget.decide()
	if nudge == "" {
		done.Reason = reason
		return s, &done
	}
	if end := s.capped(r.a.MaxTurns); end != nil {
		return s, end
	}
	r.remind(nudge)
	return s.next(TokenBudgetContinue), nil
}

// awaitPending waits for pending notifications, such as the end of a background task, and lets the
// model continue with them. The last result reports whether it decided.
func (r *run) awaitPending(s State) (State, *Ended, bool) {
	if r.a.Await == nil {
		return s, nil, false
	}
	end := s.capped(r.a.MaxTurns)
	if end == nil {
		end = r.obstacle()
	}
	// If no further request is allowed, it is enough to know whether one would be needed.
	more := r.a.Await(r.ctx, func() bool { return end != nil || !r.a.Inbox.empty() })
	switch {
	case r.ctx.Err() != nil:
		return s, r.aborted(), true
	case !more && r.a.Inbox.empty():
		return s, nil, false
	case end != nil:
		return s, end, true
	}
	r.record(msg.Entry{Message: msg.Message{Role: msg.User, Parts: r.a.Inbox.Take()}})
	return s.next(ToolUse), nil, true // same transition as after a call
}

// stopHooks runs the stop hooks. The last result reports whether a hook decided.
func (r *run) stopHooks(s State, ans answer) (State, *Ended, bool) {
	check := StopInput{Active: s.StopHookActive, Last: ans.message}
	var reasons []msg.Part
	var blocking string
	for _, h := range r.a.Stop {
		v, err := protect(func() (StopResult, error) { return h.Stop(r.ctx, check) })
		switch {
		case r.ctx.Err() != nil:
			return s, r.aborted(), true
		case err != nil:
			r.emit(Notice{Text: fmt.Sprintf("A stop hook failed and was ignored: %v", firstLine(err))})
		case v.Prevent != "":
			return s, &Ended{Reason: StopHookPrevented, Detail: v.Prevent}, true
		case v.Block != "":
			blocking = v.Hook
			reasons = append(reasons, &msg.Text{Text: "Stop hook feedback: " + v.Block})
		}
	}
	if len(reasons) == 0 {
		return s, nil, false
	}
	if r.hookRounds >= maxHookRounds {
		r.emit(Notice{Text: fmt.Sprintf("The stop hook %s blocked %d times in a row; the turn ends anyway.", blocking, r.hookRounds)})
		return s, &Ended{Reason: Completed}, true
	}
	if end := s.capped(r.a.MaxTurns); end != nil {
		return s, end, true
	}
	r.hookRounds++
	r.record(msg.Entry{Message: msg.Message{Role: msg.User, Parts: reasons}, Hidden: true})
	s.StopHookActive = true
	return s.next(StopHookBlocking), nil, true
}

// A tokenBudget keeps a turn going until it has used about its budget of output tokens.
type tokenBudget struct {
	limit, spent int
	continues    int
	mark         int // spent at the last decision
	small        int // consecutive answers below tinyAnswer
	closing      bool
}

const (
	budgetThreshold = 0.9
	tinyAnswer      = 500
)

// decide returns a text that makes the model continue, or the reason the turn ends.
func (b *tokenBudget) decide() (nudge string, reason Reason) {
	if b.limit <= 0 {
		return "", Completed
	}
	if b.spent-b.mark < tinyAnswer {
		b.small++
	} else {
		b.small = 0
	}
	b.mark = b.spent
	percent := b.spent * 100 / b.limit
	switch {
	case b.spent >= b.limit || b.closing:
		return "", Completed
	case b.continues >= 3 && b.small >= 2:
		return "", TokenBudgetDone
	case float64(b.spent) >= budgetThreshold*float64(b.limit):
		b.closing = true
		return fmt.Sprintf("%d %% of the token budget is used (%d of %d). Finish the work now.", percent, b.spent, b.limit), ""
	}
	b.continues++
	return fmt.Sprintf("%d %% of the token budget is used (%d of %d). Continue the work; there is room to do it thoroughly.", percent, b.spent, b.limit), ""
}

func firstLine(err error) string {
	s := err.Error()
	for i := range len(s) {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}

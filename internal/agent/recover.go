package agent

import (
	"errors"
	"fmt"

	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

// escalatedOutput is the highest output limit to retry with before an answer is continued in
// pieces.
const escalatedOutput = 64_000

// Limits on recovery attempts per turn.
const (
	maxResumes     = 3
	maxTruncations = 5
	maxHookRounds  = 8
)

const resumePrompt = "The output limit cut your answer off. Continue exactly where it was cut, without preamble or repetition, and split the rest into smaller parts."

// A recovery handles a turn's errors and remembers the methods already tried.
type recovery struct {
	*run
	memo        *Memo // never nil
	fellBack    bool
	stripped    bool // media were stripped in this turn
	truncations int
}

// handle decides how to proceed after a failed request. Recoverable errors are withheld: they are
// shown only when all recovery has failed.
func (r *recovery) handle(s State, req *model.Request, err error) (State, *Ended) {
	switch model.KindOf(err) {
	case model.Overloaded:
		if r.canFallBack() {
			return r.fallBack(s), nil
		}
	case model.TooLong, model.OverWindow:
		if r.a.Shortener != nil {
			r.a.Shortener.TooLong(err)
		}
		next, ok := r.shorten(s)
		switch {
		case r.ctx.Err() != nil:
			return s, r.aborted()
		case ok:
			return next, nil
		}
		err = r.tooLong(s, req, err)
		r.emit(Failed{Err: err})
		return s, &Ended{Reason: PromptTooLong, Err: err}
	case model.MediaTooLarge:
		if !r.stripped && !r.memo.NoMedia && hasMedia(req.Messages) {
			r.stripped, r.memo.NoMedia = true, true
			return s, nil
		}
		r.emit(Failed{Err: err})
		return s, &Ended{Reason: ImageError, Err: err}
	case model.BadSignature:
		if r.memo.Withheld.refused(err, req, s.Entries) {
			return s, nil
		}
	}
	r.emit(Failed{Err: err})
	return s, &Ended{Reason: ModelError, Err: err}
}

func (r *recovery) canFallBack() bool { return r.a.Fallback.ID != "" && !r.fellBack }

// fallBack continues the turn with the fallback model. The main model's reasoning is omitted
// from then on, because its signatures are not valid for another model.
func (r *recovery) fallBack(s State) State {
	r.fellBack, r.memo.FellBack = true, true
	r.emit(Notice{Text: fmt.Sprintf("%s is in high demand and not available; continuing with %s until the end of this turn.", s.Model.ID, r.a.Fallback.ID)})
	s.Model = r.a.Fallback
	return s
}

// noteMainRecovered notifies the user when the main model answers again after a turn on the fallback.
func (r *recovery) noteMainRecovered(s State) {
	if m := r.memo; m.FellBack && !r.fellBack {
		m.FellBack = false
		r.emit(Notice{Text: fmt.Sprintf("%s is available again.", s.Model.ID)})
	}
}

// shorten shortens the history after a request was too long, each time with the mildest
// remaining method.
func (r *recovery) shorten(s State) (State, bool) {
	if r.a.Shortener == nil {
		return s, false
	}
	if s.Transition != CollapseDrainRetry && s.Transition != ReactiveCompactRetry {
		drained, err := protect(func() (bool, error) { return r.a.Shortener.Drain(r.ctx) })
		if err != nil {
			r.log.Error("draining staged folds failed", "err", err)
		}
		if drained {
			return s.again(CollapseDrainRetry), true
		}
	}
	if !s.Compacted {
		s.Compacted = true
		c, err := protect(func() (Compacted, error) { return r.a.Shortener.Compact(r.ctx) })
		if err == nil {
			r.emit(c)
			return s.again(ReactiveCompactRetry), true
		}
		r.log.Error("compaction failed", "err", err)
	}
	if r.ctx.Err() != nil {
		return s, false
	}
	if r.truncations >= maxTruncations {
		return s, false
	}
	r.truncations++
	shorter, err := protect(func() (bool, error) { return r.a.Shortener.Truncate(r.ctx) })
	if err != nil {
		r.log.Error("truncating failed", "err", err)
	}
	return s.again(ReactiveCompactRetry), shorter
}

// tooLong returns an error that breaks down the request's size, so that the user knows which
// part to reduce.
func (r *recovery) tooLong(s State, req *model.Request, cause error) error {
	g := tokens.New(s.Model.ID)
	system, tools := g.Request(req.System, nil, nil), g.Request(nil, req.Tools, nil)
	messages := g.Request(nil, nil, req.Messages)
	text := fmt.Sprintf("the request does not fit into %s (window %d tokens): about %d tokens of system prompt, %d of tools, %d of conversation", s.Model.ID, s.Model.Window, system, tools, messages)
	e := &model.Error{Kind: model.TooLong, Input: system + tools + messages, Window: s.Model.Window, Message: text, Err: cause}
	var said *model.Error
	if !errors.As(cause, &said) {
		return e
	}
	e.Hint = said.Hint
	if said.Input > 0 && said.Window > 0 {
		e.Input, e.Output, e.Window = said.Input, said.Output, said.Window
	}
	return e
}

// cut handles an answer that was cut off. The last result reports whether it was.
func (r *recovery) cut(s State, ans answer) (State, *Ended, bool) {
	switch ans.stop {
	case model.StopMaxTokens:
	case model.StopContextExceeded:
		return r.cutByWindow(s, ans)
	default:
		return s, nil, false
	}
	if limit := min(escalatedOutput, s.Model.MaxOutput); r.a.MaxTokens == 0 && s.MaxTokens == 0 && limit > r.a.maxTokens(s) {
		ans.attempt.discard(tool.AbortBroken)
		s.MaxTokens = limit
		return s.again(OutputLimitEscalate), nil, true
	}
	if !ans.batch.empty() {
		return s, nil, false // its calls' results continue the turn
	}
	r.keep(s, ans)
	if s.Resumes >= maxResumes {
		err := &model.Error{Kind: model.Unknown, Message: fmt.Sprintf("the answer was cut off by the output limit of %d tokens %d times", r.a.maxTokens(s), s.Resumes+1)}
		r.emit(Failed{Err: err})
		return s, &Ended{Reason: ModelError, Err: err}, true
	}
	if end := s.capped(r.a.MaxTurns); end != nil {
		return s, end, true
	}
	r.record(msg.Entry{Message: msg.UserText(resumePrompt), Hidden: true})
	s.Resumes++
	return s.next(OutputLimitResume), nil, true
}

// cutByWindow handles an answer that filled the context window.
func (r *recovery) cutByWindow(s State, ans answer) (State, *Ended, bool) {
	if !ans.batch.empty() {
		return s, nil, false
	}
	if r.a.Shortener != nil {
		if next, ok := r.shorten(s); ok {
			ans.attempt.discard(tool.AbortBroken)
			return next, nil, true
		}
	}
	r.keep(s, ans)
	err := &model.Error{Kind: model.TooLong, Message: "the answer filled the context window"}
	r.emit(Failed{Err: err})
	return s, &Ended{Reason: PromptTooLong, Err: err}, true
}

// keep records an answer without calls.
func (r *run) keep(s State, ans answer) {
	r.flight = inFlight{}
	ans.batch.cancel(nil)
	if len(ans.message.Parts) > 0 {
		r.record(ans.entry(s))
	}
}

// capped returns the end of a turn that has used up its iterations, or nil.
func (s State) capped(limit int) *Ended {
	if limit <= 0 || s.Iteration < limit {
		return nil
	}
	return &Ended{Reason: MaxTurnsReached, Detail: "stopped after " + amount.Of(limit, "turn", "turns") + " (--max-turns)"}
}

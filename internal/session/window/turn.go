package window

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session/store"
)

// A Turn is the window during a turn with a model.
type Turn struct {
	*Window
	frame
	size int // counted size of the last request
}

// Turn returns the window for a turn with a model, or for work outside of turns. A nil window
// returns a nil Turn, which does not limit the conversation.
func (w *Window) Turn(m agent.Model, o agent.Options, p agent.Preamble) *Turn {
	if w == nil {
		return nil
	}
	limits := compact.Limits{Window: m.Window, MaxOutput: m.MaxOutput, Percent: w.cfg.Percent}
	return &Turn{Window: w, frame: frame{model: m, limits: limits, options: o, preamble: p, pool: w.conv.Pool, gauge: w.compact.Gauge(m.ID)}}
}

// Wire connects an agent to the window.
func (t *Turn) Wire(a *agent.Agent) {
	if t == nil {
		return
	}
	for _, s := range t.cfg.Steps {
		a.Steps = append(a.Steps, agent.Step{Name: s.Kind(), Do: func(_ context.Context, v agent.View) (agent.View, error) {
			v.Messages = t.apply(s, v.Messages, t.idle())
			return v, nil
		}})
	}
	a.Steps = append(a.Steps, agent.Step{Name: "compact", Do: t.fit})
	tell := a.Answered
	a.Answered = func(req *model.Request, u msg.Usage) {
		t.answered(req)
		if tell != nil {
			tell(req, u)
		}
	}
	if !t.cfg.Off {
		a.Shortener = t
	}
}

// End ends the turn. If no attempt made the conversation short enough for the provider, the
// conversation is restored, because another model may accept it.
func (t *Turn) End(why agent.Reason) {
	if t == nil {
		return
	}
	if why != agent.PromptTooLong {
		t.conv.History.Settle()
	} else {
		t.retreat()
	}
	if !t.cfg.LastTurn {
		t.note(true)
	}
}

// apply runs a step on the messages to send. Idle is the time since the model's last answer.
func (t *Turn) apply(s Step, messages []msg.Message, idle time.Duration) []msg.Message {
	given := messages
	var sent *model.Request
	if t.sent.matches(t.conv.History.Entries(), t.model) {
		sent = t.sent.request
	}
	messages, from := s.Apply(View{
		Messages: messages, Sent: sent, Gauge: t.gauge,
		Limit: t.limits.Auto(), TooLong: t.tooLong,
		Usable: t.limits.Usable(), Size: t.corrected, Bound: t.model.Bound,
		Idle: idle, Offered: t.offered, Clearable: t.clearable, Cleared: t.cfg.Cleared,
	})
	if from == Unchanged {
		return messages
	}
	t.keep(s)
	if w := t.conv.Withheld; w != nil && t.model.Bound {
		w.AddFrom(given[from:], t.conv.History.Entries())
	}
	return messages
}

// corrected returns the estimated size of a request with these messages, as the provider would
// count it.
func (t *Turn) corrected(messages []msg.Message) int { return t.gauge.Correct(t.count(messages)) }

// tooLong reports whether a request with these messages would trigger automatic summarization.
func (t *Turn) tooLong(messages []msg.Message) bool {
	return t.unasked() && t.corrected(messages) > t.limits.Auto()
}

// unasked reports whether the conversation is summarized before the provider rejects it as too
// long.
func (t *Turn) unasked() bool { return !t.cfg.Off && !t.cfg.Reactive }

// idle returns the time since the model's last answer.
func (t *Turn) idle() time.Duration {
	for _, e := range slices.Backward(t.conv.History.Entries()) {
		if e.Message.Role == msg.Assistant {
			return t.conv.Now().Sub(e.Time)
		}
	}
	return 0
}

// fit makes room before a request that would be too long. It runs last before a request.
func (t *Turn) fit(ctx context.Context, v agent.View) (agent.View, error) {
	entries := t.conv.History.Entries()
	t.learn(entries)
	t.note(false)
	t.size = t.count(v.Messages)
	t.last = request{entries: len(entries), counted: t.size}
	if len(entries) > 0 {
		t.last.first = entries[0].ID
	}
	v.Size = t.gauge.Correct(t.size)
	t.warn(v.Size)
	if !t.unasked() || v.Size <= t.limits.Auto() {
		return v, nil
	}
	seg, err := t.compact.Relieve(ctx, t.job(compact.Auto, ""), v.Size)
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	t.report(err)
	if seg == nil {
		v.Stuck = v.Size > t.limits.Block()
		return v, nil
	}
	v.Compacted = t.begin(seg, compact.Auto, "")
	return v, nil
}

// warn notifies the user, once per crossing, that the conversation is close to being
// summarized.
func (t *Turn) warn(size int) {
	l := t.limits
	late := size > l.Auto() && t.unasked()
	if size <= l.Warn() {
		t.warned = false
	}
	if size <= l.Warn() || late || t.warned {
		return
	}
	t.warned = true
	then := "It will be summarised when it has " + strconv.Itoa(l.Auto()) + "; /compact does it now."
	switch {
	case t.cfg.Off:
		then = "Nothing is summarised unasked here: /compact makes room, /clear starts over."
	case t.cfg.Reactive:
		then = "It will be summarised when the model takes no more; /compact does it now."
	}
	t.conv.Tell(agent.Notice{Text: fmt.Sprintf("The conversation has about %d of the %d tokens that %s can take in. %s", size, l.Usable(), t.model.ID, then), Warning: true})
}

// Summarise replaces a side of the conversation with a summary at the user's request; see
// [compact.Job].
func (t *Turn) Summarise(ctx context.Context, focus string, side compact.Side, at int) (agent.Compacted, error) {
	j := t.job(compact.Manual, focus)
	j.Side, j.At = side, at
	seg, err := t.compact.Compact(ctx, j)
	if err != nil {
		return agent.Compacted{}, err
	}
	return *t.begin(seg, compact.Manual, focus), nil
}

// Clear starts the conversation over at the user's request.
func (t *Turn) Clear() agent.Compacted {
	entries := t.conv.History.Entries()
	first := msg.Entry{
		ID: t.conv.NewID(), Time: t.conv.Now(), Hidden: true,
		Message: msg.Message{Role: msg.User, Parts: []msg.Part{msg.Reminder(cleared)}},
	}
	seg := &compact.Segment{Summary: first, Text: cleared, Before: t.count(conversation(entries))}
	seg.After = t.count(conversation(seg.Entries()))
	done := t.begin(seg, compact.Manual, "")
	done.Cleared = true
	return *done
}

// cleared is the start of a conversation after the user cleared it.
const cleared = "The user has cleared the conversation and starts over. Earlier messages are gone."

// Cleared reports whether e is the start of a conversation after the user cleared it.
func Cleared(e msg.Entry) bool {
	return e.Hidden && len(e.Message.Parts) == 1 && msg.PlainText(e.Message.Parts) == msg.PlainText([]msg.Part{msg.Reminder(cleared)})
}

// begin replaces the conversation with seg.
func (t *Turn) begin(seg *compact.Segment, trigger compact.Trigger, focus string) *agent.Compacted {
	t.conv.History.Restart(seg, t.boundary(seg, trigger, focus))
	return t.began(seg, trigger)
}

// attempt replaces the conversation with seg if the provider accepts it.
func (t *Turn) attempt(seg *compact.Segment) *agent.Compacted {
	if t.conv.History.Attempt(seg, t.boundary(seg, compact.Auto, "")) {
		t.save()
	}
	return t.began(seg, compact.Auto)
}

func (t *Turn) boundary(seg *compact.Segment, trigger compact.Trigger, focus string) store.Boundary {
	last := ""
	if entries := t.conv.History.Entries(); len(entries) > 0 {
		last = entries[len(entries)-1].ID
	}
	return store.Boundary{
		ID: t.conv.NewID(), Time: t.conv.Now(), Trigger: string(trigger), PreTokens: seg.Before, PostTokens: seg.After,
		Last: last, Summary: seg.Summary.ID, Kept: seg.KeptIDs(), Behind: seg.Last, Instructions: focus,
	}
}

// began updates the state after the conversation was replaced with seg.
func (t *Turn) began(seg *compact.Segment, trigger compact.Trigger) *agent.Compacted {
	t.fixed = 0 // the start of requests may have changed
	t.forget(t.model, seg.Entries())
	t.gauge.Forget()
	t.size = t.count(conversation(seg.Entries()))
	t.restart(seg)
	return &agent.Compacted{Before: seg.Before, After: seg.After, Manual: trigger == compact.Manual}
}

func (t *Turn) job(trigger compact.Trigger, focus string) compact.Job {
	entries := t.conv.History.Entries()
	req, told := t.request(entries)
	return compact.Job{
		Context: t.context(),
		Model:   t.model.ID, Limits: t.limits, System: t.preamble.System, Tools: t.tools(), UserID: t.conv.UserID,
		Sent: req, SentEntries: told, Entries: entries, Trigger: trigger, Focus: focus,
	}
}

// learn corrects the gauge by the usage that the provider reported for the last request.
func (t *Turn) learn(entries []msg.Entry) {
	at, counted := t.last.entries, t.last.counted
	if t.last == (request{}) { // the session was resumed
		for at = len(entries) - 1; at > 0 && (entries[at].Usage == nil || !entries[at].Time.After(entries[0].Time)); at-- {
		}
		counted = t.count(conversation(entries[:max(0, at)]))
	} else if len(entries) == 0 || entries[0].ID != t.last.first {
		return
	}
	if at <= 0 || at >= len(entries) || entries[at].Usage == nil || entries[at].Model != t.model.ID {
		return
	}
	if u := entries[at].Usage; !u.Estimated {
		t.gauge.Report(counted, u.Input+u.CacheRead+u.CacheWrite)
	}
}

// conversation converts entries to messages that a provider accepts.
func conversation(entries []msg.Entry) []msg.Message {
	var conv msg.Conversation
	for _, e := range entries {
		conv.Add(e.Message)
	}
	messages, _ := conv.Messages()
	return messages
}

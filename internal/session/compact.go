package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/session/notes"
	"adze/internal/session/store"
)

// A Compaction says how a session keeps its conversation within the context window. What is left zero
// is done without.
type Compaction struct {
	// Off leaves it to the person to compact: nothing is summed up unasked.
	Off bool
	// Percent of the usable window is where the conversation is summed up; 0 means the default.
	Percent int
	Micro   compact.Micro
	// Language is that of the texts for the model.
	Language   string
	Transcript func() string
	// Notes are kept beside the conversation, and take the place of a summary.
	Notes   *notes.Keeper
	Sources func(ctx context.Context) compact.Sources
	Hooks   compact.Hooks
	// Cleared is what an earlier process cleared from view; see [ClearedKind].
	Cleared []string
	// Done is called after a compaction, when what the model has seen is gone; nil means that nobody
	// wants to know.
	Done func()
}

// ClearedKind is the kind of the note that says which old results are no longer sent, under "keys".
const ClearedKind = "cleared-output"

// A Compacter is a [Log] that keeps compactions.
type Compacter interface {
	// Compact stores a boundary and the entries that follow it.
	Compact(b store.Boundary, then ...msg.Entry) error
}

// A room keeps the conversation within what the model can take in. It belongs to the worker.
type room struct {
	s       *Session
	cfg     Compaction
	compact *compact.Compactor
	clearer compact.Clearer
	clears  map[string]bool // whether results of a tool may be cleared
	sent    sent
	gaveUp  bool // and said so
	turn    *turnRoom
	noted   int // entries that the keeper of the notes has seen
}

// sent is what is known of the last request, so that its reported usage teaches the gauge.
type sent struct {
	first   string // ID of the first entry
	entries int
	counted int
}

func newRoom(s *Session, cfg Compaction) *room {
	r := &room{s: s, cfg: cfg, clears: map[string]bool{}}
	r.clearer = compact.Clearer{Micro: cfg.Micro, Clearable: r.clearable}
	r.clearer.Restore(cfg.Cleared)
	cc := compact.Config{
		Provider: s.cfg.Provider, Language: cfg.Language, Clearable: r.clearable, Transcript: cfg.Transcript,
		Sources: cfg.Sources, Hooks: cfg.Hooks, NewID: s.newID, Now: s.now,
		Booked: func(id string, u msg.Usage, took time.Duration) { s.ledger.Book(id, u, cost.Times{API: took}) },
		Asking: func() {
			s.feed.add(s.life, Loop{agent.Notice{Text: "The conversation is being summed up to make room."}}, false)
		},
	}
	if cfg.Notes != nil {
		cc.Notes = cfg.Notes
	}
	r.compact = compact.New(cc)
	return r
}

func (r *room) clearable(name string) bool {
	yes, known := r.clears[name]
	if !known {
		t, _, ok := r.s.pool().Lookup(name)
		yes = ok && t.Traits().Clearable
		r.clears[name] = yes
	}
	return yes
}

// A turnRoom is the room as one turn with one model sees it. It implements [agent.Shortener].
type turnRoom struct {
	*room
	model  agent.Model
	system []msg.Part
	before func() []msg.Part // what each request says before the conversation
	specs  []msg.ToolSpec    // as they were at first; an estimate needs them no newer
	size   int               // of the last request, counted
	fixed  int               // how much of it is the same in each request of the turn
}

// wire lets a turn keep to the window.
func (r *room) wire(a *agent.Agent) {
	t := &turnRoom{room: r, model: a.Model, system: a.System, before: a.Context}
	r.turn = t
	a.Steps.Micro = t.clear
	a.Steps.Compact = t.relieve
	if !r.cfg.Off {
		a.Shortener = t
	}
}

func (t *turnRoom) gauge() *tokens.Gauge { return t.compact.Gauge(t.model.ID) }

func (t *turnRoom) job(trigger compact.Trigger, focus string) compact.Job {
	return compact.Job{
		Context: t.context(),
		Model:   t.model.ID, Limits: t.limits(), System: t.system, Tools: t.tools(), UserID: t.s.cfg.UserID,
		Entries: t.s.hist.Entries(), Trigger: trigger, Focus: focus,
	}
}

func (t *turnRoom) context() []msg.Part {
	if t.before == nil {
		return nil
	}
	return t.before()
}

func (t *turnRoom) tools() []msg.ToolSpec {
	if t.specs == nil {
		t.specs = t.s.ToolSpecs()
	}
	return t.specs
}

// count returns the size of a request with these messages, before it is corrected.
func (t *turnRoom) count(messages []msg.Message) int {
	g := t.gauge()
	if t.fixed == 0 {
		t.fixed = g.Count(t.system, t.tools(), nil) + g.Count(t.context(), nil, nil)
	}
	return t.fixed + g.Count(nil, nil, messages)
}

func (t *turnRoom) limits() compact.Limits {
	return compact.Limits{Window: t.model.Window, MaxOutput: t.model.MaxOutput, Percent: t.cfg.Percent}
}

// clear clears old results from what is sent. What it clears is noted, so that a session that is
// resumed sends the same.
func (t *turnRoom) clear(_ context.Context, v agent.View) (agent.View, error) {
	var idle time.Duration
	entries := t.s.hist.Entries()
	for i := len(entries) - 1; i >= 0; i-- {
		if e := entries[i]; e.Message.Role == msg.Assistant {
			idle = t.s.now().Sub(e.Time)
			break
		}
	}
	var freed int
	v.Messages, freed = t.clearer.Clear(v.Messages, idle, t.gauge())
	if freed > 0 {
		t.s.note(store.Other{Kind: ClearedKind, Fields: map[string]any{"keys": t.clearer.Keys()}})
	}
	return v, nil
}

// relieve makes room before a request that would be too long.
func (t *turnRoom) relieve(ctx context.Context, v agent.View) (agent.View, error) {
	g, entries := t.gauge(), t.s.hist.Entries()
	t.learn(entries)
	t.size = t.count(v.Messages)
	t.sent = sent{entries: len(entries), counted: t.size}
	if len(entries) > 0 {
		t.sent.first = entries[0].ID
	}
	t.see(false)
	if t.cfg.Off || g.Correct(t.size) <= t.limits().Auto() {
		return v, nil
	}
	seg, err := t.compact.Relieve(ctx, t.job(compact.Auto, ""), g.Correct(t.size))
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	t.report(err)
	if seg == nil {
		v.Stuck = g.Correct(t.size) > t.limits().Block()
		return v, nil
	}
	v.Compacted = t.apply(seg, compact.Auto, "")
	return v, nil
}

// see lets the keeper of the notes see how far the conversation has come.
func (t *turnRoom) see(ended bool) {
	if t.cfg.Notes == nil {
		return
	}
	if m, ok := t.moment(); ok {
		m.Ended = ended
		t.cfg.Notes.See(m)
	}
}

func (t *turnRoom) moment() (notes.Moment, bool) {
	at := slices.IndexFunc(t.tools(), func(s msg.ToolSpec) bool { return s.Name == "Edit" })
	if at < 0 {
		return notes.Moment{}, false
	}
	entries := t.s.hist.Entries()
	m := notes.Moment{Model: t.model.ID, System: t.system, Entries: entries, Edit: t.tools()[at]}
	m.Tokens = t.gauge().Correct(max(0, t.size-t.fixed)) // the conversation was counted for the request
	for _, e := range entries[min(t.noted, len(entries)):] {
		m.Calls += len(e.Message.Uses())
	}
	t.noted = len(entries)
	return m, true
}

// ended says that the turn is over.
func (r *room) ended() {
	if r != nil && r.turn != nil {
		r.turn.see(true)
		r.turn = nil
	}
}

// learn corrects the gauge by what the provider reported of the last request.
func (t *turnRoom) learn(entries []msg.Entry) {
	at, counted := t.sent.entries, t.sent.counted
	if t.sent == (sent{}) { // the session was resumed
		for at = len(entries) - 1; at > 0 && (entries[at].Usage == nil || !entries[at].Time.After(entries[0].Time)); at-- {
		}
		var conv msg.Conversation
		for _, e := range entries[:max(0, at)] {
			conv.Add(e.Message)
		}
		messages, _ := conv.Messages()
		counted = t.count(messages)
	} else if len(entries) == 0 || entries[0].ID != t.sent.first {
		return
	}
	if at <= 0 || at >= len(entries) || entries[at].Usage == nil || entries[at].Model != t.model.ID {
		return
	}
	if u := entries[at].Usage; !u.Estimated {
		t.gauge().Report(counted, u.Input+u.CacheRead+u.CacheWrite)
	}
}

// report tells why there is no summary, where somebody should know.
func (t *turnRoom) report(err error) {
	if err == nil || errors.Is(err, compact.ErrNothing) {
		return
	}
	if t.s.cfg.Debug != nil {
		t.s.cfg.Debug.Warn("the conversation was not summed up", "err", err)
	}
	if t.compact.GivenUp() && !t.gaveUp {
		t.gaveUp = true
		t.tell(agent.Notice{Text: fmt.Sprintf("The conversation could not be summed up: %v. From now on its oldest messages are dropped instead; /compact tries again.", err)})
	}
}

func (t *turnRoom) tell(ev agent.Event) { t.s.feed.add(t.s.life, Loop{ev}, false) }

// apply makes seg the conversation.
func (t *turnRoom) apply(seg *compact.Segment, trigger compact.Trigger, focus string) *agent.Compacted {
	t.fixed = 0 // what each request begins with may be another
	t.s.hist.restart(seg, store.Boundary{
		ID: t.s.newID(), Time: t.s.now(), Trigger: string(trigger), PreTokens: seg.Before, PostTokens: seg.After,
		Last: t.s.hist.last(), Summary: seg.Summary.ID, Kept: seg.KeptIDs(), Instructions: focus,
	})
	t.gauge().Forget()
	t.sent, t.noted = sent{first: seg.Summary.ID}, 0
	if len(t.clearer.Keys()) > 0 {
		t.clearer.Restart()
		t.s.note(store.Other{Kind: ClearedKind, Fields: map[string]any{"keys": []string{}}})
	}
	if t.cfg.Done != nil {
		t.cfg.Done()
	}
	if seg.Text == "" {
		t.tell(agent.Notice{Text: "The oldest messages were dropped from what the model sees, to make room. The transcript keeps them."})
	}
	return &agent.Compacted{Before: seg.Before, After: seg.After, Manual: trigger == compact.Manual}
}

// TooLong implements [agent.Listener].
func (t *turnRoom) TooLong(err error) {
	var e *model.Error
	if errors.As(err, &e) && e.Kind == model.OverWindow && e.Input > 0 {
		t.gauge().Report(t.size, e.Input)
		return
	}
	t.gauge().AtLeast(t.size, t.limits().Usable())
}

// Drain implements [agent.Shortener]: nothing is ever staged.
func (t *turnRoom) Drain(context.Context) (bool, error) { return false, nil }

// Compact implements [agent.Shortener].
func (t *turnRoom) Compact(ctx context.Context) (agent.Compacted, error) {
	seg, err := t.compact.Compact(ctx, t.job(compact.Auto, ""))
	if err != nil {
		t.report(err)
		return agent.Compacted{}, err
	}
	return *t.apply(seg, compact.Auto, ""), nil
}

// Truncate implements [agent.Shortener]. It leaves about half of what there is, or as much more as
// there has to be: the provider knows better than the estimate what fits.
func (t *turnRoom) Truncate(ctx context.Context) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	j := t.job(compact.Auto, "")
	size := t.compact.Size(j)
	for _, budget := range []int{min(t.limits().Auto(), size/2), size * 3 / 4, size * 19 / 20} {
		if seg, ok := t.compact.Shorten(j, budget); ok {
			t.apply(seg, compact.Auto, "")
			return true, nil
		}
	}
	return false, nil
}

// compactNow carries out [Compact].
func (s *Session) compactNow(ctx context.Context, focus string, tell func(agent.Event)) {
	m, _, err := s.resolve()
	if err == nil && s.room == nil {
		err = errors.New("this session is not compacted")
	}
	if err != nil {
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
		return
	}
	t := &turnRoom{room: s.room, model: m}
	if s.cfg.Context != nil {
		t.before = func() []msg.Part { return s.cfg.Context(ctx) }
	}
	if s.cfg.System != nil {
		t.system, _ = s.cfg.System(ctx, m, s.ToolSpecs())
	}
	seg, err := t.compact.Compact(ctx, t.job(compact.Manual, focus))
	var blocked *compact.BlockedError
	switch {
	case ctx.Err() != nil:
		tell(agent.Ended{Reason: agent.AbortedStreaming})
	case errors.Is(err, compact.ErrNothing), errors.As(err, &blocked):
		tell(agent.Notice{Text: upper(err.Error()) + "."})
		tell(agent.Ended{Reason: agent.Completed})
	case err != nil:
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
	default:
		tell(*t.apply(seg, compact.Manual, focus))
		tell(agent.Ended{Reason: agent.Completed})
	}
}

// notesNow carries out [Notes].
func (s *Session) notesNow(ctx context.Context, tell func(agent.Event)) {
	m, _, err := s.resolve()
	text := ""
	if err == nil {
		if s.room == nil || s.room.cfg.Notes == nil {
			err = errors.New("no notes are kept of this session")
		} else {
			t := &turnRoom{room: s.room, model: m}
			if s.cfg.System != nil {
				t.system, _ = s.cfg.System(ctx, m, s.ToolSpecs())
			}
			var conv msg.Conversation
			for _, e := range s.hist.Entries() {
				conv.Add(e.Message)
			}
			messages, _ := conv.Messages()
			t.size = t.count(messages)
			if moment, ok := t.moment(); ok {
				text, err = s.room.cfg.Notes.Update(ctx, moment)
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		tell(agent.Ended{Reason: agent.AbortedStreaming})
	case err != nil:
		tell(agent.Failed{Err: err})
		tell(agent.Ended{Reason: agent.ModelError, Err: err})
	default:
		tell(agent.Notice{Text: text})
		tell(agent.Ended{Reason: agent.Completed})
	}
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

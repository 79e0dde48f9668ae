package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/aside"
	"adze/internal/agent/collapse"
	"adze/internal/agent/compact"
	"adze/internal/agent/snip"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/texts"
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
	// Reactive leaves it to the provider to say that a request is too long: before that nothing is summed
	// up unasked.
	Reactive bool
	Micro    compact.Micro
	// Language is that of the texts for the model.
	Language   texts.Language
	Transcript func() string
	// Notes are kept beside the conversation, and take the place of a summary; Keep is how much stays as it
	// is then. LastTurn says that nobody will be there to use what is noted after the turn.
	Notes    *notes.Keeper
	Keep     compact.Keep
	LastTurn bool
	// Tools are the names of tools that are made use of.
	Tools ToolNames
	// Snip and Folds are experiments; nil does without.
	Snip    *snip.Snipper
	Folds   *collapse.Folder
	Sources func(ctx context.Context) compact.Sources
	Hooks   compact.Hooks
	// Cleared is what an earlier process cleared from view; see [ClearedKind].
	Cleared []string
	// Done is called after a compaction, when what the model has seen is gone, except for the files that it
	// is told; nil means that nobody wants to know.
	Done func(restored []string)
}

// ToolNames names the tools that compaction makes use of if they are offered.
type ToolNames struct {
	Read string // offered with a request for a summary
	Edit string // with which the notes are edited
	Snip string // with which the model says what can be cut out
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
	tried   compact.Clearer // as it was before the provider found the conversation too long
	clears  map[string]bool // whether results of a tool may be cleared
	sent    sent
	gaveUp  bool // and said so
	warned  bool // that the window fills up
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
		Asker:    aside.Asker{Provider: s.cfg.Provider, Book: func(id string, u msg.Usage, took time.Duration) { s.ledger.Book(id, u, cost.Times{API: took}) }},
		Language: cfg.Language, Clearable: r.clearable, ReadTool: cfg.Tools.Read, Transcript: cfg.Transcript,
		Sources: cfg.Sources, Hooks: cfg.Hooks, Keep: cfg.Keep, NewID: s.newID, Now: s.now,
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

// close ends what is done in the background.
func (r *room) close() {
	if r.cfg.Notes != nil {
		r.cfg.Notes.Close()
	}
	if r.cfg.Folds != nil {
		r.cfg.Folds.Close()
	}
}

func (r *room) clearable(name string) bool {
	yes, known := r.clears[name]
	if !known {
		t, _, ok := r.s.Pool().Lookup(name)
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
	view   []msg.Message     // of the last request; the loop writes into it later
	first  msg.Message       // of view, as it was
	viewed int               // how many entries the history had then
	size   int               // of the last request, counted
	fixed  int               // how much of it is the same in each request of the turn
}

// wire lets a turn keep to the window.
func (r *room) wire(a *agent.Agent) {
	t := &turnRoom{room: r, model: a.Model, system: a.System, before: a.Context}
	r.turn = t
	if r.cfg.Snip != nil && slices.ContainsFunc(t.tools(), func(s msg.ToolSpec) bool { return s.Name == r.cfg.Tools.Snip }) {
		a.Steps.Snip = t.snip
	}
	a.Steps.Micro = t.clear
	if r.cfg.Folds != nil {
		a.Steps.Collapse = t.fold
	}
	a.Steps.Compact = t.relieve
	if !r.cfg.Off {
		a.Shortener = t
	}
}

func (t *turnRoom) gauge() *tokens.Gauge { return t.compact.Gauge(t.model.ID) }

func (t *turnRoom) job(trigger compact.Trigger, focus string) compact.Job {
	return compact.Job{
		Context: t.context(),
		Model:   t.model.ID, Limits: t.limits(), System: t.system, Tools: t.tools(), UserID: t.s.cfg.Loop.UserID,
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

// conversation returns entries as a provider accepts them.
func conversation(entries []msg.Entry) []msg.Message {
	var conv msg.Conversation
	for _, e := range entries {
		conv.Add(e.Message)
	}
	messages, _ := conv.Messages()
	return messages
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
	t.see(v.Messages)
	t.sent = sent{entries: len(entries), counted: t.size}
	if len(entries) > 0 {
		t.sent.first = entries[0].ID
	}
	t.note(false)
	v.Size = g.Correct(t.size)
	t.warn(v.Size)
	if t.cfg.Off || t.cfg.Reactive || v.Size <= t.limits().Auto() {
		return v, nil
	}
	seg, err := t.compact.Relieve(ctx, t.job(compact.Auto, ""), v.Size)
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	t.report(err)
	if seg == nil {
		v.Stuck = v.Size > t.limits().Block()
		return v, nil
	}
	v.Compacted = t.apply(seg, compact.Auto, "")
	return v, nil
}

// warn tells the person, once each time, that the conversation comes close to where it is summed up.
func (t *turnRoom) warn(size int) {
	l := t.limits()
	late := size > l.Auto() && !t.cfg.Off && !t.cfg.Reactive
	if size <= l.Warn() {
		t.warned = false
	}
	if size <= l.Warn() || late || t.warned {
		return
	}
	t.warned = true
	then := "It will be summed up when it has " + strconv.Itoa(l.Auto()) + "; /compact does it now."
	switch {
	case t.cfg.Off:
		then = "Nothing is summed up unasked here: /compact makes room, /clear starts anew."
	case t.cfg.Reactive:
		then = "It will be summed up when the model takes no more; /compact does it now."
	}
	t.tell(agent.Notice{Text: fmt.Sprintf("The conversation has about %d of the %d tokens that %s can take in. %s", size, l.Usable(), t.model.ID, then), Warning: true})
}

// ended says that the turn is over. If nothing made the conversation short enough for the provider, it
// is left as it was: somebody else may be able to take it in.
func (r *room) ended(why agent.Reason) {
	if r == nil || r.turn == nil {
		return
	}
	if why != agent.PromptTooLong {
		r.s.hist.settle()
	} else if r.s.hist.retreat() {
		r.clearer, r.sent = r.tried, sent{}
		r.turn.see(nil)
		r.turn.viewed = 0
		r.turn.tell(agent.Notice{Text: "The conversation was left as it was before this was tried."})
		r.s.note(store.Other{Kind: ClearedKind, Fields: map[string]any{"keys": append([]string{}, r.clearer.Keys()...)}})
	}
	if !r.cfg.LastTurn {
		r.turn.note(true)
	}
	r.turn = nil
}

// learn corrects the gauge by what the provider reported of the last request.
func (t *turnRoom) learn(entries []msg.Entry) {
	at, counted := t.sent.entries, t.sent.counted
	if t.sent == (sent{}) { // the session was resumed
		for at = len(entries) - 1; at > 0 && (entries[at].Usage == nil || !entries[at].Time.After(entries[0].Time)); at-- {
		}
		counted = t.count(conversation(entries[:max(0, at)]))
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
		t.tell(agent.Notice{Text: fmt.Sprintf("The conversation could not be summed up: %v. From now on its oldest messages are dropped instead; /compact tries again.", err), Warning: true})
	}
}

func (t *turnRoom) tell(ev agent.Event) { t.s.feed.add(t.s.life, Loop{ev}, false) }

// apply makes seg the conversation.
func (t *turnRoom) apply(seg *compact.Segment, trigger compact.Trigger, focus string) *agent.Compacted {
	t.s.hist.restart(seg, t.boundary(seg, trigger, focus))
	return t.begin(seg, trigger)
}

// try makes seg the conversation if the provider can take it in.
func (t *turnRoom) try(seg *compact.Segment) *agent.Compacted {
	if t.s.hist.before == nil {
		t.tried = t.clearer
	}
	t.s.hist.attempt(seg, t.boundary(seg, compact.Auto, ""))
	return t.begin(seg, compact.Auto)
}

func (t *turnRoom) boundary(seg *compact.Segment, trigger compact.Trigger, focus string) store.Boundary {
	return store.Boundary{
		ID: t.s.newID(), Time: t.s.now(), Trigger: string(trigger), PreTokens: seg.Before, PostTokens: seg.After,
		Last: t.s.hist.last(), Summary: seg.Summary.ID, Kept: seg.KeptIDs(), Behind: seg.Last, Instructions: focus,
	}
}

// begin takes note that the conversation is seg.
func (t *turnRoom) begin(seg *compact.Segment, trigger compact.Trigger) *agent.Compacted {
	t.fixed = 0 // what each request begins with may be another
	t.gauge().Forget()
	t.view, t.viewed = nil, 0 // the entries themselves are what is sent
	t.size = t.count(conversation(seg.Entries()))
	t.sent, t.noted, t.warned = sent{first: t.s.hist.Entries()[0].ID}, 0, false
	t.restartSteps()
	if len(t.clearer.Keys()) > 0 {
		t.clearer.Restart(seg)
		t.s.note(store.Other{Kind: ClearedKind, Fields: map[string]any{"keys": append([]string{}, t.clearer.Keys()...)}})
	}
	if t.cfg.Done != nil {
		t.cfg.Done(seg.Restored)
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

// Drain implements [agent.Shortener].
func (t *turnRoom) Drain(context.Context) (bool, error) { return t.drain(), nil }

// Compact implements [agent.Shortener].
func (t *turnRoom) Compact(ctx context.Context) (agent.Compacted, error) {
	seg, err := t.compact.Compact(ctx, t.job(compact.Auto, ""))
	if err != nil {
		t.report(err)
		return agent.Compacted{}, err
	}
	return *t.try(seg), nil
}

// Truncate implements [agent.Shortener]. It leaves about half of the conversation, or as much more as
// there has to be: the provider knows better than the estimate what fits.
func (t *turnRoom) Truncate(ctx context.Context) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	j := t.job(compact.Auto, "")
	fixed := t.compact.Fixed(j)
	said := t.compact.Size(j) - fixed
	for _, part := range []int{min(t.limits().Auto()-fixed, said/2), said * 3 / 4, said * 19 / 20} {
		if seg, ok := t.compact.Shorten(j, fixed+part); ok {
			t.tell(*t.try(seg))
			return true, nil
		}
	}
	return false, nil
}

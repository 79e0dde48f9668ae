package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// do runs a job, from its first entry to its last.
func (s *Session) do(ctx context.Context, j job) {
	if j.ID == "" || s.hist.has(j.ID) {
		j.ID = s.cfg.NewID()
	}
	began := s.cfg.Now()
	end := Finished{Before: s.ledger.Sum()}
	s.feed.add(ctx, Started{Prompt: j.ID, Note: j.note, Chore: j.hasOutput()}, false)
	tell := func(ev agent.Event) {
		if ended, ok := ev.(agent.Ended); ok {
			end.Ended = ended
			return
		}
		s.feed.add(ctx, Loop{ev}, live(ev))
	}
	if j.later != nil {
		j = s.resolve(ctx, j)
	}
	switch {
	case j.local != nil:
		end.Local, end.Ended = local(ctx, j.local)
		end.Local.Markdown = j.markdown
	case !made(ctx, &j, &end):
	case j.chore != nil:
		j.chore.run(ctx, tell)
	default:
		t := turn{Session: s, job: j, tell: tell}
		t.run(ctx)
		end.Withdrawn = s.queue.promptWithdrawn(j.ID) && end.Reason.Aborted() && t.withdrawPrompt()
	}
	if s.cfg.Listeners.Ended != nil && j.local == nil {
		s.cfg.Listeners.Ended(ctx, end.Ended)
	}
	s.prefs.set(func(p *preferences) { p.turn = Override{} })
	end.After, end.Denials, end.Took = s.ledger.Sum(), s.Denials(), s.cfg.Now().Sub(began)
	if !j.note || j.chore != nil {
		s.log.note(store.Cost{Ledger: s.ledger})
		if s.cfg.Listeners.Spent != nil {
			s.cfg.Listeners.Spent()
		}
	}
	s.feed.add(ctx, end, false)
}

// resolve evaluates a [Later] job and returns the resulting job.
func (s *Session) resolve(ctx context.Context, j job) job {
	op, err := j.later(ctx)
	now, ok := s.jobOf(op)
	if err == nil && (!ok || !now.hasOutput() || now.later != nil) {
		err = fmt.Errorf("%T does not take the place of a turn", op)
	}
	if err != nil {
		now = job{note: true, local: func(context.Context) (string, error) { return "", err }}
	}
	now.ID = j.ID
	return now
}

// made evaluates [Prompt.Make] when the turn starts, and reports whether there is a prompt.
func made(ctx context.Context, j *job, end *Finished) bool {
	if j.Make == nil {
		return true
	}
	p, err := j.Make(ctx)
	switch {
	case ctx.Err() != nil:
		end.Local, end.Ended = &Outcome{}, agent.Ended{Reason: agent.AbortedStreaming}
	case err != nil:
		end.Local, end.Ended = &Outcome{Err: err}, agent.Ended{Reason: agent.Completed}
	default:
		p.ID = j.ID
		j.Prompt = p
		return true
	}
	return false
}

// A turn is a user submission being processed.
type turn struct {
	*Session
	job        job
	userParts  []msg.Part // parts from the user
	inboxParts []msg.Part // parts that waited in the inbox
	tell       func(agent.Event)
}

// run runs the turn and reports its events, the last of which is [agent.Ended].
func (t *turn) run(ctx context.Context) {
	name, options := t.prefs.now()
	m, fallback, err := t.cfg.Models.resolve(name)
	if err != nil {
		t.tell(agent.Failed{Err: err})
		t.tell(agent.Ended{Reason: agent.ModelError, Err: err})
		return
	}
	said, before := t.job.Prompt, t.hist.Entries()
	t.userParts = said.Parts
	if blocked := t.runHooks(ctx); blocked != "" {
		t.tell(agent.Ended{Reason: agent.HookStopped, Detail: blocked})
		return
	}
	// Log the prompt before doing anything else.
	prompt := t.record(ctx)
	if t.job.note {
		t.tell(agent.Ended{Reason: agent.Completed})
		return
	}
	if t.cfg.Records.Files != nil {
		t.cfg.Records.Files.Begin(prompt)
		defer t.syncFiles()
	}
	a := t.agent(options, t.cfg.Preamble.make(ctx, m, t.ToolSpecs, t.hist.unbind(&t.memo.Withheld)))
	a.Model, a.Fallback = m, fallback
	if options.NamedBudget && !said.Quoted {
		a.TokenBudget = cmp.Or(agent.BudgetIn(said.own()), a.TokenBudget)
	}
	if t.cfg.Prefetch != nil {
		a.Prefetch = t.cfg.Prefetch(said, before)
	}
	a.Adjust = t.adjust(name)
	room := t.window.Turn(m, a.Options, a.Preamble)
	room.Wire(a)
	why := agent.Completed
	defer t.arriving.end()
	for ev := range a.Run(ctx, t.hist) {
		t.arriving.hear(ev, t.hist.last)
		if ended, ok := ev.(agent.Ended); ok {
			why = ended.Reason
		}
		t.account(ev)
		if text := t.hist.warning(); text != "" {
			t.tell(agent.Notice{Text: text})
		}
		t.tell(ev)
	}
	room.End(why)
}

// adjust returns a function that selects the model and effort of the next request. An override
// made during a turn applies to the rest of it; settings for later turns do not affect the
// running one.
func (t *turn) adjust(begun string) func(agent.Model, model.Effort) (agent.Model, model.Effort) {
	return func(m agent.Model, effort model.Effort) (agent.Model, model.Effort) {
		t.prefs.mu.Lock()
		now := t.prefs.turn
		t.prefs.mu.Unlock()
		if now.Model != "" && now.Model != begun {
			if other, err := t.cfg.Models.Resolve(now.Model); err == nil {
				m, begun = other, now.Model
			}
		}
		return m, cmp.Or(now.Effort, effort)
	}
}

// runPromptHooks runs the prompt hooks and adds their context. It returns the reason if the prompt is
// dropped.
func (t *turn) runHooks(ctx context.Context) (blocked string) {
	if t.job.heard || t.job.note || len(t.job.Parts) == 0 {
		return ""
	}
	h := runPromptHooks(ctx, t.cfg.PromptHooks, t.job.Prompt)
	for _, text := range h.Notices {
		t.tell(agent.Notice{Text: text})
	}
	if h.Blocked == "" && len(h.Context) > 0 {
		t.job.Parts = slices.Concat(t.job.Parts, h.Context)
	}
	return h.Blocked
}

// record appends the prompt and the contents of the inbox to the history, and returns its ID.
func (t *turn) record(ctx context.Context) string {
	parts := t.job.Parts
	if !t.job.note {
		t.inboxParts = t.queue.inbox.Take()
		parts = slices.Concat(parts, t.inboxParts)
	}
	e := msg.Entry{ID: t.job.ID, Time: t.cfg.Now(), Parent: t.hist.last(), Pasted: t.job.Pasted, Message: msg.Message{Role: msg.User, Parts: parts}}
	t.hist.Append(ctx, e) // ok: the history in memory never fails
	t.tell(agent.Appended{Entry: e})
	return e.ID
}

// withdrawInput removes the prompt from the conversation, unless something other than the interruption
// follows it. Its inbox contents go back to the inbox.
func (t *turn) withdrawPrompt() bool {
	entries := t.hist.Entries()
	at := slices.IndexFunc(entries, func(e msg.Entry) bool { return e.ID == t.job.ID })
	if at < 0 || slices.ContainsFunc(entries[at+1:], func(e msg.Entry) bool {
		return e.Message.Role != msg.User || msg.PlainText(e.Message.Parts) != agent.InterruptedStream
	}) {
		return false
	}
	t.hist.rewind(at)
	t.window.Rewound()
	t.cfg.Listeners.rewound()
	if len(entries[at].Message.Parts) > len(t.userParts) { // files may be attached
		t.cfg.Listeners.unseen()
	}
	t.queue.inbox.Return(t.inboxParts...)
	return true
}

// agent returns the agent that runs the turn.
func (t *turn) agent(o agent.Options, p agent.Preamble) *agent.Agent {
	a := &agent.Agent{
		Options:  o,
		Preamble: p,
		Provider: t.cfg.Provider,
		Executor: t.executor(p),
		Pool:     t.Pool,
		Stop:     t.cfg.Stops,
		Await:    t.cfg.Await,
		Inbox:    &t.queue.inbox,
		Meter:    meter{t.ledger},
		Memo:     &t.memo,
		Answered: t.cfg.Listeners.Answered,
		Log:      t.cfg.Debug,
		NewID:    t.cfg.NewID,
		Now:      t.cfg.Now,
	}
	if t.cfg.Goal != nil {
		a.Goal = t.cfg.Goal()
	}
	return a
}

// executor returns the executor for the turn's calls.
func (t *turn) executor(p agent.Preamble) *exec.Executor {
	ex := t.Executor()
	ex.Listed = func(name string) bool {
		return slices.ContainsFunc(p.List(t.ToolSpecs()), func(s msg.ToolSpec) bool { return s.Name == name })
	}
	return ex
}

// account records the calls and file changes of a loop event.
func (t *turn) account(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.ToolDone:
		t.ledger.AddTool(ev.Elapsed)
		for _, d := range tool.Diffs(ev.Display) {
			if !ev.Result.IsError {
				t.ledger.AddLines(d.Added, d.Removed)
			}
		}
	case agent.Appended:
		if t.cfg.Records.Files != nil && ev.Entry.Message.Role == msg.Assistant {
			t.cfg.Records.Files.Alias(ev.Entry.ID)
		}
	}
}

// syncFiles ends a turn of the file history and records the number of its changes, to detect a
// later loss at its end.
func (t *turn) syncFiles() {
	files := t.cfg.Records.Files
	if err := files.Sync(); err != nil {
		if t.cfg.Debug != nil {
			t.cfg.Debug.Error("syncing the file history failed", "err", err)
		}
		return
	}
	if n := files.Changed(); n != t.changed {
		t.changed = n
		t.log.note(store.Other{Kind: changesKind, Fields: map[string]any{"changes": n}})
	}
}

// changesKind is the kind of the note with the number of changes in the file history.
const changesKind = "file-history-state"

// FileChanges returns the number of changes that a session's file history had, according to its
// log.
func FileChanges(s store.State) int64 {
	var n struct{ Changes int64 }
	json.Unmarshal(s.Last[changesKind], &n) // ok: then it is unknown
	return max(0, n.Changes)
}

// A meter adapts the ledger to the loop.
type meter struct{ ledger *cost.Ledger }

func (m meter) Book(modelID string, u msg.Usage, api, retries time.Duration) {
	m.ledger.Book(modelID, u, cost.Times{API: api, Retries: retries})
}

func (m meter) Exhausted(limit float64) (spent float64, out bool) {
	return m.ledger.Exhausted(limit)
}

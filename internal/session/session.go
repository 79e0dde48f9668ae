// Package session manages a conversation over many turns: its history and log, cost, denials
// and model. Front ends submit operations to it and follow its entries. It runs one turn at a
// time with the agent loop.
package session

import (
	"context"
	"iter"
	"slices"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/agent/sidequery"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// A Session is a conversation. It is safe for concurrent use by any number of front ends.
type Session struct {
	cfg       Config // NewID and Now are set
	log       journal
	hist      *history
	feed      *feed
	queue     *queue
	questions questions
	prefs     preferences
	denials   denials
	ledger    *cost.Ledger
	changed   int64 // number of file changes recorded
	arriving  *partialAnswer
	memo      agent.Memo
	window    *window.Window // nil disables compaction
}

// WithheldKind is the kind of the note that lists, under "ids", the answers whose reasoning
// must not be sent again.
const WithheldKind = "withheld-thinking"

// Open returns a session whose turns end when ctx is done. Nothing is written before its first
// message. The first entries hold the history of a resumed session.
func Open(ctx context.Context, cfg Config) *Session {
	if cfg.ID == "" {
		cfg.ID = msg.NewID()
	}
	if cfg.NewID == nil {
		cfg.NewID = msg.NewID
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Session{
		cfg:    cfg,
		log:    journal{cfg.Records.Log, cfg.Debug},
		hist:   &history{entries: slices.Clip(cfg.Records.History), log: cfg.Records.Log},
		feed:   newFeed(cfg.Now),
		prefs:  preferences{model: cfg.Models.Main, loop: cfg.Loop},
		ledger: cfg.Records.Ledger,
	}
	if l, ok := cfg.Records.Log.(PartialLog); ok {
		s.arriving = &partialAnswer{log: l, newID: cfg.NewID, now: cfg.Now}
	}
	if s.ledger == nil {
		s.ledger = cost.New(func(string) cost.Facts { return cost.Facts{} })
	}
	tell := func(ev agent.Event) { s.feed.add(ctx, Loop{ev}, false) }
	s.queue = &queue{life: ctx, do: s.do, note: s.log.note, tell: tell}
	s.queue.inbox.News = cfg.Preamble.News
	if len(cfg.PromptHooks) > 0 {
		s.queue.hear = func(ctx context.Context, p Prompt) HookResult { return runPromptHooks(ctx, cfg.PromptHooks, p) }
	}
	s.memo.Withheld.Restore(cfg.Records.Withheld)
	s.memo.Withheld.Changed = func(ids []string) { s.log.note(store.Other{Kind: WithheldKind, Fields: map[string]any{"ids": ids}}) }
	if cfg.Window != nil {
		book := func(purpose, id string, u msg.Usage, took time.Duration) {
			s.ledger.BookAside(purpose, id, u, cost.Times{API: took})
		}
		s.window = window.New(*cfg.Window, window.Conversation{
			Withheld: &s.memo.Withheld,
			History:  s.hist, Asker: sidequery.Asker{Provider: cfg.Provider, Book: book}, Pool: s.Pool, UserID: cfg.Loop.UserID,
			Tell: tell, Note: s.log.note, NewID: cfg.NewID, Now: cfg.Now, Log: cfg.Debug,
		})
	}
	for _, e := range cfg.Records.History {
		tell(agent.Appended{Entry: e})
	}
	return s
}

// Close waits for the submitted turns and closes the entries. Later operations fail.
func (s *Session) Close() {
	s.queue.close()
	s.window.Close()
	s.feed.close()
}

// Entries yields the session's entries after a number, and follows them until ctx is done or
// the session is closed. Every reader gets every entry that is not live, even if it is slow.
func (s *Session) Entries(ctx context.Context, after Seq, pace Pace) iter.Seq[Entry] {
	return s.feed.follow(ctx, after, pace)
}

// Last returns the number of the last entry.
func (s *Session) Last() Seq { return s.feed.end() }

// Idle waits until no turn runs or is queued, or until ctx is done. Its entries may not have been
// read by then.
func (s *Session) Idle(ctx context.Context) error { return s.queue.wait(ctx) }

// Waiting returns the IDs of the queued prompts and other queued operations.
func (s *Session) Waiting() []string { return s.queue.waiting() }

// Interrupt executes op and returns the IDs of the prompts queued at that time. They stay
// queued, or are removed if op.Queued is set. A prompt whose turn was about to start is stopped
// and not included.
func (s *Session) Interrupt(op Interrupt) (waiting []string) { return s.queue.interrupt(op) }

// ID returns the session's UUID.
func (s *Session) ID() string { return s.cfg.ID }

// Conversation returns the history.
func (s *Session) Conversation() []msg.Entry { return s.hist.Entries() }

// Totals returns the cost of the session including all agents. Sum excludes the agents.
func (s *Session) Totals() cost.Totals { return s.ledger.Totals() }
func (s *Session) Sum() cost.Totals    { return s.ledger.Sum() }

// Denials returns the denied calls, in order.
func (s *Session) Denials() []Denial { return s.denials.all() }

// Model returns the name of the model the next turn uses.
func (s *Session) Model() string {
	name, _ := s.prefs.get()
	return name
}

// ToolSpecs returns the tools as the next request would offer them.
func (s *Session) ToolSpecs() []msg.ToolSpec { return s.Pool().Specs() }

// Executor returns the executor of this session's tools, which can also run calls that do not come from a model.
func (s *Session) Executor() *exec.Executor {
	ex := &exec.Executor{Gates: s.cfg.Gates, Denied: s.denials.add, Afters: s.cfg.Afters, Log: s.cfg.Debug}
	if s.cfg.Records.Log != nil {
		ex.Results = s.cfg.Records.Log
	}
	return ex
}

// Pool returns the current tools.
func (s *Session) Pool() *tool.Pool {
	var dynamic []tool.Tool
	if s.cfg.Tools.Dynamic != nil {
		dynamic = s.cfg.Tools.Dynamic()
	}
	p, problems := s.cfg.Tools.Assemble(dynamic, s.cfg.Tools.Denied)
	for _, problem := range problems {
		if s.cfg.Debug != nil {
			s.cfg.Debug.Warn("tool left out", "problem", problem.String())
		}
	}
	return p
}

// Package session holds a conversation over many turns: its history and log, what it has cost, what was
// denied, and which model it uses. It runs one turn at a time with the agent loop; it draws nothing and
// decides nothing about permissions.
package session

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A Config is what a session is made of. Provider, Tools, Permission, Model and Resolve are required.
type Config struct {
	ID       string
	Provider model.Provider
	Tools    *tool.Registry
	// Dynamic returns tools that come and go, such as those of servers; nil means none.
	Dynamic func() []tool.Tool
	// Denied removes tools from sight; nil means none.
	Denied     func(name string) bool
	Hooks      []tool.Gate
	Permission tool.Gate
	Afters     []tool.After

	// Model and Fallback are names as the user gives them; Resolve finds their limits.
	Model, Fallback string
	Resolve         func(name string) (agent.Model, error)
	// System assembles the system prompt at the start of each turn.
	System func(ctx context.Context, m agent.Model, tools []msg.ToolSpec) ([]msg.Part, []model.Mark)
	// Ledger books what responses cost; nil makes one that knows no prices.
	Ledger *cost.Ledger

	// Log keeps the transcript; nil keeps none.
	Log Log
	// Files keeps what files held before the turns changed them; nil keeps nothing.
	Files FileHistory
	// History is what an earlier session left.
	History []msg.Entry

	// Options of the loop; see [agent.Agent].
	MaxTurns         int
	MaxBudgetUSD     float64
	TokenBudget      int
	MaxTokens        int
	Concurrency      int
	ToolsAfterStream bool
	Effort           model.Effort
	Thinking         model.Thinking
	Raw              bool
	UserID           string
	Stop             []agent.Stopper

	Debug *slog.Logger
	// NewID and Now are replaced in tests.
	NewID func() string
	Now   func() time.Time
}

// A Log is the durable form of a session.
type Log interface {
	exec.Results
	// Append stores e before it returns. After an error the log tries again with the next entry.
	Append(e msg.Entry) error
	Sync() error
}

// A FileHistory binds changes of files to the messages that caused them.
type FileHistory interface {
	// Begin says that changes belong to this message of the person from now on.
	Begin(messageID string)
	// Alias says that this message, too, names the changes of the turn.
	Alias(messageID string)
	Sync() error
}

// A Denial is a call that was not allowed.
type Denial struct {
	Tool  string
	UseID string
	Input json.RawMessage
}

// A Session is one conversation. It is safe for concurrent use; turns wait for each other.
type Session struct {
	cfg    Config
	hist   *history
	ledger *cost.Ledger
	memo   agent.Memo
	inbox  agent.Inbox
	turn   chan struct{} // held by the turn that runs

	mu      sync.Mutex
	model   string
	denials []Denial
}

// New returns a session. Nothing is written before its first message.
func New(cfg Config) *Session {
	if cfg.ID == "" {
		cfg.ID = msg.NewID()
	}
	s := &Session{
		cfg:    cfg,
		hist:   &history{entries: slices.Clip(cfg.History), log: cfg.Log},
		ledger: cfg.Ledger,
		turn:   make(chan struct{}, 1),
		model:  cfg.Model,
	}
	if s.ledger == nil {
		s.ledger = cost.New(func(string) cost.Facts { return cost.Facts{} })
	}
	return s
}

// ID returns the session's UUID.
func (s *Session) ID() string { return s.cfg.ID }

// Entries returns the conversation so far.
func (s *Session) Entries() []msg.Entry { return s.hist.Entries() }

// Totals returns what the session has cost.
func (s *Session) Totals() cost.Totals { return s.ledger.Totals() }

// Denials returns the calls that were not allowed, in order.
func (s *Session) Denials() []Denial {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Denial(nil), s.denials...)
}

// Model returns the name of the model the next turn uses.
func (s *Session) Model() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// SetModel chooses the model of the following turns. The history stays as it is.
func (s *Session) SetModel(name string) error {
	if _, err := s.cfg.Resolve(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = name
	return nil
}

// ToolSpecs returns the tools as the next request would offer them.
func (s *Session) ToolSpecs() []msg.ToolSpec { return s.pool().Specs() }

// Queue adds to the turn that runs when its calls are done, or to the next one.
func (s *Session) Queue(parts ...msg.Part) { s.inbox.Say(parts...) }

// Waiting reports whether something was queued too late for the turn it was meant for. A prompt without
// content takes it up.
func (s *Session) Waiting() bool { return s.inbox.Waiting() }

// Steer is like Queue, but stops calls that give way to a new message.
func (s *Session) Steer(parts ...msg.Part) { s.inbox.Steer(parts...) }

// Prompt runs one turn with what the person said, and with what waits from [Session.Queue]. If another
// turn runs, it waits for its end. Without any content it starts nothing. The events are those of [agent.Agent.Run], after the entry of the
// prompt itself.
func (s *Session) Prompt(ctx context.Context, parts ...msg.Part) iter.Seq[agent.Event] {
	return func(yield func(agent.Event) bool) {
		if empty(parts) && !s.inbox.Waiting() {
			return
		}
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			yield(agent.Ended{Reason: agent.AbortedStreaming})
			return
		}
		defer func() { <-s.turn }()
		s.run(ctx, parts, yield)
	}
}

func (s *Session) run(ctx context.Context, parts []msg.Part, yield func(agent.Event) bool) {
	m, fallback, err := s.resolve()
	if err != nil {
		if yield(agent.Failed{Err: err}) {
			yield(agent.Ended{Reason: agent.ModelError, Err: err})
		}
		return
	}
	// What the person said is safe before anything else is tried.
	parts = slices.Concat(parts, s.inbox.Take())
	e := msg.Entry{ID: s.newID(), Time: s.now(), Parent: s.hist.last(), Message: msg.Message{Role: msg.User, Parts: parts}}
	s.hist.Append(ctx, e) // ok: a history in memory takes everything
	if !yield(agent.Appended{Entry: e}) {
		return
	}
	if s.cfg.Files != nil {
		s.cfg.Files.Begin(e.ID)
		defer s.syncFiles()
	}
	for ev := range s.agent(ctx, m, fallback).Run(ctx, s.hist) {
		switch ev := ev.(type) {
		case agent.ToolDone:
			s.ledger.AddTool(ev.Elapsed)
		case agent.Appended:
			if s.cfg.Files != nil && ev.Entry.Message.Role == msg.Assistant {
				s.cfg.Files.Alias(ev.Entry.ID)
			}
		}
		if text := s.hist.warning(); text != "" && !yield(agent.Notice{Text: text}) {
			return
		}
		if !yield(ev) {
			return
		}
	}
}

func (s *Session) syncFiles() {
	if err := s.cfg.Files.Sync(); err != nil && s.cfg.Debug != nil {
		s.cfg.Debug.Error("syncing the file history failed", "err", err)
	}
}

// resolve finds the models of a turn; they may have changed since the last.
func (s *Session) resolve() (m, fallback agent.Model, err error) {
	if m, err = s.cfg.Resolve(s.Model()); err != nil || s.cfg.Fallback == "" {
		return m, fallback, err
	}
	fallback, err = s.cfg.Resolve(s.cfg.Fallback)
	return m, fallback, err
}

// agent puts together what one turn is run with.
func (s *Session) agent(ctx context.Context, m, fallback agent.Model) *agent.Agent {
	a := &agent.Agent{
		Provider:         s.cfg.Provider,
		Executor:         s.Executor(),
		Pool:             s.pool,
		Model:            m,
		Fallback:         fallback,
		Effort:           s.cfg.Effort,
		Thinking:         s.cfg.Thinking,
		UserID:           s.cfg.UserID,
		MaxTokens:        s.cfg.MaxTokens,
		Raw:              s.cfg.Raw,
		MaxTurns:         s.cfg.MaxTurns,
		TokenBudget:      s.cfg.TokenBudget,
		Concurrency:      s.cfg.Concurrency,
		ToolsAfterStream: s.cfg.ToolsAfterStream,
		Stop:             s.cfg.Stop,
		Inbox:            &s.inbox,
		Meter:            meter{s.ledger, s.cfg.MaxBudgetUSD},
		Memo:             &s.memo,
		Log:              s.cfg.Debug,
		NewID:            s.cfg.NewID,
		Now:              s.cfg.Now,
	}
	if s.cfg.System != nil {
		a.System, a.Cache = s.cfg.System(ctx, m, s.ToolSpecs())
	}
	return a
}

// Executor returns what runs this session's tools, for calls that do not come from a model too.
func (s *Session) Executor() *exec.Executor {
	ex := &exec.Executor{
		Hooks:      s.cfg.Hooks,
		Permission: denialRecorder{s},
		Afters:     s.cfg.Afters,
		Log:        s.cfg.Debug,
	}
	if s.cfg.Log != nil {
		ex.Results = s.cfg.Log
	}
	return ex
}

// Pool returns the tools as they are now.
func (s *Session) Pool() *tool.Pool { return s.pool() }

func (s *Session) pool() *tool.Pool {
	var dynamic []tool.Tool
	if s.cfg.Dynamic != nil {
		dynamic = s.cfg.Dynamic()
	}
	p, problems := s.cfg.Tools.Assemble(dynamic, s.cfg.Denied)
	for _, problem := range problems {
		if s.cfg.Debug != nil {
			s.cfg.Debug.Warn("tool left out", "problem", problem.String())
		}
	}
	return p
}

// A denialRecorder keeps account of what the permission gate does not allow.
type denialRecorder struct{ s *Session }

func (d denialRecorder) Before(ctx context.Context, u *tool.Use) error {
	allowed := false
	defer func() { // a gate that panics has not allowed anything
		if !allowed {
			d.s.deny(u)
		}
	}()
	err := d.s.cfg.Permission.Before(ctx, u)
	allowed = err == nil && u.Verdict.Decision == tool.Allow
	return err
}

func (s *Session) deny(u *tool.Use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denials = append(s.denials, Denial{Tool: u.Name, UseID: u.ID, Input: u.Input})
}

// A meter is the ledger as the loop sees it.
type meter struct {
	ledger *cost.Ledger
	limit  float64
}

func (m meter) Book(modelID string, u msg.Usage, api, retries time.Duration) {
	m.ledger.Book(modelID, u, cost.Times{API: api, Retries: retries})
}

func (m meter) Exhausted() (spent, limit float64, out bool) {
	if m.limit <= 0 {
		return 0, 0, false
	}
	return m.ledger.Totals().CostUSD, m.limit, m.ledger.Exhausted(m.limit)
}

func (s *Session) newID() string {
	if s.cfg.NewID != nil {
		return s.cfg.NewID()
	}
	return msg.NewID()
}

func (s *Session) now() time.Time {
	if s.cfg.Now != nil {
		return s.cfg.Now()
	}
	return time.Now()
}

// empty reports whether parts hold nothing but white space.
func empty(parts []msg.Part) bool {
	for _, p := range parts {
		if t, ok := p.(*msg.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return false
		}
	}
	return true
}

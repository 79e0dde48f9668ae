// Package session holds a conversation over many turns: its history and log, what it has cost, what was
// denied, and which model it uses. Front ends hand it operations and follow its entries; it runs one
// turn at a time with the agent loop. It draws nothing and decides nothing about permissions.
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
	"adze/internal/session/store"
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
	// Context returns what goes before the first message of every request; nil means nothing. It is asked
	// for each of them, and returns the same parts unless the conversation begins anew.
	Context func(ctx context.Context) []msg.Part
	// Heard is told what the person says before it is stored; nil lets everything pass.
	Heard func(ctx context.Context, p Prompt) Hearing
	// Prefetch returns what to look up beside a turn, given what the person said and what was said before;
	// see [agent.Agent]. Nil means nothing.
	Prefetch func(p Prompt, before []msg.Entry) []func(context.Context) []msg.Part
	// Ended is told how each turn ended, before the session says so; nil means that nobody wants to know.
	Ended func(ctx context.Context, e agent.Ended)
	// Answered is told of each request of a turn that was answered; nil means that nobody wants to know.
	Answered func(req *model.Request, u msg.Usage)
	// Detach lets a command that is waited for go on in the background, and reports whether there was one;
	// nil means that there never is.
	Detach func() bool
	// SetMode chooses the permission mode and returns its name; nil leaves it as it is.
	SetMode func(mode string) (string, error)
	// Spent is told after each turn what the session has cost; nil means that nobody wants to know.
	Spent func(cost.Totals)
	// Ledger books what responses cost; nil makes one that knows no prices.
	Ledger *cost.Ledger

	// Log keeps the transcript; nil keeps none.
	Log Log
	// Files keeps what files held before the turns changed them; nil keeps nothing.
	Files FileHistory
	// History is what an earlier session left.
	History []msg.Entry

	// Compaction keeps the conversation within the context window; nil lets it grow.
	Compaction *Compaction

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
	// Goal makes what a turn has to come to, when it begins; nil means that no turn has any.
	Goal func() agent.Goal

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
	// Note stores something about the session, for when it is resumed.
	Note(n store.Note) error
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

// A Hearing is what became of something the person said.
type Hearing struct {
	// Context is added to what was said.
	Context []msg.Part
	// Blocked says why what was said is dropped; empty means that it is not.
	Blocked string
}

// A Session is one conversation. It is safe for concurrent use, by any number of front ends.
type Session struct {
	cfg    Config
	life   context.Context // of all turns; its end is theirs
	hist   *history
	feed   *feed
	ledger *cost.Ledger
	memo   agent.Memo
	inbox  agent.Inbox
	room   *room          // nil lets the conversation grow
	worker sync.WaitGroup // runs while there are jobs

	mu       sync.Mutex
	model    string
	effort   model.Effort
	thinking model.Thinking
	denials  []Denial
	jobs     []job
	asked    map[string]*pending
	busy     bool                    // a worker does the jobs
	idle     chan struct{}           // closed when the worker is done; nil before the first
	stop     context.CancelCauseFunc // of the turn that runs
	wake     bool                    // a notification must not wait for the person
	closed   bool
}

// Open returns a session whose turns last no longer than ctx. Nothing is written before its first
// message. What an earlier session left is in its first entries.
func Open(ctx context.Context, cfg Config) *Session {
	if cfg.ID == "" {
		cfg.ID = msg.NewID()
	}
	s := &Session{
		cfg:      cfg,
		life:     ctx,
		hist:     &history{entries: slices.Clip(cfg.History), log: cfg.Log},
		ledger:   cfg.Ledger,
		model:    cfg.Model,
		effort:   cfg.Effort,
		thinking: cfg.Thinking,
		asked:    map[string]*pending{},
	}
	s.feed = newFeed(s.now)
	if s.ledger == nil {
		s.ledger = cost.New(func(string) cost.Facts { return cost.Facts{} })
	}
	if cfg.Compaction != nil {
		s.room = newRoom(s, *cfg.Compaction)
	}
	for _, e := range cfg.History {
		s.feed.add(ctx, Loop{agent.Appended{Entry: e}}, false)
	}
	return s
}

// Close waits for the turns that were asked for and ends the entries. Operations after it fail.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.worker.Wait()
	if s.room != nil {
		s.room.close()
	}
	s.feed.close()
}

// Entries yields the session's entries after a number, and follows them until ctx is done or the
// session is closed. Every reader gets every entry that is not live, however slow it is.
func (s *Session) Entries(ctx context.Context, after Seq, pace Pace) iter.Seq[Entry] {
	return s.feed.follow(ctx, after, pace)
}

// Last returns the number of the last entry.
func (s *Session) Last() Seq { return s.feed.end() }

// Idle waits until no turn runs and none waits, or until ctx is done.
func (s *Session) Idle(ctx context.Context) error {
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Waiting returns the ids of the prompts that wait for their turns, and of what else waits for its own.
func (s *Session) Waiting() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return prompts(s.jobs)
}

// ID returns the session's UUID.
func (s *Session) ID() string { return s.cfg.ID }

// Conversation returns what was said so far.
func (s *Session) Conversation() []msg.Entry { return s.hist.Entries() }

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

func (s *Session) effortNow() model.Effort {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effort
}

func (s *Session) thinkingNow() model.Thinking {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thinking
}

// ToolSpecs returns the tools as the next request would offer them.
func (s *Session) ToolSpecs() []msg.ToolSpec { return s.pool().Specs() }

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
		Effort:           s.effortNow(),
		Thinking:         s.thinkingNow(),
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
		Answered:         s.cfg.Answered,
		Log:              s.cfg.Debug,
		NewID:            s.cfg.NewID,
		Now:              s.cfg.Now,
	}
	if s.cfg.Goal != nil {
		a.Goal = s.cfg.Goal()
	}
	if s.cfg.Context != nil {
		a.Context = func() []msg.Part { return s.cfg.Context(ctx) }
	}
	if s.cfg.System != nil {
		a.System, a.Cache = s.cfg.System(ctx, m, s.ToolSpecs())
	}
	if s.room != nil {
		s.room.wire(a)
	}
	return a
}

// Executor returns what runs this session's tools, for calls that do not come from a model too.
func (s *Session) Executor() *exec.Executor {
	ex := &exec.Executor{
		Permission: denialRecorder{s, s.cfg.Permission, allows},
		Afters:     s.cfg.Afters,
		Log:        s.cfg.Debug,
	}
	for _, g := range s.cfg.Hooks {
		ex.Hooks = append(ex.Hooks, denialRecorder{s, g, refrains})
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

// A denialRecorder keeps account of what a gate does not let pass.
type denialRecorder struct {
	s      *Session
	gate   tool.Gate
	passed func(context.Context, error, tool.Decision) bool
}

// allows is how the permission gate lets a use pass: nothing but its word counts.
func allows(_ context.Context, err error, d tool.Decision) bool { return err == nil && d == tool.Allow }

// refrains is how a hook does: it has not said no, or the turn ended before it counted.
func refrains(ctx context.Context, err error, d tool.Decision) bool {
	return ctx.Err() != nil || err == nil && d != tool.Deny
}

func (r denialRecorder) Before(ctx context.Context, u *tool.Use) error {
	passed := false
	defer func() { // a gate that panics has let nothing pass
		if !passed {
			r.s.deny(u)
		}
	}()
	err := r.gate.Before(ctx, u)
	passed = r.passed(ctx, err, u.Verdict.Decision)
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

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
	"adze/internal/agent/aside"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// A Config is what a session is made of. Provider, Models, Tools and a gate that allows something are
// required; all else may be zero. The session calls the functions of a Config from several goroutines, but
// those of one turn one after the other.
type Config struct {
	ID       string
	Provider model.Provider
	Models   Models
	Tools    Tools
	// Loop is the options of each turn. Effort and Thinking can be changed later; see [SetEffort].
	Loop     agent.Options
	Preamble Preamble

	// Hearers hear what the user says, Gates judge calls, Afters see their results, and Stops are asked when
	// the model has nothing more to do: each list in its order.
	Hearers []Hearer
	Gates   []exec.Gate
	Afters  []exec.After
	Stops   []agent.Stopper

	// Prefetch returns what to look up beside a turn, given what the user said and what was said before; see
	// [agent.Agent].
	Prefetch func(p Prompt, before []msg.Entry) []func(context.Context) []msg.Part
	// Goal makes what a turn has to come to, when it begins.
	Goal func() agent.Goal
	// Window keeps the conversation within the context window; nil lets it grow.
	Window *window.Config

	Controls  Controls
	Listeners Listeners
	Records   Records

	Debug *slog.Logger
	// NewID and Now are replaced in tests.
	NewID func() string
	Now   func() time.Time
}

// Models are the models a session uses.
type Models struct {
	// Main and Fallback are names as the user gives them; Fallback may be empty.
	Main, Fallback string
	// Resolve finds the limits of a model by its name.
	Resolve func(name string) (agent.Model, error)
}

// Tools are what the model can call.
type Tools struct {
	*tool.Registry
	// Dynamic returns tools that come and go, such as those of servers; it may be nil.
	Dynamic func() []tool.Tool
	// Denied removes tools from sight; it may be nil.
	Denied func(name string) bool
}

// A Preamble is what requests say before the conversation.
type Preamble struct {
	// System assembles the system prompt at the start of each turn; it may be nil.
	System func(ctx context.Context, m agent.Model, tools []msg.ToolSpec) ([]msg.Part, []model.Mark)
	// Context returns what goes before the first message; it may be nil. It is called for each request, and
	// returns the same parts until the conversation begins anew.
	Context func(ctx context.Context) []msg.Part
}

// A Hearer hears what the user says before it is stored. It may add to it, or block it: then the hearers
// after it do not hear it, and it is dropped.
type Hearer struct {
	Name string
	Hear func(ctx context.Context, p Prompt) Hearing
}

// A Hearing is what a hearer makes of what the user said.
type Hearing struct {
	// Context is added to what was said.
	Context []msg.Part
	// Blocked says why what was said is dropped; empty means that it is not.
	Blocked string
}

// Controls carry out operations that are not the session's own. All may be nil.
type Controls struct {
	// Detach lets a command that the turn waits for go on in the background, and reports whether there was
	// one.
	Detach func() bool
	// SetMode chooses the permission mode and returns its name.
	SetMode func(mode string) (string, error)
}

// Listeners are told what happens in a session. All may be nil.
type Listeners struct {
	// Answered is told of each request of a turn that was answered.
	Answered func(req *model.Request, u msg.Usage)
	// Ended is told how each turn ended, before the session says so.
	Ended func(ctx context.Context, e agent.Ended)
	// Spent is told after each turn what the session has cost.
	Spent func(cost.Totals)
}

// Records are what a session leaves, and what an earlier one left.
type Records struct {
	// Log keeps the transcript; nil keeps none.
	Log Log
	// Files keeps what files held before the turns changed them; nil keeps nothing.
	Files FileHistory
	// Ledger books what responses cost; nil makes one that knows no prices.
	Ledger *cost.Ledger
	// History is what an earlier session left.
	History []msg.Entry
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
	// Begin says that changes belong to this message of the user from now on.
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

// A Session is one conversation. It is safe for concurrent use, by any number of front ends.
type Session struct {
	cfg       Config
	life      context.Context // of all turns; its end is theirs
	hist      *history
	feed      *feed
	ledger    *cost.Ledger
	memo      agent.Memo
	inbox     agent.Inbox
	window    *window.Window // nil lets the conversation grow
	worker    sync.WaitGroup // runs while there are jobs
	questions questions

	mu      sync.Mutex
	model   string
	options agent.Options // of the next turn
	denials []Denial
	jobs    []job
	busy    bool                    // a worker does the jobs
	idle    chan struct{}           // closed when the worker is done; nil before the first
	stop    context.CancelCauseFunc // of the turn that runs
	wake    bool                    // a notification must not wait for the person
	closed  bool
}

// Open returns a session whose turns last no longer than ctx. Nothing is written before its first
// message. What an earlier session left is in its first entries.
func Open(ctx context.Context, cfg Config) *Session {
	if cfg.ID == "" {
		cfg.ID = msg.NewID()
	}
	s := &Session{
		cfg:     cfg,
		life:    ctx,
		hist:    &history{entries: slices.Clip(cfg.Records.History), log: cfg.Records.Log},
		ledger:  cfg.Records.Ledger,
		model:   cfg.Models.Main,
		options: cfg.Loop,
	}
	s.feed = newFeed(s.now)
	if s.ledger == nil {
		s.ledger = cost.New(func(string) cost.Facts { return cost.Facts{} })
	}
	if cfg.Window != nil {
		s.window = window.New(*cfg.Window, window.Conversation{
			History: s.hist, Asker: aside.Asker{Provider: cfg.Provider, Book: s.book}, Pool: s.Pool, UserID: cfg.Loop.UserID,
			Tell:  func(ev agent.Event) { s.feed.add(ctx, Loop{ev}, false) },
			Note:  s.note,
			NewID: s.newID, Now: s.now, Log: cfg.Debug,
		})
	}
	for _, e := range cfg.Records.History {
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
	s.window.Close()
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

// loop returns the options of the next turn.
func (s *Session) loop() agent.Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options
}

// ToolSpecs returns the tools as the next request would offer them.
func (s *Session) ToolSpecs() []msg.ToolSpec { return s.Pool().Specs() }

// resolve finds the models of a turn; they may have changed since the last.
func (s *Session) resolve() (m, fallback agent.Model, err error) {
	if m, err = s.cfg.Models.Resolve(s.Model()); err != nil || s.cfg.Models.Fallback == "" {
		return m, fallback, err
	}
	fallback, err = s.cfg.Models.Resolve(s.cfg.Models.Fallback)
	return m, fallback, err
}

// agent puts together what one turn is run with.
func (s *Session) agent(ctx context.Context, m, fallback agent.Model) *agent.Agent {
	a := &agent.Agent{
		Options:  s.loop(),
		Preamble: s.preamble(ctx, m),
		Provider: s.cfg.Provider,
		Executor: s.Executor(),
		Pool:     s.Pool,
		Model:    m,
		Fallback: fallback,
		Stop:     s.cfg.Stops,
		Inbox:    &s.inbox,
		Meter:    meter{s.ledger},
		Memo:     &s.memo,
		Answered: s.cfg.Listeners.Answered,
		Log:      s.cfg.Debug,
		NewID:    s.cfg.NewID,
		Now:      s.cfg.Now,
	}
	if s.cfg.Goal != nil {
		a.Goal = s.cfg.Goal()
	}
	return a
}

// preamble returns what the requests of a turn begin with.
func (s *Session) preamble(ctx context.Context, m agent.Model) (p agent.Preamble) {
	if f := s.cfg.Preamble.Context; f != nil {
		p.Context = func() []msg.Part { return f(ctx) }
	}
	if f := s.cfg.Preamble.System; f != nil {
		p.System, p.Cache = f(ctx, m, s.ToolSpecs())
	}
	return p
}

// Executor returns what runs this session's tools, for calls that do not come from a model too.
func (s *Session) Executor() *exec.Executor {
	ex := &exec.Executor{Gates: s.cfg.Gates, Denied: s.deny, Afters: s.cfg.Afters, Log: s.cfg.Debug}
	if s.cfg.Records.Log != nil {
		ex.Results = s.cfg.Records.Log
	}
	return ex
}

// Pool returns the tools as they are now.
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

func (s *Session) deny(u *tool.Use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denials = append(s.denials, Denial{Tool: u.Name, UseID: u.ID, Input: u.Input})
}

// A meter is the ledger as the loop sees it.
type meter struct{ ledger *cost.Ledger }

func (m meter) Book(modelID string, u msg.Usage, api, retries time.Duration) {
	m.ledger.Book(modelID, u, cost.Times{API: api, Retries: retries})
}

func (m meter) Exhausted(limit float64) (spent float64, out bool) {
	return m.ledger.Totals().CostUSD, m.ledger.Exhausted(limit)
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

// book books a response to a question beside the turns.
func (s *Session) book(modelID string, u msg.Usage, took time.Duration) {
	s.ledger.Book(modelID, u, cost.Times{API: took})
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

package session

import (
	"context"
	"log/slog"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// A Config holds the parts of a session. Provider, Models, Tools and a gate that allows something are
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

	// Hearers see prompts before they are stored, Gates judge calls, Afters see their results, and Stops are
	// called when the model has finished: each list in its order.
	Hearers []Hearer
	Gates   []exec.Gate
	Afters  []exec.After
	Stops   []agent.Stopper

	// Await waits for what the model was promised to hear of before a turn ends; see [agent.Agent].
	Await func(ctx context.Context, heard func() bool) (more bool)
	// Prefetch returns what to look up beside a turn, given what the user said and what was said before; see
	// [agent.Agent].
	Prefetch func(p Prompt, before []msg.Entry) []func(context.Context) []msg.Part
	// Goal returns the goal of a turn that begins; it may be nil.
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

// resolve finds the models of a turn that uses main; they may have changed since the last.
func (ms Models) resolve(main string) (m, fallback agent.Model, err error) {
	if m, err = ms.Resolve(main); err != nil || ms.Fallback == "" {
		return m, fallback, err
	}
	fallback, err = ms.Resolve(ms.Fallback)
	return m, fallback, err
}

// Tools are the tools of a session.
type Tools struct {
	*tool.Registry
	// Dynamic returns tools that come and go, such as those of servers; it may be nil.
	Dynamic func() []tool.Tool
	// Denied reports whether a tool is not offered; it may be nil.
	Denied func(name string) bool
}

// A Preamble is the part of requests before the conversation.
type Preamble struct {
	// Begin returns what requests to a model begin with, given the tools that can be called. It is called at the
	// start of each turn, and again when the tools change; it may be nil.
	Begin func(ctx context.Context, m agent.Model, tools []msg.ToolSpec) Beginning
	// Context returns the parts to put before the first message; it may be nil. It is called for each request,
	// and returns the same parts until the conversation starts over.
	Context func(ctx context.Context) []msg.Part
	// News returns what the model is to be told as soon as possible: with a prompt, or after calls. It may be nil.
	News func() []string
}

// A Beginning is what requests begin with.
type Beginning struct {
	System []msg.Part
	Cache  []model.Mark
	Tools  []msg.ToolSpec // those that are listed
	// Renewed says that earlier requests to the model may have begun otherwise.
	Renewed bool
}

// make returns the preamble of a turn. Renewed is called when requests begin otherwise than before.
func (p Preamble) make(ctx context.Context, m agent.Model, specs func() []msg.ToolSpec, renewed func(agent.Model)) (made agent.Preamble) {
	if p.Context != nil {
		made.Context = func() []msg.Part { return p.Context(ctx) }
	}
	if p.Begin == nil {
		return made
	}
	callable := specs()
	b := p.Begin(ctx, m, callable)
	if b.Renewed {
		renewed(m)
	}
	made.System, made.Cache = b.System, b.Cache
	made.Tools = func(now []msg.ToolSpec) []msg.ToolSpec {
		if len(now) == len(callable) && (len(now) == 0 || &now[0] == &callable[0]) {
			return b.Tools
		}
		callable = now
		if b = p.Begin(ctx, m, now); b.Renewed { // a tool was added; the turn keeps its system prompt
			renewed(m)
		}
		return b.Tools
	}
	return made
}

// A Hearer sees each prompt before it is stored. It may add to the prompt, or block it: then the prompt is dropped
// and the later hearers do not see it.
type Hearer struct {
	Name string
	Hear func(ctx context.Context, p Prompt) Hearing
}

// A Hearing is the answer of a hearer.
type Hearing struct {
	// Context is added to the prompt, and Notices are for the user.
	Context []msg.Part
	Notices []string
	// Blocked is the reason the prompt is dropped; empty means that it is not.
	Blocked string
}

// hear passes p to the hearers, until one of them blocks it.
func hear(ctx context.Context, hearers []Hearer, p Prompt) Hearing {
	var all Hearing
	for _, h := range hearers {
		one := h.Hear(ctx, p)
		all.Context = append(all.Context, one.Context...)
		all.Notices = append(all.Notices, one.Notices...)
		if all.Blocked = one.Blocked; all.Blocked != "" {
			break
		}
	}
	return all
}

// Controls implement operations on other parts of the program. All may be nil.
type Controls struct {
	// Detach moves a command that the turn waits for to the background, and reports whether there was one.
	Detach func() bool
	// SetMode chooses the permission mode and returns its name.
	SetMode func(mode string) (string, error)
}

// Listeners are functions that a session calls. All may be nil.
type Listeners struct {
	// Answered is called after each response of a turn.
	Answered func(req *model.Request, u msg.Usage)
	// Ended is called when a turn has ended, before its [Finished] entry.
	Ended func(ctx context.Context, e agent.Ended)
	// Rewound is called when the conversation went back: some of what the model was told is gone. Unseen is called when that
	// may be something of files.
	Rewound, Unseen func()
	// Spent is called after each turn with the session's totals.
	Spent func(cost.Totals)
}

func (l *Listeners) rewound() {
	if l.Rewound != nil {
		l.Rewound()
	}
}

func (l *Listeners) unseen() {
	if l.Unseen != nil {
		l.Unseen()
	}
}

// Records are where a session stores its history, and the history to resume.
type Records struct {
	// Log keeps the transcript; nil keeps none.
	Log Log
	// Files keeps the contents of files before turns change them; nil keeps nothing.
	Files FileHistory
	// Ledger books the cost of responses; nil means a new one without prices.
	Ledger *cost.Ledger
	// History is the history to resume, and Withheld what was noted as [WithheldKind].
	History  []msg.Entry
	Withheld []string
}

// A Log is the durable form of a session. It may be used from any goroutine.
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
	// Begin binds the following changes to this message of the user.
	Begin(messageID string)
	// Alias makes this message another name for the changes of the turn.
	Alias(messageID string)
	// Changed returns how many changes there were in all.
	Changed() int64
	Sync() error
}

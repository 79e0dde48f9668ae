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

// Config configures a Session. Provider, Models, Tools and a gate that allows something are
// required; everything else may be zero. The session calls the functions of a Config from
// several goroutines, but sequentially within a turn.
type Config struct {
	ID       string
	Provider model.Provider
	Models   Models
	Tools    Tools
	// Loop holds the options of each turn. Effort and Thinking can be changed later; see
	// [SetEffort].
	Loop     agent.Options
	Preamble Preamble

	// PromptHooks see prompts before they are stored, Gates check calls, Afters see call results,
	// and Stops run when the model has finished. Each list is called in order.
	PromptHooks []PromptHook
	Gates       []exec.Gate
	Afters      []exec.After
	Stops       []agent.StopHook

	// Await waits for background work whose result the model was promised, before a turn ends;
	// see [agent.Agent].
	Await func(ctx context.Context, heard func() bool) (more bool)
	// Prefetch returns lookups to run in the background of a turn, given the user's prompt and
	// the history before it; see [agent.Agent].
	Prefetch func(p Prompt, before []msg.Entry) []func(context.Context) []msg.Part
	// Goal returns the goal of a new turn; it may be nil.
	Goal func() agent.Goal
	// Window keeps the conversation within the context window; nil disables this.
	Window *window.Config

	Controls  Controls
	Listeners Listeners
	Records   Records

	Debug *slog.Logger
	// Tests replace NewID and Now.
	NewID func() string
	Now   func() time.Time
}

// Models are the models a session uses.
type Models struct {
	// Main and Fallback are model names as the user wrote them; Fallback may be empty.
	Main, Fallback string
	// Resolve returns the model with this name and its limits.
	Resolve func(name string) (agent.Model, error)
}

// resolve finds the models of a turn that uses main. They may have changed since the last turn.
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
	// Dynamic returns tools that can change, such as MCP tools; it may be nil.
	Dynamic func() []tool.Tool
	// Denied reports whether to withhold a tool; it may be nil.
	Denied func(name string) bool
}

// A Preamble is the part of a request before the conversation.
type Preamble struct {
	// Begin returns the start of requests to a model, given the callable tools. It is called at
	// the start of each turn, and again when the tools change; it may be nil.
	Begin func(ctx context.Context, m agent.Model, tools []msg.ToolSpec) RequestHead
	// Context returns the parts to put before the first message; it may be nil. It is called
	// for each request, and returns the same parts until the conversation is cleared.
	Context func(ctx context.Context) []msg.Part
	// News returns notifications to deliver to the model as soon as possible: with a prompt, or
	// after calls. It may be nil.
	News func() []string
}

// A RequestHead is the start of requests: system prompt, cache marks and tools.
type RequestHead struct {
	System []msg.Part
	Cache  []model.Mark
	Tools  []msg.ToolSpec // listed tools
	// Renewed reports that earlier requests to the model may have started differently.
	Renewed bool
}

// make returns the preamble of a turn. Renewed is called when requests start differently than
// before.
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
		if b = p.Begin(ctx, m, now); b.Renewed { // a tool was added; keep the turn's system prompt
			renewed(m)
		}
		return b.Tools
	}
	return made
}

// A PromptHook sees each prompt before it is stored. It may add to the prompt or block it. A
// blocked prompt is dropped and not passed to later prompt hooks.
type PromptHook struct {
	Name string
	Run  func(ctx context.Context, p Prompt) HookResult
}

// A HookResult is a prompt hook's result.
type HookResult struct {
	// Context is added to the prompt. Notices are shown to the user.
	Context []msg.Part
	Notices []string
	// Blocked is the reason for dropping the prompt; empty means the prompt is accepted.
	Blocked string
}

// runPromptHooks passes p to the prompt hooks until a prompt hook blocks it.
func runPromptHooks(ctx context.Context, hearers []PromptHook, p Prompt) HookResult {
	var all HookResult
	for _, h := range hearers {
		one := h.Run(ctx, p)
		all.Context = append(all.Context, one.Context...)
		all.Notices = append(all.Notices, one.Notices...)
		if all.Blocked = one.Blocked; all.Blocked != "" {
			break
		}
	}
	return all
}

// Controls implement operations on other parts of the program. Each may be nil.
type Controls struct {
	// Detach moves the command that the turn is waiting for to the background, and reports
	// whether there was one.
	Detach func() bool
	// SetMode sets the permission mode and returns its name.
	SetMode func(mode string) (string, error)
}

// Listeners are callbacks of a session. Each may be nil.
type Listeners struct {
	// Answered is called after each response of a turn.
	Answered func(req *model.Request, u msg.Usage)
	// Ended is called at the end of a turn, before its [Finished] entry.
	Ended func(ctx context.Context, e agent.Ended)
	// Rewound is called after a rewind, when part of the conversation has been removed. Unseen
	// is called when the removed part may include file contents.
	Rewound, Unseen func()
	// Spent is called after each turn that may have cost something.
	Spent func()
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

// Records holds the stores of a session and the history to resume.
type Records struct {
	// Log stores the transcript; nil disables it.
	Log Log
	// Files saves the contents of files before turns change them; nil disables this.
	Files FileHistory
	// Ledger records the cost of responses; nil means a new ledger without prices.
	Ledger *cost.Ledger
	// History is the history to resume. Withheld holds the notes of kind [WithheldKind].
	History  []msg.Entry
	Withheld []string
}

// A Log persists a session. It must be safe for concurrent use.
type Log interface {
	exec.Results
	// Append stores e before it returns. After an error the log retries with the next entry.
	Append(e msg.Entry) error
	// Note stores metadata about the session for resuming it.
	Note(n store.Note) error
	Sync() error
}

// A FileHistory associates file changes with the messages that caused them.
type FileHistory interface {
	// Begin associates subsequent changes with this user message.
	Begin(messageID string)
	// Alias makes this message another name for the turn's changes.
	Alias(messageID string)
	// Changed returns the total number of changes.
	Changed() int64
	Sync() error
}

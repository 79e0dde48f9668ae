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

	// Await waits for what the model was promised to hear of before a turn ends; see [agent.Agent].
	Await func(ctx context.Context, heard func() bool) (more bool)
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

// resolve finds the models of a turn that uses main; they may have changed since the last.
func (ms Models) resolve(main string) (m, fallback agent.Model, err error) {
	if m, err = ms.Resolve(main); err != nil || ms.Fallback == "" {
		return m, fallback, err
	}
	fallback, err = ms.Resolve(ms.Fallback)
	return m, fallback, err
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
	// returns the same parts until the conversation starts over.
	Context func(ctx context.Context) []msg.Part
}

// make returns what the requests of a turn begin with.
func (p Preamble) make(ctx context.Context, m agent.Model, specs func() []msg.ToolSpec) (made agent.Preamble) {
	if p.Context != nil {
		made.Context = func() []msg.Part { return p.Context(ctx) }
	}
	if p.System != nil {
		made.System, made.Cache = p.System(ctx, m, specs())
	}
	return made
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

// hear lets hearers hear p, until one of them blocks it.
func hear(ctx context.Context, hearers []Hearer, p Prompt) Hearing {
	var all Hearing
	for _, h := range hearers {
		one := h.Hear(ctx, p)
		all.Context = append(all.Context, one.Context...)
		if all.Blocked = one.Blocked; all.Blocked != "" {
			break
		}
	}
	return all
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

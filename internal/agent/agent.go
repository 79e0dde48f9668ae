// Package agent runs the loop: ask the model, run the tools it asks for, repeat. It runs one turn over a given
// history, and recovers from errors on the way. Permissions are left to the executor's gates, the sequence of
// turns and their log to the session, display to front ends.
package agent

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Options are the settings of a turn. The zero value is useful.
type Options struct {
	Effort   model.Effort
	Thinking model.Thinking
	// UserID identifies the user to the provider; it may be empty.
	UserID string
	// Raw asks for the provider's own events beside ours.
	Raw bool

	// MaxTurns caps the iterations, TokenBudget the output tokens of the turn, MaxBudgetUSD the cost of the
	// session; 0 means no cap.
	MaxTurns     int
	TokenBudget  int
	MaxBudgetUSD float64
	// NamedBudget lets a prompt name the token budget of its turn; see [BudgetIn].
	NamedBudget bool
	// MaxTokens is the output limit of a response. It is never raised; 0 leaves it to the model.
	MaxTokens int
	// Concurrency is how many calls may run at once, other than those that wait for agents; 0 means 10.
	Concurrency int
	// ToolsAfterStream runs tools only when the response is complete.
	ToolsAfterStream bool
	// Label returns in a line what a batch of calls did, or nothing. It is called beside the turn, which does not wait
	// for it; nil labels none.
	Label func(ctx context.Context, uses []*msg.ToolUse) string
	// Adjust returns the model and the effort of the next request, given those of the last; nil leaves them as they are.
	// While the fallback answers, the model stays.
	Adjust func(Model, model.Effort) (Model, model.Effort)
}

// A Preamble is the part of each request before the conversation.
type Preamble struct {
	System []msg.Part
	Cache  []model.Mark
	// Context returns the parts to put before the first message; it may be nil.
	Context func() []msg.Part
	// Tools returns the tools that a request lists, given those that can be called; nil lists these.
	Tools func([]msg.ToolSpec) []msg.ToolSpec
}

// List returns the tools that a request lists, given those that can be called.
func (p Preamble) List(callable []msg.ToolSpec) []msg.ToolSpec {
	if p.Tools == nil {
		return callable
	}
	return p.Tools(callable)
}

// An Agent holds the options and parts of one turn. Provider, Executor, Pool and Model are required; the other
// parts are optional.
type Agent struct {
	Options
	Preamble

	Provider model.Provider
	Executor *exec.Executor
	// Pool assembles the tools of the next request.
	Pool func() *tool.Pool
	// Model answers; Fallback takes its place for the rest of the turn when it is overloaded.
	Model    Model
	Fallback Model

	// Steps shorten the view of a request, in order. Shortener shortens the history when the provider rejects a
	// request as too long.
	Steps     []Step
	Shortener Shortener
	// Stop holds the stop hooks, which may send the model back to work, or end the turn.
	Stop []Stopper
	// Await waits, when the model has nothing more to do, until heard reports that there is something for
	// it, or ctx is done. It returns false when nothing more will come. Nil lets a turn end while something
	// runs beside it.
	Await func(ctx context.Context, heard func() bool) (more bool)
	// Goal is a result that the turn must produce; nil means that any last answer will do.
	Goal Goal
	// Inbox holds messages and notifications that arrive while the turn runs.
	Inbox *Inbox
	// Prefetch functions start with the turn; their results are added to the history after a batch of calls,
	// if they are ready by then.
	Prefetch []func(context.Context) []msg.Part
	// Meter books the cost of responses and reports when the budget is spent.
	Meter Meter
	// Memo carries state from one turn to the next; it may be nil.
	Memo *Memo

	// Log is the debug log; it may be nil.
	Log *slog.Logger
	// NewID and Now are replaced in tests; nil means random ids and the wall clock.
	NewID func() string
	Now   func() time.Time
	// Answered, if not nil, is called after each response, with its request and usage.
	Answered func(*model.Request, msg.Usage)
}

// A Model is a model and its limits.
type Model struct {
	ID string
	// Window is the context window, Output the first output limit to request, MaxOutput the highest that the
	// model supports; in tokens.
	Window, Output, MaxOutput int
	// Wider is what the user can do for a larger window, as a sentence without its full stop; it may be empty.
	Wider string
	// Bound says that the provider takes the model's reasoning back only behind exactly what was before it.
	Bound bool
}

// A History is the durable record of one conversation.
type History interface {
	// Entries returns the entries since the last compaction, oldest first. The slice is only ever
	// extended; its elements never change.
	Entries() []msg.Entry
	// Append stores e. It returns an error only if the history will not contain e.
	Append(ctx context.Context, e msg.Entry) error
}

// A Syncer is a History that can flush appended entries to stable storage. The loop calls Sync before a call
// that changes something, and at the end of the turn.
type Syncer interface{ Sync() error }

// A Keeper is a History that keeps the results of calls while others of the same answer still run: they are lost only if the
// machine fails, not if the process is killed. Keep is called from any goroutine, with an entry without an ID for each result.
// Appending the results of all calls replaces what was kept.
type Keeper interface{ Keep(e msg.Entry) error }

// A Shortener shortens a history that does not fit. The loop tries its methods in this order.
type Shortener interface {
	// TooLong is called with the provider's error for a request that is too long.
	TooLong(err error)
	// Drain commits folds that were staged, and reports whether there were any.
	Drain(ctx context.Context) (bool, error)
	// Compact replaces the history by a summary.
	Compact(ctx context.Context) (Compacted, error)
	// Truncate shortens the history without a model, and reports whether anything was removed.
	Truncate(ctx context.Context) (bool, error)
}

// A Stopper is a stop hook: it is called when the model has finished.
type Stopper interface {
	Stop(ctx context.Context, c StopCheck) (StopVerdict, error)
}

// A StopCheck is the input of a stop hook. Active says that one has already sent the model back.
type StopCheck struct {
	Active bool
	Last   msg.Message
}

// A StopVerdict is the answer of a stop hook. Block sends the model back to work with that reason, Prevent
// ends the turn with that reason; if both are empty, the turn ends normally.
type StopVerdict struct {
	Hook           string
	Block, Prevent string
}

// A Meter books usage. It is called from one goroutine.
type Meter interface {
	// Book adds a response: api is how long it took, retries the part spent on failed attempts and waiting.
	Book(modelID string, u msg.Usage, api, retries time.Duration)
	// Exhausted returns the cost so far, in USD, and reports whether it has reached the limit.
	Exhausted(limit float64) (spent float64, out bool)
}

// A Memo is state that one turn of a session leaves for the next.
type Memo struct {
	// NoMedia says that the provider rejected the images and documents of this conversation.
	NoMedia bool
	// FellBack says that the last turn ended on the fallback model.
	FellBack bool
	// Withheld are the answers whose reasoning is no longer sent.
	Withheld Withheld
}

// Run runs one turn: it continues h until the model stops asking for tools.
//
// Run appends a message to h before it yields the corresponding [Appended]. However the run ends
// (completion, error, cancelled ctx, caller breaking off or panicking), every tool use in h has
// exactly one result in h. [Ended] is yielded last and exactly once, unless the caller broke off.
// The cause of a cancelled ctx may be a [tool.Abort]; any other cause counts as an interruption by the user.
func (a *Agent) Run(ctx context.Context, h History) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		r := newRun(ctx, a, h, yield)
		defer r.close()
		r.turn(r.iterate)
	}
}

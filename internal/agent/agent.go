// Package agent runs the agent loop: it asks the model, runs the requested tools and repeats.
// It runs one turn over a given history and recovers from errors.
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

// Options configures a turn. The zero value is useful.
type Options struct {
	Effort   model.Effort
	Thinking model.Thinking
	// UserID identifies the user to the provider. It may be empty.
	UserID string
	// Raw requests the provider's own events in addition to ours.
	Raw bool

	// MaxTurns limits the iterations, TokenBudget the turn's output tokens, and MaxBudgetUSD
	// the session's cost. Zero means no limit.
	MaxTurns     int
	TokenBudget  int
	MaxBudgetUSD float64
	// NamedBudget lets a prompt set its turn's token budget; see [BudgetIn].
	NamedBudget bool
	// MaxTokens is the output limit of a response. It is never raised; 0 means the model's own
	// limits.
	MaxTokens int
	// Concurrency limits the calls running at the same time, not counting calls that wait for
	// agents; 0 means 10.
	Concurrency int
	// ToolsAfterStream delays tools until the response is complete.
	ToolsAfterStream bool
	// Label returns a one-line description of a batch of calls, or "". It is called in the
	// background and the turn does not wait for it. If nil, calls are not labeled.
	Label func(ctx context.Context, uses []*msg.ToolUse) string
	// Adjust returns the model and effort for the next request, given the current ones. If nil,
	// they don't change. The model is fixed while the fallback is in use.
	Adjust func(Model, model.Effort) (Model, model.Effort)
}

// A Preamble is the part of each request before the conversation.
type Preamble struct {
	System []msg.Part
	Cache  []model.Mark
	// Context returns the parts to insert before the first message. It may be nil.
	Context func() []msg.Part
	// Tools selects the tools a request lists from the callable ones. If nil, all are listed.
	Tools func([]msg.ToolSpec) []msg.ToolSpec
}

// List returns the tools that a request lists, given the callable ones.
func (p Preamble) List(callable []msg.ToolSpec) []msg.ToolSpec {
	if p.Tools == nil {
		return callable
	}
	return p.Tools(callable)
}

// An Agent holds a turn's options and dependencies. Provider, Executor, Pool and Model are
// required; the others are optional.
type Agent struct {
	Options
	Preamble

	Provider model.Provider
	Executor *exec.Executor
	// Pool returns the tools for the next request.
	Pool func() *tool.Pool
	// Fallback replaces Model for the rest of the turn when Model is overloaded.
	Model    Model
	Fallback Model

	// Steps shorten the view for a request, in order. Shortener shortens the history when the
	// provider rejects a request as too long.
	Steps     []Step
	Shortener Shortener
	// Stop holds the stop hooks, which can send the model back to work or end the turn.
	Stop []StopHook
	// Await is called when the model has nothing more to do. It waits until heard returns true
	// or ctx is done, and returns false if nothing more will come. If nil, a turn can end while
	// background work is running.
	Await func(ctx context.Context, heard func() bool) (more bool)
	// Goal is a result that the turn must produce. If nil, any final answer will do.
	Goal Goal
	// Inbox holds messages and notifications that arrive while the turn runs.
	Inbox *Inbox
	// Prefetch functions start with the turn. Their results are added to the history after a
	// batch of calls if they are ready by then.
	Prefetch []func(context.Context) []msg.Part
	// Meter records the cost of responses and reports when the budget is exhausted.
	Meter Meter
	// Memo carries state from one turn to the next. It may be nil.
	Memo *Memo

	// Log is the debug log. It may be nil.
	Log *slog.Logger
	// NewID and Now are overridden in tests. If nil, IDs are random and the wall clock is used.
	NewID func() string
	Now   func() time.Time
	// Answered, if non-nil, is called after each response with its request and usage.
	Answered func(*model.Request, msg.Usage)
}

// A Model is a model and its limits.
type Model struct {
	ID string
	// Window is the context window, Output the output limit to request first, and MaxOutput the
	// model's maximum, all in tokens.
	Window, Output, MaxOutput int
	// Wider tells the user how to get a larger window, as a sentence without a full stop. It
	// may be empty.
	Wider string
	// Bound is true if the provider accepts the model's reasoning only after exactly the same
	// preceding content.
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

// A Keeper is a History that stores call results while other calls of the same answer are still
// running: they are lost only if the machine fails, not if the process is killed. Keep may be
// called from any goroutine, with an entry without an ID for each result. Appending the results
// of all calls replaces the stored ones.
type Keeper interface{ Keep(e msg.Entry) error }

// A Shortener shortens a history that does not fit. The loop tries its methods in this order.
type Shortener interface {
	// TooLong is called with the provider's error when a request is too long.
	TooLong(err error)
	// Drain commits staged folds and reports whether there were any.
	Drain(ctx context.Context) (bool, error)
	// Compact replaces the history with a summary.
	Compact(ctx context.Context) (Compacted, error)
	// Truncate shortens the history without a model, and reports whether anything was removed.
	Truncate(ctx context.Context) (bool, error)
}

// A StopHook is a stop hook: it is called when the model has finished.
type StopHook interface {
	Stop(ctx context.Context, c StopInput) (StopResult, error)
}

// A StopInput is the input to a stop hook. Active is true if a hook has already sent the model
// back.
type StopInput struct {
	Active bool
	Last   msg.Message
}

// A StopResult is the result of a stop hook. Block sends the model back to work with that
// reason, and Prevent ends the turn with that reason. If both are empty, the turn ends
// normally.
type StopResult struct {
	Hook           string
	Block, Prevent string
}

// A Meter records usage. It is called from one goroutine.
type Meter interface {
	// Book adds a response: api is its duration, retries the part spent on failed attempts and
	// waiting.
	Book(modelID string, u msg.Usage, api, retries time.Duration)
	// Exhausted returns the cost so far, in USD, and reports whether it has reached the limit.
	Exhausted(limit float64) (spent float64, out bool)
}

// A Memo is state carried from one turn of a session to the next.
type Memo struct {
	// NoMedia is true if the provider rejected this conversation's images and documents.
	NoMedia bool
	// FellBack is true if the last turn ended on the fallback model.
	FellBack bool
	// WithheldReasoning tracks the answers whose reasoning must not be sent again.
	Withheld WithheldReasoning
}

// Run runs one turn: it continues h until the model stops requesting tools.
//
// Run appends a message to h before it yields the corresponding [Appended]. However the run
// ends (completion, error, canceled ctx, caller breaking off or panicking), every tool use in h
// has exactly one result in h. [Ended] is yielded last and exactly once, unless the caller
// broke off. The cause of a canceled ctx may be a [tool.Abort]; any other cause counts as an
// interruption by the user.
func (a *Agent) Run(ctx context.Context, h History) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		r := newRun(ctx, a, h, yield)
		defer r.close()
		r.turn(r.iterate)
	}
}

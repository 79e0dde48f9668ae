// Package agent runs the loop: ask the model, run the tools it asks for, repeat. It carries out one
// turn over a history it is given, and recovers from what can go wrong on the way. What a tool may do
// is left to the executor's gates, many turns and their log to the session, display to front ends.
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

	// MaxTurns caps the iterations, TokenBudget the output tokens of the turn, MaxBudgetUSD what the session
	// costs; 0 means no cap.
	MaxTurns     int
	TokenBudget  int
	MaxBudgetUSD float64
	// MaxTokens is the output limit of a response. It is never raised; 0 leaves it to the model.
	MaxTokens int
	// Concurrency is how many calls may run at once; 0 means 10.
	Concurrency int
	// ToolsAfterStream runs tools only when the response is complete.
	ToolsAfterStream bool
}

// A Preamble is what each request says before the conversation.
type Preamble struct {
	System []msg.Part
	Cache  []model.Mark
	// Context returns what goes before the first message; it may be nil.
	Context func() []msg.Part
}

// An Agent is what one turn is run with: its options and its parts. Provider, Executor, Pool and Model are
// required; a turn does without the other parts if they are zero.
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

	// Steps shorten what is sent, in order. Shortener makes room when the provider says it is too long.
	Steps     []Step
	Shortener Shortener
	// Stop hooks may send the model back to work, or forbid it to go on.
	Stop []Stopper
	// Await waits, when the model has nothing more to do, until heard reports that there is something for
	// it, or ctx is done. It returns false when nothing more will come. Nil lets a turn end while something
	// runs beside it.
	Await func(ctx context.Context, heard func() bool) (more bool)
	// Goal is what the turn has to come to; nil means the model's last word.
	Goal Goal
	// Inbox holds what arrives while the turn runs.
	Inbox *Inbox
	// Prefetch starts with the turn; what is ready in time is attached at the next boundary.
	Prefetch []func(context.Context) []msg.Part
	// Meter books what responses cost and says when the money is spent.
	Meter Meter
	// Memo carries what one turn learns for the next; nil forgets it.
	Memo *Memo

	// Log gets what only a developer wants to know; nil discards it.
	Log *slog.Logger
	// NewID and Now are replaced in tests; nil means random and the wall clock.
	NewID func() string
	Now   func() time.Time
	// Answered, if not nil, is told of each request that was answered, with what its response used.
	Answered func(*model.Request, msg.Usage)
}

// A Model is a model and what fits into it.
type Model struct {
	ID string
	// Window is the context window, Output the output limit asked for at first, MaxOutput the highest
	// the model has; in tokens.
	Window, Output, MaxOutput int
}

// A History is the durable record of one conversation.
type History interface {
	// Entries returns the entries since the last compaction, oldest first. The slice is only ever
	// extended; what it holds never changes.
	Entries() []msg.Entry
	// Append stores e. It returns an error only if the history will not contain e.
	Append(ctx context.Context, e msg.Entry) error
}

// A Syncer is a History that can make sure that what was appended survives a power cut. The loop asks
// before a call that changes something, and at the end of the turn.
type Syncer interface{ Sync() error }

// A Shortener makes room in a history that does not fit. The loop tries its means in this order.
type Shortener interface {
	// TooLong is told how the provider put it that a request is too long.
	TooLong(err error)
	// Drain commits folds that were staged, and reports whether there were any.
	Drain(ctx context.Context) (bool, error)
	// Compact replaces the history by a summary.
	Compact(ctx context.Context) (Compacted, error)
	// Truncate shortens without asking a model, and reports whether there was anything to shorten.
	Truncate(ctx context.Context) (bool, error)
}

// A Stopper is asked when the model has nothing more to do.
type Stopper interface {
	Stop(ctx context.Context, c StopCheck) (StopVerdict, error)
}

// A StopCheck is what a stop hook is told. Active says that one already sent the model back.
type StopCheck struct {
	Active bool
	Last   msg.Message
}

// A StopVerdict is what a stop hook says. Block sends the model back to work with that reason;
// Prevent ends the turn with that reason; neither lets it end.
type StopVerdict struct {
	Hook           string
	Block, Prevent string
}

// A Meter books usage. It is called from one goroutine.
type Meter interface {
	// Book adds a response: api is how long it took, retries the part that went into waiting and
	// failed attempts before it.
	Book(modelID string, u msg.Usage, api, retries time.Duration)
	// Exhausted returns what was spent, in USD, and reports whether that has reached the limit.
	Exhausted(limit float64) (spent float64, out bool)
}

// A Memo is what the turns of a session remember of each other.
type Memo struct {
	// NoMedia says that the provider rejected the images and documents of this conversation.
	NoMedia bool
	// FellBack says that the last turn ended on the fallback model.
	FellBack bool
}

// Run carries out one turn: it continues h until the model stops asking for tools.
//
// Run appends a message to h before it yields the corresponding [Appended]. However the run ends
// (completion, error, cancelled ctx, caller breaking off or panicking), every tool use in h has
// exactly one result in h. [Ended] is yielded last and exactly once, unless the caller broke off.
// The cause of a cancelled ctx may be a [tool.Abort]; without one the user counts as the reason.
func (a *Agent) Run(ctx context.Context, h History) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		r := newRun(ctx, a, h, yield)
		defer r.close()
		r.turn(r.iterate)
	}
}

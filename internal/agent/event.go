package agent

import (
	"encoding/json"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// An Event is one of the types below. Events report what happens in a turn; only [Appended] means that the
// history has changed.
type Event interface{ event() }

type (
	// Requesting says that a request is about to be sent. Attempt counts the requests of the turn.
	Requesting struct {
		Attempt int
		Model   string
	}

	// Delta is a piece of a response as it arrives.
	Delta struct {
		Attempt int
		model.Event
	}

	// Withdrawn voids every delta of an attempt: the response broke off or was discarded.
	Withdrawn struct{ Attempt int }

	// Appended says that an entry is in the history.
	Appended struct{ Entry msg.Entry }

	// ToolStarted says that a call is about to run or to be refused. Use is of the tool that is called, whatever
	// tool the model reached it through.
	ToolStarted struct {
		Use      *msg.ToolUse
		Title    string
		Activity string
		// Verb and Object say what the call did when it has ended well. Without a verb the object says all.
		Verb, Object string
		Fold         tool.Fold
	}

	// ToolProgress is a report of a running call. Reports may be dropped, but never the last one.
	ToolProgress struct {
		ID      string
		Display tool.Display
	}

	// ToolDone carries the result of a call, in the order of the calls. It is in the history when
	// [Appended] says so, and never if the attempt was withdrawn. Use is that of ToolStarted.
	ToolDone struct {
		Use     *msg.ToolUse
		Result  *msg.ToolResult
		Display tool.Display
		Denied  bool
		Refusal string // who or what denied it, and why, for the user; what Result says is for the model
		Remedy  string // the flag that would allow a call that was denied, or empty
		Elapsed time.Duration
	}

	// Labelled says in a line what a batch of calls did. It comes some time after the calls, or never.
	Labelled struct {
		IDs  []string // of the uses
		Text string
	}

	// Retrying says that the provider is asked again after a wait.
	Retrying struct{ model.Retrying }

	// Notice is a message for the user. Warning says that they may want to act on it, Compacting that a summary of the
	// conversation is being written.
	Notice struct {
		Text                string
		Warning, Compacting bool
	}

	// Compacted says that the history was shortened; the numbers are tokens. Manual says that the user
	// asked for it.
	Compacted struct {
		Before, After int
		Manual        bool
		Cleared       bool // nothing of it is left, because the user wants it
	}

	// Failed carries the error that ended the turn, when no recovery was left.
	Failed struct{ Err error }

	// Ended is always last.
	Ended struct {
		Reason Reason
		// Detail adds to the reason: the text of a hook, or the amounts of a budget.
		Detail string
		// Stop is why the last response ended; it is empty if there was none.
		Stop       model.StopReason
		Iterations int
		Err        error
		// Output is the value that the turn had to produce, if any; see [Goal].
		Output json.RawMessage
	}
)

func (Requesting) event()   {}
func (Delta) event()        {}
func (Withdrawn) event()    {}
func (Appended) event()     {}
func (ToolStarted) event()  {}
func (ToolProgress) event() {}
func (ToolDone) event()     {}
func (Labelled) event()     {}
func (Retrying) event()     {}
func (Notice) event()       {}
func (Compacted) event()    {}
func (Failed) event()       {}
func (Ended) event()        {}

// A Reason is why a turn ended.
type Reason string

// The reasons.
const (
	Completed         Reason = "completed"
	BlockingLimit     Reason = "blocking_limit"
	AbortedStreaming  Reason = "aborted_streaming"
	AbortedTools      Reason = "aborted_tools"
	ModelError        Reason = "model_error"
	PromptTooLong     Reason = "prompt_too_long"
	ImageError        Reason = "image_error"
	StopHookPrevented Reason = "stop_hook_prevented"
	HookStopped       Reason = "hook_stopped"
	DenialLimit       Reason = "denial_limit" // too many calls were denied in a session without a user
	MaxTurnsReached   Reason = "max_turns"
	BudgetExhausted   Reason = "budget_exhausted"
	TokenBudgetDone   Reason = "token_budget_done"
	// StructuredOutputFailed ends a turn that did not produce the value it had to; see [Goal].
	StructuredOutputFailed Reason = "structured_output_failed"
)

// OK reports whether the turn ended normally.
func (r Reason) OK() bool { return r == Completed || r == TokenBudgetDone }

// Aborted reports whether the turn was interrupted.
func (r Reason) Aborted() bool { return r == AbortedStreaming || r == AbortedTools }

package agent

import (
	"encoding/json"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// An Event describes something that happened in a turn. The types below are the only
// implementations. Only [Appended] means that the history has changed.
type Event interface{ event() }

type (
	// Requesting is sent before each request. Attempt counts the turn's requests.
	Requesting struct {
		Attempt int
		Model   string
	}

	// Delta is a piece of a response as it arrives.
	Delta struct {
		Attempt int
		model.Event
	}

	// Withdrawn voids every delta of an attempt because the response broke off or was
	// discarded.
	Withdrawn struct{ Attempt int }

	// Appended is sent after an entry was added to the history.
	Appended struct{ Entry msg.Entry }

	// ToolStarted is sent when a call is about to run or be denied. Use names the tool that is
	// actually called, even if the model reached it through another tool.
	ToolStarted struct {
		Use      *msg.ToolUse
		Title    string
		Activity string
		// Verb and Object describe the completed call. If Verb is empty, Object is the complete
		// description.
		Verb, Object string
		Fold         tool.Fold
	}

	// ToolProgress is a progress report from a running call. Reports may be dropped, but never
	// the last one.
	ToolProgress struct {
		ID      string
		Display tool.Display
	}

	// ToolDone carries a call's result, in the order of the calls. The result is in the history
	// once [Appended] is sent, and never if the attempt was withdrawn. Use is the same as in
	// ToolStarted.
	ToolDone struct {
		Use     *msg.ToolUse
		Result  *msg.ToolResult
		Display tool.Display
		Denied  bool
		Refusal string // user-facing reason for a denial, with its source; Result is for the model
		Remedy  string // flag that would allow a denied call, or empty
		Elapsed time.Duration
	}

	// Labelled carries a one-line description of a batch of calls. It is sent some time after
	// the calls, or never.
	Labelled struct {
		IDs  []string // tool-use IDs
		Text string
	}

	// Retrying is sent before the provider is retried after a wait.
	Retrying struct{ model.Retrying }

	// Notice is a message for the user. Warning is true if the user may want to act on it,
	// Compacting if a summary of the conversation is being written.
	Notice struct {
		Text                string
		Warning, Compacting bool
	}

	// Compacted is sent when the history was shortened; the numbers are tokens. Manual is true
	// if the user requested it.
	Compacted struct {
		Before, After int
		Manual        bool
		Cleared       bool // the user cleared the whole conversation
	}

	// Failed carries the error that ended the turn after all recovery failed.
	Failed struct{ Err error }

	// Ended is always the last event.
	Ended struct {
		Reason Reason
		// Detail qualifies the reason: a hook's text, or a budget's amounts.
		Detail string
		// Stop is the last response's stop reason, or empty if the turn had no response.
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
	// StructuredOutputFailed ends a turn that did not produce its required value; see [Goal].
	StructuredOutputFailed Reason = "structured_output_failed"
)

// OK reports whether the turn ended normally.
func (r Reason) OK() bool { return r == Completed || r == TokenBudgetDone }

// Aborted reports whether the turn was interrupted.
func (r Reason) Aborted() bool { return r == AbortedStreaming || r == AbortedTools }

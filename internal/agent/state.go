package agent

import "adze/internal/msg"

// A State is passed from one iteration to the next. It is a value: continuing makes a new one.
type State struct {
	// Entries is the history at the start of the iteration.
	Entries []msg.Entry
	// Model is the model in use.
	Model Model
	// Resumes counts how often a cut answer was continued.
	Resumes int
	// Compacted says that the history was already compacted after a request that was too long.
	Compacted bool
	// MaxTokens overrides the output limit, if not 0.
	MaxTokens int
	// StopHookActive says that a stop hook sent the model back.
	StopHookActive bool
	// Iteration counts from 1.
	Iteration int
	// Transition is why this iteration follows the one before; it is zero for the first.
	Transition Transition
}

// A Transition is why the loop continues: one of the values below.
type Transition struct{ name string }

// String returns the transition's name, or "" for the zero value.
func (t Transition) String() string { return t.name }

// The transitions.
var (
	ToolUse              = Transition{"tool_use"}
	OutputLimitEscalate  = Transition{"output_limit_escalate"}
	OutputLimitResume    = Transition{"output_limit_resume"}
	CollapseDrainRetry   = Transition{"collapse_drain_retry"}
	ReactiveCompactRetry = Transition{"reactive_compact_retry"}
	StopHookBlocking     = Transition{"stop_hook_blocking"}
	TokenBudgetContinue  = Transition{"token_budget_continue"}
)

package agent

import "adze/internal/msg"

// A State is what one iteration hands to the next. Each continuation makes a new one; an earlier one
// never changes.
type State struct {
	// Entries is the history at the start of the iteration.
	Entries []msg.Entry
	// Model is the one in use, with its limits.
	Model Model
	// Resumes counts how often a cut answer was carried on.
	Resumes int
	// Compacted says that a too long request was already met with a compaction.
	Compacted bool
	// MaxTokens overrides the output limit, if not 0.
	MaxTokens int
	// StopHookActive says that a stop hook sent the model back.
	StopHookActive bool
	// Iteration counts from 1.
	Iteration int
	// Transition is why there is this iteration after the one before; the zero value for the first.
	Transition Transition
}

// A Transition is why the loop goes on. There are no others than those below.
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

package agent

import (
	"adze/internal/model"
	"adze/internal/msg"
)

// A State is passed from one iteration to the next. It is a value: continuing makes a new one.
type State struct {
	// Entries is the history at the start of the iteration.
	Entries []msg.Entry
	// Model is the model in use, and Effort how hard it is asked to try.
	Model  Model
	Effort model.Effort
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

// adjusted returns s with the model and the effort that are wanted now. Adjust may be nil.
func (s State) adjusted(adjust func(Model, model.Effort) (Model, model.Effort), fellBack bool) State {
	if adjust == nil {
		return s
	}
	m, effort := adjust(s.Model, s.Effort)
	if s.Effort = effort; !fellBack {
		s.Model = m
	}
	return s
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

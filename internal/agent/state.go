package agent

import (
	"adze/internal/model"
	"adze/internal/msg"
)

// A State is passed from one iteration to the next. It is a value; each iteration gets a new
// one.
type State struct {
	// Entries is the history at the start of the iteration.
	Entries []msg.Entry
	// Model is the current model and Effort its requested effort.
	Model  Model
	Effort model.Effort
	// Resumes counts how often a truncated answer was continued.
	Resumes int
	// Compacted is true if the history was already compacted after a request was too long.
	Compacted bool
	// MaxTokens overrides the output limit if not 0.
	MaxTokens int
	// StopHookActive is true if a stop hook sent the model back.
	StopHookActive bool
	// Iteration counts from 1.
	Iteration int
	// Transition is the reason this iteration follows the previous one. It is zero for the
	// first.
	Transition Transition
}

// adjusted returns s with the current model and effort. adjust may be nil.
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

// A Transition is the reason the loop continues. The values are listed below.
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

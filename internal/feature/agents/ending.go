package agents

import (
	"errors"
	"fmt"

	"adze/internal/agent"
	"adze/internal/model"
)

// ending returns why an agent did not finish, for its lead: how its turn ended and the causing
// error, if any.
func (b *Spec) ending(ended agent.Ended, failed error) error {
	var e *model.Error
	switch {
	case ended.Reason == agent.MaxTurnsReached && b.MaxTurns > 0:
		return fmt.Errorf("it has made %d requests, which is its limit (%s)", b.MaxTurns, ended.Reason)
	case ended.Reason == agent.BudgetExhausted:
		return fmt.Errorf("the budget of the session is used up (%s)", ended.Reason)
	case errors.As(failed, &e) && e.Kind == model.NoModel && b.Model != "":
		return fmt.Errorf("the model %q does not exist or is not available: launch another agent with another model, or with none: %w", b.Model, failed)
	case failed != nil:
		return fmt.Errorf("it ended with %s: %w", ended.Reason, failed)
	case ended.Detail != "":
		return fmt.Errorf("it ended with %s: %s", ended.Reason, ended.Detail)
	}
	return fmt.Errorf("it ended with %s", ended.Reason)
}

// continuable reports whether an agent that ended with err may succeed when continued.
func continuable(err error) bool {
	var e *model.Error
	return !errors.As(err, &e) || e.Kind != model.NoModel
}

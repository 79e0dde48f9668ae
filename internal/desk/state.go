package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/session"
)

// A Permission is what decides on calls.
type Permission struct {
	// Mode returns the permission mode, and Policy the rules in force.
	Mode   func() string
	Policy func() *permission.Policy
	// Dirs are further directories to work in.
	Dirs []string
}

// Settings are those in effect.
type Settings struct {
	// Values are those that a file can give, by name. Variables are not among them: they hold keys.
	Values map[string]json.RawMessage
	// Effort is what the command line says; it may be empty.
	Effort model.Effort
	// AutoCompact says that conversations are summarised when they grow too large.
	AutoCompact bool
}

// Hooks are the hooks of the session, and what is decided about all of them.
type Hooks struct {
	List   []hook.Listing
	Policy hook.Policy
}

// Age returns how long the desk has been there.
func (d *Desk) Age() time.Duration { return d.Now().Sub(d.opened) }

// Think lets the model think with a budget of that many tokens from now on: 0 switches thinking off, and nil goes
// back to what flags and settings say.
func (d *Desk) Think(ctx context.Context, budget *int) error {
	if budget != nil && *budget < 0 {
		return fmt.Errorf("%d is not a number of tokens", *budget)
	}
	return d.Session.Submit(ctx, session.SetThinking{Thinking: d.Thinking(budget)})
}

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

// A Permission is the state of permissions.
type Permission struct {
	// Mode returns the permission mode, and Policy the rules.
	Mode   func() string
	Policy func() *permission.Policy
	// Allowed reports whether a mode can be chosen; nil means that the usual ones can.
	Allowed func(mode string) bool
	// Judged returns how many calls a model has allowed and refused in place of the user; it may be nil.
	Judged func() (allowed, refused int)
	// Dirs returns the additional working directories.
	Dirs func() []string
	// Apply changes what is allowed.
	Apply func(ctx context.Context, updates []permission.Update) error
}

// Settings are the effective settings.
type Settings struct {
	// Values are the settings that a file can set, by name. Environment variables, which may hold keys, are left out.
	Values map[string]json.RawMessage
	// Effort is the one that the model is asked for, unless the session has changed it; empty leaves it to the model.
	Effort model.Effort
	// AutoCompact reports whether conversations are summarised when they grow too large.
	AutoCompact bool
}

// Hooks are the hooks of the session and the policy for all of them.
type Hooks struct {
	List   []hook.Listing
	Policy hook.Policy
	// Mute switches the user's hooks off for the session, or on again.
	Mute func(off bool)
}

// Age returns the time since the desk was made.
func (d *Desk) Age() time.Duration { return d.Now().Sub(d.opened) }

// Think sets the budget for thinking, in tokens: 0 switches thinking off, and nil restores what flags and settings say.
func (d *Desk) Think(ctx context.Context, budget *int) error {
	if budget != nil && *budget < 0 {
		return fmt.Errorf("%d is not a number of tokens", *budget)
	}
	return d.Session.Submit(ctx, session.SetThinking{Thinking: d.Models.Thinking(budget)})
}

package commands

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
	// Allowed reports whether a mode can be chosen; nil means that the default ones can.
	Allowed func(mode string) bool
	// Judged returns how many calls a model has allowed and refused on behalf of the user; it
	// may be nil.
	Judged func() (allowed, refused int)
	// Dirs returns the additional working directories.
	Dirs func() []string
	// Apply applies permission updates.
	Apply func(ctx context.Context, updates []permission.Update) error
}

// Settings are the effective settings.
type Settings struct {
	// Values are the settings a file can set, by name. Environment variables are omitted
	// because they may contain keys.
	Values map[string]json.RawMessage
	// Effort is the configured effort, which the session may override; empty means the model's
	// default.
	Effort model.Effort
	// AutoCompact reports whether conversations are compacted when they grow too large.
	AutoCompact bool
}

// Hooks provides the session's hooks and the policy for all of them.
type Hooks struct {
	List   []hook.Listing
	Policy hook.Policy
	// Mute disables or enables the user's hooks for the session.
	Mute func(off bool)
}

// Age returns the time since the registry was created.
func (r *Registry) Age() time.Duration { return r.Now().Sub(r.opened) }

// Think sets the thinking budget in tokens: 0 disables thinking, and nil restores the flags and
// settings.
func (r *Registry) Think(ctx context.Context, budget *int) error {
	if budget != nil && *budget < 0 {
		return fmt.Errorf("%d is not a number of tokens", *budget)
	}
	return r.Session.Submit(ctx, session.SetThinking{Thinking: r.Models.Thinking(budget)})
}

package subagents

import (
	"fmt"
	"time"

	"adze/internal/agentdef"
	"adze/internal/app/settings"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// A Request is a wish for an agent.
type Request struct {
	agenttool.Input
	// Use is the call that asks for it, or "".
	Use string
	// Definition is used in place of the one that the type names; nil means that one.
	Definition *agentdef.Definition
	// Stays says that it is waited for as long as it takes.
	Stays bool
	// Asked says that its questions are asked also when it is in the background.
	Asked bool
	// Birth is what it begins with, as far as that does not follow from the rest.
	Birth Birth
}

// complete checks what a request says, and takes over what the definition says. Holds returns why an agent cannot work in a
// directory.
func (r *Request) complete(holds func(dir string) error) error {
	if r.Input.Mode != "" && r.Birth.Mode == "" {
		mode, err := permission.ParseMode(r.Input.Mode)
		if err != nil {
			return fmt.Errorf("mode: %w", err)
		}
		r.Birth.Mode = mode
	}
	if dir := r.Input.Dir; dir != "" {
		if err := holds(dir); err != nil {
			return fmt.Errorf("cwd: %w", err)
		}
		r.Birth.Dir = dir
	}
	d := r.Definition
	r.Birth.Definition = d
	if r.Birth.Model == "" {
		r.Birth.Model = r.Input.Model
	}
	r.Birth.Title = tool.OneLine(r.Description, 80)
	if d == nil {
		r.Birth.Model = "" // a fork shares the cache of its lead's model
		return nil
	}
	if r.Birth.Model == "" {
		r.Birth.Model = d.Model
	}
	if r.Birth.Effort == "" {
		r.Birth.Effort = model.Effort(d.Effort)
	}
	if d.Mode != "" {
		own, err := permission.ParseMode(d.Mode)
		if err != nil {
			return fmt.Errorf("the agent %s has no valid permission mode: %w", d.Name, err)
		}
		if r.Birth.Mode == "" {
			r.Birth.Mode = own
		} else {
			r.Birth.Mode = permission.Stricter(r.Birth.Mode, own)
		}
	}
	return nil
}

// background reports whether an agent begins in the background, and why it does not though it should.
func (r *Request) background(c *Config) (bool, string) {
	if r.Stays {
		return false, ""
	}
	wanted := r.Background || c.Coordinator || r.Definition == nil || r.Definition.Background
	if wanted && c.Tasks == nil {
		return false, catalogue.Text(c.Language(), "foreground")
	}
	return wanted, ""
}

// limits returns how long an agent may take and how many requests it may make; 0 means no bound.
func (r *Request) limits(s settings.Agents) (turns int, time time.Duration) {
	turns = s.MaxTurns
	if d := r.Definition; d != nil && d.MaxTurns > 0 && (turns == 0 || d.MaxTurns < turns) {
		turns = d.MaxTurns
	}
	if k := r.Birth.Keeper; k != nil && (turns == 0 || k.MaxTurns < turns) {
		turns = k.MaxTurns
	}
	return turns, s.Limit
}

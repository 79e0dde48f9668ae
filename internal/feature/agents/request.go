package agents

import (
	"fmt"
	"time"

	"adze/internal/domain/agentdef"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/settings"
	"adze/internal/tool"
	agenttool "adze/internal/tools/agent"
)

// A Request describes an agent to launch.
type Request struct {
	agenttool.Input
	// Use is the ID of the requesting tool call, or "".
	Use string
	// Definition, if non-nil, overrides the definition named by the type.
	Definition *agentdef.Definition
	// If Stays is true, the caller waits as long as it takes.
	Wait bool
	// MayPrompt lets the agent prompt the user even in the background.
	MayPrompt bool
	// Spec holds launch parameters that do not follow from the other fields.
	Spec Spec
}

// complete validates a request and applies the definition. holds returns why an agent cannot
// work in a directory.
func (r *Request) complete(holds func(dir string) error) error {
	if r.Input.Mode != "" && r.Spec.Mode == "" {
		mode, err := permission.ParseMode(r.Input.Mode)
		if err != nil {
			return fmt.Errorf("mode: %w", err)
		}
		r.Spec.Mode = mode
	}
	if dir := r.Input.Dir; dir != "" {
		if err := holds(dir); err != nil {
			return fmt.Errorf("cwd: %w", err)
		}
		r.Spec.Dir = dir
	}
	d := r.Definition
	r.Spec.Definition = d
	if r.Spec.Model == "" {
		r.Spec.Model = r.Input.Model
	}
	r.Spec.Title = tool.OneLine(r.Description, 80)
	if d == nil {
		r.Spec.Model = "" // a fork shares its lead's model cache
		return nil
	}
	if r.Spec.Model == "" {
		r.Spec.Model = d.Model
	}
	if r.Spec.Effort == "" {
		r.Spec.Effort = model.Effort(d.Effort)
	}
	if d.Mode != "" {
		own, err := permission.ParseMode(d.Mode)
		if err != nil {
			return fmt.Errorf("the agent %s has no valid permission mode: %w", d.Name, err)
		}
		if r.Spec.Mode == "" {
			r.Spec.Mode = own
		} else {
			r.Spec.Mode = permission.Stricter(r.Spec.Mode, own)
		}
	}
	return nil
}

// background reports whether an agent starts in the background, and if it was requested but
// refused, why.
func (r *Request) background(c *Config) (bool, string) {
	if r.Wait {
		return false, ""
	}
	wanted := r.Background || c.Coordinator || r.Definition == nil || r.Definition.Background
	if wanted && c.Tasks == nil {
		return false, catalogue.Text(c.Language(), "foreground")
	}
	return wanted, ""
}

// limits returns an agent's maximum number of requests and running time; 0 means no limit.
func (r *Request) limits(s settings.Agents) (turns int, time time.Duration) {
	turns = s.MaxTurns
	if d := r.Definition; d != nil && d.MaxTurns > 0 && (turns == 0 || d.MaxTurns < turns) {
		turns = d.MaxTurns
	}
	if k := r.Spec.MemoryTask; k != nil && k.MaxTurns > 0 && (turns == 0 || k.MaxTurns < turns) {
		turns = k.MaxTurns
	}
	return turns, s.Limit
}

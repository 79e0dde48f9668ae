package toolbox

import (
	"errors"

	"adze/internal/permission/approval"
	"adze/internal/tools/plan"
)

// plan connects the plan tools to the permission gate.
func (c *Config) plan() plan.Config {
	gate := c.Gate
	return plan.Config{
		MayEnter: gate.PlanMode().MayEnter, MayLeave: gate.PlanMode().MayLeave,
		Next:  func() string { return string(gate.PlanMode().After()) },
		Enter: gate.PlanMode().Enter,
		Leave: func(prompts []plan.Prompt) (string, error) {
			mode, err := gate.PlanMode().Leave("", approvals(prompts))
			return string(mode), err
		},
		Check:      func(prompts []plan.Prompt) error { return approval.Check(approvals(prompts)) },
		Restrained: c.Values.Plan.Restrained,
		File:       c.PlanFile,
		Available: func() error {
			if !gate.Asks() {
				return errors.New("there is nobody to approve a plan")
			}
			return nil
		},
	}
}

func approvals(prompts []plan.Prompt) []approval.Prompt {
	var all []approval.Prompt
	for _, p := range prompts {
		all = append(all, approval.Prompt(p))
	}
	return all
}

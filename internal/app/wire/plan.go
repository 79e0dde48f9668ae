package wire

import (
	"errors"

	"adze/internal/app/belongings"
	"adze/internal/permission"
	"adze/internal/permission/approval"
	"adze/internal/tools/plan"
)

// planConfig ties the plan tools to a permission gate. There is no file for the plan.
func planConfig(gate *permission.Gate, restrained bool) plan.Config {
	return plan.Config{
		MayEnter: gate.MayEnterPlan, MayLeave: gate.MayLeavePlan,
		Next:  func() string { return string(gate.AfterPlan()) },
		Enter: gate.EnterPlan,
		Leave: func(prompts []plan.Prompt) (string, error) {
			mode, err := gate.LeavePlan("", approvals(prompts))
			return string(mode), err
		},
		Check:      func(prompts []plan.Prompt) error { return approval.Check(approvals(prompts)) },
		Restrained: restrained,
		Available: func() error {
			if !gate.Asks() {
				return errors.New("there is no user who could approve a plan")
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

// plansDir returns the directory of plans. A setting that cannot be followed is reported once.
func (w *Workspace) plansDir() string {
	dir, problem := belongings.PlansDir(w.Project.Home, w.Dir, w.values().Plan.Directory)
	if problem != "" {
		w.plansOnce.Do(func() { w.Say(problem) })
	}
	return dir
}

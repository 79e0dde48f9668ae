package wire

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/permission"
	"adze/internal/permission/approval"
	"adze/internal/platform/paths"
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
	dir, problem := plansDir(w.Project.Home, w.Dir, w.values().Plan.Directory)
	if problem != "" {
		w.plansOnce.Do(func() { w.Say(problem) })
	}
	return dir
}

// plansDir returns the directory of plans of a project, given what the settings say. A relative one must lie
// inside the project; if it does not, the problem says so.
func plansDir(home, project, wanted string) (dir, problem string) {
	kept := keptPlans(home)
	switch {
	case wanted == "":
		return kept, ""
	case filepath.IsAbs(wanted):
		return filepath.Clean(wanted), ""
	}
	full := filepath.Join(project, wanted)
	if paths.Relative(project, full) == full || strings.HasPrefix(wanted, "~") {
		return kept, fmt.Sprintf("plansDirectory is %s, which is outside the project; plans are kept in %s", wanted, kept)
	}
	return full, ""
}

package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/paths"
	"adze/internal/session"
	"adze/internal/tools/plan"
)

// planConfig ties the plan tools to the permission gate.
func (b *builder) planConfig() plan.Config {
	return plan.Config{
		File:  b.planFile,
		Enter: b.gate.EnterPlan,
		Leave: func(prompts []plan.Prompt) (string, error) {
			mode, err := b.gate.LeavePlan("", approvals(prompts))
			return string(mode), err
		},
		Check:      func(prompts []plan.Prompt) error { return permission.CheckPrompts(approvals(prompts)) },
		Restrained: b.settings.Text("planEagerness") == "restrained",
		Available: func() error {
			if !b.gate.Asks() {
				return errors.New("there is nobody here who could approve a plan")
			}
			return nil
		},
	}
}

func approvals(prompts []plan.Prompt) []permission.Prompt {
	var all []permission.Prompt
	for _, p := range prompts {
		all = append(all, permission.Prompt(p))
	}
	return all
}

// planFile returns where the plan of the session is kept.
func (b *builder) planFile() string { return plan.File(b.plansDir(), b.id, "") }

// plansDir returns the directory of plans.
func (b *builder) plansDir() string {
	dir, problem := plansDir(b.home, b.env.Dir, b.settings.Text("plansDirectory"))
	if problem != "" {
		b.notePlans.Do(func() { b.env.say(problem) })
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
		return kept, fmt.Sprintf("plansDirectory is %s, which is not inside the project; plans are kept in %s", wanted, kept)
	}
	return full, ""
}

// keepFiles tells the gate what adze keeps for the model: what it may read, and the plan it may write.
func (b *builder) keepFiles() {
	if b.home == "" {
		return
	}
	kept := permission.Kept{Readable: []string{b.plansDir()}, Editable: []string{b.planFile()}, PlanFile: b.planFile()}
	if b.log != nil {
		kept.Readable = append(kept.Readable, filepath.Dir(b.log.Path()))
	}
	b.memory.keep(&kept)
	b.gate.SetKept(kept)
}

// remind lets the model hear at the beginning of a turn which mode is in force.
func (b *builder) remind(context.Context, session.Prompt) (h session.Hearing) {
	for _, text := range b.gate.Reminders() {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

package wire

import "adze/internal/app/artifacts"

// plansDir returns the plans directory. An unusable setting is reported once.
func (w *Workspace) plansDir() string {
	dir, problem := artifacts.PlansDir(w.Project.Home, w.Dir, w.values().Plan.Directory)
	if problem != "" {
		w.plansOnce.Do(func() { w.Say(problem) })
	}
	return dir
}

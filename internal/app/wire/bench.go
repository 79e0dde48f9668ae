package wire

import (
	"slices"

	"adze/internal/app/conversation"
	"adze/internal/app/toolbox"
	"adze/internal/hook"
	"adze/internal/permission"
	"adze/internal/platform/fs/filestate"
	"adze/internal/tool"
	"adze/internal/tool/absent"
	"adze/internal/tool/change"
	"adze/internal/tools/structured"
)

// A Bench holds the tools and policy of a conversation that is not opened. It judges calls but
// runs nothing.
type Bench struct {
	Tools []tool.Tool
	Gate  *permission.Gate
	// HookProblems lists problems with the hooks in the settings.
	HookProblems []hook.Problem
}

// Bench returns a Bench for a conversation with the given access.
func (w *Workspace) Bench(a AccessSpec) (*Bench, error) {
	f, err := w.newConfinement(w.Dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := conversation.AccessPolicy(w.place(), a)
	if err != nil {
		return nil, err
	}
	f.Ready()
	c.Sandbox = f.State()
	b := &Bench{Gate: permission.NewGate(permission.GateConfig{Config: c}), HookProblems: hook.Check(w.values().Hooks.Sources)}
	for _, problem := range b.Gate.Policy().Problems() {
		w.Say(problem.Error())
	}
	dir := conversation.NewWorkdir(w.Dir, b.Gate)
	d := toolbox.Config{
		Values: w.values(), Runner: w.runner, Engine: w.Engine, Gate: b.Gate,
		Shell: conversation.PlainShell(dir, w.environment()), State: filestate.New(), Output: new(structured.Output), Pages: toolbox.Pages(w.online()),
		Turns:       toolbox.Turns{Unattended: true}, // list the tools as in an unattended turn
		Experiments: new(windowParts).experiments(w.values().Window),
	}
	if w.Project.Home != "" {
		d.PlanFile = func() string { return "" } // no tool is run
		d.Files = &change.Files{Dir: dir.Here, State: d.State, Hidden: b.Gate.Hidden}
	}
	b.Tools = toolbox.New(d)
	return b, nil
}

// Find returns the named tool, or a placeholder if it is unknown.
func (b *Bench) Find(name string) tool.Tool {
	for _, t := range b.Tools {
		if t.Spec().Name == name || slices.Contains(t.Traits().Aliases, name) {
			return t
		}
	}
	return absent.Tool(name)
}

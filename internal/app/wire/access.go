package wire

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/confine"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
	"adze/internal/tool"
	"adze/internal/tools/plan"
)

// openGate makes the sandbox and the permission gate of the conversation.
func (c *Conversation) openGate(ctx context.Context) (err error) {
	if c.sandbox, err = c.ws.newConfinement(); err != nil {
		return err
	}
	c.closers.add(c.sandbox.Close)
	if c.Gate, err = c.ws.newGate(c.spec.Access, c.sandbox.InForce); err != nil {
		return err
	}
	c.sandbox.Attach(c.Gate)
	c.sandbox.Begin(ctx)
	c.dir = newWorkdir(c.ws.Dir, c.Gate)
	return nil
}

// newConfinement returns a sandbox as the settings have it. If they require one and none works, it is an
// error.
func (w *Workspace) newConfinement() (*confine.Confinement, error) {
	f := confine.New(confine.Config{
		Settings: w.values().Sandbox, Dir: w.Dir, Home: w.Getenv("HOME"), Say: w.Say, Probe: &w.probe,
	})
	if err := f.Check(); err != nil {
		f.Close()
		return nil, setup.Errorf("%v", err)
	}
	return f, nil
}

// SandboxStatus tests the sandbox that conversations would have.
func (w *Workspace) SandboxStatus(ctx context.Context, a AccessSpec) (confine.Status, error) {
	c := &Conversation{ws: w, spec: Spec{Access: a}}
	defer c.Close()
	if err := c.openGate(ctx); err != nil {
		return confine.Status{}, err
	}
	return c.sandbox.Status(ctx), nil
}

// setMode changes the permission mode of the calls to come.
func (c *Conversation) setMode(name string) (string, error) {
	mode, err := permission.ParseMode(name)
	if err != nil {
		return "", err
	}
	return string(mode), c.Gate.SetMode(mode)
}

// Allow lets the user who names a tool use it.
func (c *Conversation) Allow(name string) {
	c.Gate.AddRule(rule.Rule{Tool: name, Behavior: permission.Allow, Scope: scope.CLI})
}

// keepFiles tells the gate what adze keeps for the model: what it may read, and the plan it may write.
func (c *Conversation) keepFiles() {
	if c.ws.Project.Home == "" {
		return
	}
	file := c.planFile()
	kept := permission.Kept{Readable: []string{filepath.Dir(file)}, Editable: []string{file}, PlanFile: file}
	if path := c.record.path(); path != "" {
		kept.Readable = append(kept.Readable, filepath.Dir(path))
	}
	for _, dir := range c.memory.dirs() {
		kept.Readable, kept.Editable = append(kept.Readable, dir), append(kept.Editable, dir)
	}
	c.Gate.SetKept(kept)
}

// planFile returns where the plan of the conversation is kept.
func (c *Conversation) planFile() string { return plan.File(c.ws.plansDir(), c.record.id, "") }

// denied returns which tools are not offered: denied by a rule, not chosen, or too many for the simple mode.
// A chosen name that no tool has is reported.
func (w *Workspace) denied(a AccessSpec, gate *permission.Gate, tools []tool.Tool) func(name string) bool {
	var names []string
	for _, list := range a.Tools {
		names = slices.AppendSeq(names, strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	all := !a.Chosen || slices.Contains(names, "default")
	if !all {
		w.reportUnknown(names, tools)
	}
	hidden := map[string]bool{}
	for _, t := range tools {
		name := t.Spec().Name
		chosen := all || slices.ContainsFunc(names, func(n string) bool { return isNamed(t, n) })
		hidden[name] = !chosen || w.values().Simple && !slices.Contains(simpleTools[:], name)
	}
	return func(name string) bool {
		_, byRule := gate.Policy().DeniesTool(name)
		return hidden[name] || byRule
	}
}

// reportUnknown tells the user which names of --tools no tool has.
func (w *Workspace) reportUnknown(names []string, tools []tool.Tool) {
	var known []string
	for _, t := range tools {
		known = append(known, t.Spec().Name)
	}
	for _, name := range names {
		if slices.ContainsFunc(tools, func(t tool.Tool) bool { return isNamed(t, name) }) {
			continue
		}
		text := fmt.Sprintf("--tools: there is no tool %s", name)
		if near := spell.Closest(name, known, 1); len(near) > 0 {
			text += "; did you mean " + near[0] + "?"
		}
		w.Say(text)
	}
}

// isNamed reports whether a user means t by a name.
func isNamed(t tool.Tool, name string) bool {
	return slices.ContainsFunc(append([]string{t.Spec().Name}, t.Traits().Aliases...), func(n string) bool {
		return strings.EqualFold(n, name)
	})
}

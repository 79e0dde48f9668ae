package wire

import (
	"context"
	"encoding/json"

	"adze/internal/app/models"
	"adze/internal/commands"
	"adze/internal/domain/instruct"
	"adze/internal/domain/skill/library"
	"adze/internal/feature/agents"
	"adze/internal/feature/doctor"
	"adze/internal/feature/instructions"
	"adze/internal/feature/mcp"
	"adze/internal/feature/memory"
	"adze/internal/hook"
	"adze/internal/mcp/roster"
	"adze/internal/permission"
	"adze/internal/platform/fs/trust"
	"adze/internal/settings"
)

// Examine diagnoses a workspace for a conversation with the given access, without opening it.
// With online, it also contacts the provider.
func (w *Workspace) Examine(ctx context.Context, a AccessSpec, terminal, online bool) []commands.Check {
	c := w.newDoctor(Spec{Access: a}, online)
	c.Terminal = terminal
	c.Provider = func() (string, error) { return models.Chosen(w.Project) }
	c.Policy = func() (*permission.Policy, error) {
		b, err := w.Bench(a)
		if err != nil {
			return nil, err
		}
		return b.Gate.Policy(), nil
	}
	c.Hooks = func() []hook.Listing {
		v := w.values()
		r, _ := hook.New(hook.Config{ // ok: problems are in HookProblems
			Sources: w.hookSources(), Policy: hookPolicy(v.Hooks, false),
			Approved: func(_ hook.Source, event, matcher string, handler json.RawMessage) bool {
				return w.Project.Trust.Approved(trust.Hook(event, matcher, handler))
			},
		})
		defer r.Close()
		return r.List()
	}
	c.Sandbox = func() (string, error) {
		f, err := w.newConfinement(w.Dir)
		if err != nil {
			return "", err
		}
		defer f.Close()
		return doctor.Confined(f.On(), f.InForce)
	}
	return doctor.Examine(ctx, c)
}

// examine diagnoses an open conversation.
func (c *Conversation) examine(ctx context.Context, online bool) []commands.Check {
	d := c.ws.newDoctor(c.spec, online)
	d.Terminal = c.spec.Entry == Interactive
	d.Provider = func() (string, error) {
		b := c.model.Backend
		if b == nil {
			return "none yet", nil
		}
		return b.Name + ", selected by " + b.Why, nil
	}
	d.Policy = func() (*permission.Policy, error) { return c.Gate.Policy(), nil }
	d.Hooks = c.Hooks.List
	d.Sandbox = func() (string, error) { return doctor.Confined(c.sandbox.On(), c.sandbox.InForce) }
	if m := c.prompt.memory; !m.On() {
		d.Memory = nil
	}
	return doctor.Examine(ctx, d)
}

// newDoctor returns the checks for the workspace, with or without a conversation.
func (w *Workspace) newDoctor(spec Spec, online bool) doctor.Config {
	v := w.values()
	c := doctor.Config{
		Project: w.Project, Version: w.Version, Program: w.Program, Getenv: w.Getenv,
		Search: w.Engine.Describe, HookProblems: hook.Check(w.hookSources()), Further: []func(context.Context) commands.Check{w.Plugins.Check, agents.Check(w.Agents), w.Keys.Check, w.checkLanguages},
		Shell: ShellPath,
		Servers: func() (*roster.Roster, error) {
			flags := w.Env.Servers
			flags.Loaded, flags.Plugins = nil, w.Plugins.Servers // read the files again
			return mcp.Load(w.Project, flags)
		},
	}
	c.Skills = func(ctx context.Context) *library.Set { return w.library(spec.Access.Dirs).Set(ctx) }
	if online {
		c.Reach = func(ctx context.Context) (string, error) {
			return models.Reach(ctx, w.backendConfig(spec.Model))
		}
	}
	if v.Size != settings.SmallPrompt && !v.Prompt.NoInstructions {
		c.Instructions = func(context.Context) ([]instruct.File, []instruct.Problem) {
			return instructions.Load(w.Project, spec.Instructions())
		}
	}
	if memory.Off(w.Project, spec.Bare) == "" {
		folder, _, _ := memory.Folder(w.Project)
		c.Memory = &folder
	}
	return c
}

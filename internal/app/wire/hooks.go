package wire

import (
	"context"
	"encoding/json"

	"adze/internal/hook"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
	"adze/internal/session/lifecycle"
)

// openHooks makes the hooks of the settings, and lets the gate ask them.
func (c *Conversation) openHooks(context.Context) error {
	v := c.ws.values()
	cfg := lifecycle.Config{
		Source: "startup", Exit: "other", EnvFile: c.shell.vars, Say: c.ws.Say,
		ModelID: func(name string) string { m, _ := c.model.resolve(name); return m.ID }, // ok: the session has it already
		Runner: hook.Config{
			Sources:    v.Hooks.Sources,
			Common:     c.hookFacts,
			Dir:        c.ws.Dir,
			ProjectDir: c.ws.Project.Trust.Root,
			Environ:    func() []string { return environ(v) },
			Policy:     c.hookPolicy(),
			Approved: func(_ hook.Source, event, matcher string, handler json.RawMessage) bool {
				return c.ws.Project.Trust.Approved(scope.Project, trust.Hook(event, matcher, handler))
			},
			SessionEndTimeout: v.Hooks.EndTimeout,
			Log:               c.debug,
		},
	}
	if c.record.log != nil {
		cfg.Runner.Results = c.record.log
	}
	switch {
	case c.spec.Session.Fork:
		cfg.Source = "fork"
	case c.record.earlier != nil:
		cfg.Source = "resume"
	}
	if c.spec.Entry == Interactive {
		cfg.Exit = "prompt_input_exit"
	}
	c.hooks = lifecycle.New(cfg)
	c.closers.add(c.hooks.Close)
	c.Gate.SetHooks(c.hooks.Answer)
	return nil
}

// hookPolicy returns which hooks run.
func (c *Conversation) hookPolicy() hook.Policy {
	p := c.ws.values().Hooks.Policy
	p.Disable = p.Disable || c.spec.Bare
	return p
}

// hookFacts returns what every hook is told.
func (c *Conversation) hookFacts() hook.Common {
	return hook.Common{
		Session: c.record.id, Dir: c.shell.dir.here(), Mode: string(c.Gate.Mode()), Transcript: c.record.path(),
	}
}

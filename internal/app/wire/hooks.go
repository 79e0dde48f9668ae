package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"adze/internal/app/conversation"
	"adze/internal/domain/instruct"
	"adze/internal/feature/agents"
	"adze/internal/hook"
	"adze/internal/hook/prompted"
	"adze/internal/platform/fs/trust"
	"adze/internal/session/lifecycle"
	"adze/internal/settings"
)

// openHooks creates the hooks from the settings and connects them to the gate.
func (c *Conversation) openHooks(ctx context.Context) {
	v := c.ws.values()
	cfg := lifecycle.Config{
		Source: "startup", Exit: "other", EnvFile: c.shell.Vars, Say: c.ws.Say,
		ModelID: func(name string) string { m, _ := c.model.Resolve(name); return m.ID }, // ok: the session has it already
		Runner: hook.Config{
			Sources: c.hookSources(),
			Common: func() hook.Common {
				return c.spec.worker.hookFields(hook.Common{Session: c.record.ID, Dir: c.dir.Here(), Mode: string(c.Gate.Mode()), Transcript: c.record.Path()})
			},
			Dir:        c.ws.Dir,
			ProjectDir: c.ws.Project.Trust.Root,
			Environ:    func() []string { return conversation.Environ(c.ws.inherited(), c.ws.values()) },
			Scrubbed:   func() []string { return slices.Clone(c.shell.Env()) },
			Policy:     hookPolicy(v.Hooks, c.spec.Bare),
			Approved: func(from hook.Source, event, matcher string, handler json.RawMessage) bool {
				t := c.ws.Project.Trust
				return t.Approved(trust.Hook(event, matcher, handler)) || t.Approved(trust.Hook(agents.Written(from, event), matcher, handler))
			},
			SessionEndTimeout: v.Hooks.EndTimeout,
			Log:               c.debug,
		},
	}
	if c.spec.unattended() {
		cfg.Unattended = ctx
	}
	cfg.Runner.Judges.User = c.choose
	if c.model.Backend != nil {
		cfg.Runner.Judges.Prompt = func(ctx context.Context, a hook.PromptRequest) (hook.Opinion, error) {
			resolve := func(name string) (string, error) { m, err := c.model.Resolve(name); return m.ID, err }
			return prompted.Config{Small: c.small, Resolve: resolve, Language: c.ws.language}.Ask(ctx, a)
		}
		cfg.Runner.Judges.Agent = prompted.Checker{Language: c.ws.language, Run: func(ctx context.Context, i prompted.Inquiry) (json.RawMessage, error) {
			small, main := c.model.Small()
			return agents.RunHook(ctx, c.agents, cmp.Or(small, main), i)
		}}.Ask
	}
	cfg.Runner.CallTool = func(ctx context.Context, server, tool string, input json.RawMessage) (string, error) {
		return c.Servers.CallText(ctx, server, tool, input)
	}
	if c.record.Log != nil {
		cfg.Runner.Results = c.record.Log
	}
	switch {
	case c.spec.Session.Fork:
		cfg.Source = "fork"
	case c.record.Earlier != nil:
		cfg.Source = "resume"
	}
	if c.spec.Entry == Interactive {
		cfg.Exit = "prompt_input_exit"
	}
	w := &c.spec.worker
	if w.main() {
		cfg.Pace = func(ctx context.Context) bool { return c.ws.Project.Pulse.Wait(ctx, watchInterval) }
	} else {
		cfg.Agent, cfg.Transcript, cfg.EnvFile = w.kind, c.record.Path, nil
	}
	c.Hooks = lifecycle.New(cfg)
	switch {
	case w.ForHook:
		c.Hooks.Check(w.lead.hooks)
	case !w.main():
		c.Hooks.Under(w.lead.hooks)
	}
	c.closers.add(c.Hooks.Close)
	c.Gate.SetHooks(c.Hooks.Answer)
}

// watchInterval is the polling interval for files watched by hooks.
const watchInterval = time.Second

// hookSources returns the current hook sources: plugins and settings.
func (w *Workspace) hookSources() []hook.Source {
	if o := w.Plugins.Recalled(); o != nil {
		w.pluginErrors.lines(o.Errors, w.Say)
		return append(w.Plugins.Remembered(o), w.values().Hooks.Sources...)
	}
	return append(w.earlyPlugins().Hooks(), w.values().Hooks.Sources...)
}

// hookSources returns the conversation's current hook sources, including its agent's. A hook's
// agent has no hooks of its own; see [hook.Runner.Check].
func (c *base) hookSources() []hook.Source {
	if c.spec.worker.ForHook {
		return nil
	}
	all := c.ws.hookSources()
	if d := c.spec.worker.Definition; d != nil {
		return append(all, agents.WorkerHooks(d)...)
	}
	return append(all, agents.Hooks(c.spec.Definition)...)
}

// hookPolicy returns the policy that decides which hooks run.
func hookPolicy(s settings.Hooks, bare bool) hook.Policy {
	p := s.Policy
	p.Bare = bare
	return p
}

// reportInstructions returns a function that fires the InstructionsLoaded hooks.
func reportInstructions(h *lifecycle.Hooks) func(context.Context, []instruct.File) {
	return func(ctx context.Context, files []instruct.File) {
		if !h.Has(hook.InstructionsLoaded) {
			return
		}
		for _, f := range files {
			h.Fire(ctx, hook.OnInstructionsLoaded(f.Path, f.Kind.String(), string(f.Reason), f.Globs))
		}
	}
}

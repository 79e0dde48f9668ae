package app

import (
	"encoding/json"
	"path/filepath"

	"adze/internal/hook"
	"adze/internal/platform/config"
	"adze/internal/platform/envfile"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
	"adze/internal/session"
	"adze/internal/session/lifecycle"
	"adze/internal/ui/headless"
	"adze/internal/ui/hostapi"
)

// openHooks makes the hooks of the settings, and lets the gate and the session ask them.
func (b *builder) openHooks(cfg *session.Config) {
	runner := hook.Config{
		Sources:           hookSources(b.settings),
		Common:            b.hookFacts,
		Dir:               b.env.Dir,
		ProjectDir:        b.prefs.workspace.Root,
		Environ:           func() []string { return environ(b.settings) },
		Policy:            b.hookPolicy(),
		Approved:          b.approvedHook,
		SessionEndTimeout: milliseconds(b.settings, "ADZE_SESSIONEND_HOOKS_TIMEOUT_MS"),
		Log:               cfg.Debug,
	}
	if b.log != nil {
		runner.Results = b.log
	}
	c := lifecycle.Config{
		Runner: runner, Source: "startup", Exit: "other", EnvFile: b.vars, Say: b.env.say,
		ModelID: func(name string) string { m, _ := b.resolve(name); return m.ID }, // ok: the session has it already
	}
	switch {
	case b.o.fork:
		c.Source = "fork"
	case b.earlier != nil:
		c.Source = "resume"
	}
	if interactive(b.env, b.o) {
		c.Exit = "prompt_input_exit"
	}
	b.hooks = lifecycle.New(c)
	b.closers = append(b.closers, b.hooks.Close)
	b.gate.SetHooks(b.hooks.Answer)
	cfg.Stops = append(cfg.Stops, b.hooks)
	cfg.Listeners.Ended = b.hooks.Ended
}

// openEnvFile returns the file in which hooks set variables for commands.
func (b *builder) openEnvFile() *envfile.File {
	path := ""
	if b.home != "" {
		path = filepath.Join(b.home, "session-env", b.id+".sh")
	}
	return envfile.New(path, &b.runner, b.env.say)
}

// hookSources returns where the settings define hooks, the least important first. What an untrusted
// workspace says is not among them.
func hookSources(s *config.Settings) []hook.Source {
	var sources []hook.Source
	for _, p := range s.Parts("hooks") {
		sources = append(sources, hook.Source{
			Name: p.Scope.String(), Scope: p.Scope, File: p.File, JSON: p.JSON, Workspace: p.Scope == scope.Project, Trusted: true,
		})
	}
	return sources
}

func (b *builder) hookPolicy() hook.Policy {
	s := b.settings
	p := hook.Policy{
		Disable:     s.Bool("disableAllHooks") || b.o.bare,
		ManagedOnly: s.Bool("allowManagedHooksOnly"),
		InHook:      s.Bool("ADZE_IN_HOOK"),
	}
	from, set := s.ScopeOf("disableAllHooks")
	p.DisableManaged = s.Bool("disableAllHooks") && set && from == scope.Managed
	if s.Origin("allowedHttpHookUrls") != "" {
		p.AllowedURLs = append([]string{}, s.Strings("allowedHttpHookUrls")...)
	}
	return p
}

// approvedHook reports whether a hook of the workspace is as it was when the user trusted the workspace.
func (b *builder) approvedHook(_ hook.Source, event, matcher string, handler json.RawMessage) bool {
	return b.prefs.workspace.Approved(scope.Project, trust.Hook(event, matcher, handler))
}

// hookFacts returns what every hook is told.
func (b *builder) hookFacts() hook.Common {
	c := hook.Common{Session: b.id, Dir: b.dir.here(), Mode: b.gate.Mode()}
	if b.log != nil {
		c.Transcript = b.log.Path()
	}
	return c
}

// hostHooks adds the hooks of the program that drives the session.
func (b *builder) hostHooks(start headless.Start) error {
	if len(start.Hooks) == 0 {
		return nil
	}
	hooks, err := json.Marshal(start.Hooks)
	if err != nil {
		return err
	}
	if problems := b.hooks.SetHost(hooks, start.RunHook); len(problems) > 0 {
		return &hostapi.Refusal{Code: "invalid_hooks", Text: problems[0].Error()}
	}
	return nil
}

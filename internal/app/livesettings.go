package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"adze/internal/hook"
	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/platform/scope"
)

// settingsPause is how often settings files are looked at while a session lasts.
const settingsPause = time.Second

// followSettings takes over what others change in settings files while the session lasts, and keeps in
// them what the person decides. The gate and the hooks exist by now.
func (b *builder) followSettings(ctx context.Context) {
	b.gate.SetSave(b.saveUpdate)
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		b.prefs.live.Watch(ctx, settingsPause, func(c config.Change) { b.settingsChanged(ctx, c) })
	})
	b.closers = append(b.closers, func() { cancel(); watch.Wait() })
}

// settingsChanged takes over rules, directories and hooks, unless a hook objects. Nobody can object to
// what the administrator changes.
func (b *builder) settingsChanged(ctx context.Context, c config.Change) {
	for _, problem := range c.Problems {
		b.env.say(problem.String())
	}
	blocked := ""
	for _, f := range c.Files {
		out := b.hooks.Fire(ctx, hook.OnConfigChange(f.Scope, f.Path))
		if f.Scope == scope.Managed {
			blocked = ""
			break
		}
		if out.Blocked {
			blocked = fmt.Sprintf("%s changed, but a hook keeps what it said before in force: %s", f.Path, out.Reason)
		}
	}
	if blocked != "" {
		b.env.say(blocked)
		return
	}
	if len(c.Files) == 0 {
		return
	}
	dirs := append([]string{}, b.o.dirs...)
	for _, d := range c.Settings.Directories() {
		dirs = append(dirs, d.Path)
	}
	b.gate.SetRules(settingRules(c.Settings), dirs)
	b.sandbox.Reload(sandboxSettings(c.Settings))
	for _, problem := range b.gate.Policy().Problems() {
		b.env.say(problem.Error())
	}
	b.hooks.Reload(hookSources(c.Settings))
}

// saveUpdate keeps a permission update in the settings file it names.
func (b *builder) saveUpdate(ctx context.Context, u permission.Update) error {
	to, err := scope.Parse(string(u.Destination))
	if err != nil {
		return err
	}
	kept := config.Update{Type: string(u.Type), Behavior: string(u.Behavior), Mode: string(u.Mode), Directories: u.Directories}
	for _, r := range u.Rules {
		kept.Rules = append(kept.Rules, r.String())
	}
	return b.prefs.save(ctx, b.env.say, to, kept)
}

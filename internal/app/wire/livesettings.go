package wire

import (
	"context"
	"fmt"

	"adze/internal/hook"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings/config"
)

// tell reports problems with the settings and notifies the conversations of a change.
func (w *Workspace) tell(change config.Change) { w.watch.Tell(change, w.Say) }

// follow applies settings files changed by others during the conversation, and saves the user's
// decisions to them.
func (c *Conversation) follow(ctx context.Context) {
	c.Gate.SetSave(c.ws.saveUpdate)
	ctx, cancel := context.WithCancel(ctx)
	leave := c.ws.watch.Follow(c.ws.Project, c.ws.tell, func(change config.Change) { c.settingsChanged(ctx, change) })
	c.closers.add(func() { cancel(); leave() })
}

// settingsChanged applies the sections that can change during a conversation, unless a hook
// objects. Managed settings always apply.
func (c *Conversation) settingsChanged(ctx context.Context, change config.Change) {
	blocked := ""
	for _, f := range change.Files {
		out := c.Hooks.Fire(ctx, hook.OnConfigChange(f.Scope, f.Path))
		if f.Scope == scope.Managed {
			blocked = ""
			break
		}
		if out.Blocked {
			blocked = fmt.Sprintf("%s changed, but a hook blocked the change: %s", f.Path, out.Reason)
		}
	}
	if blocked != "" {
		c.ws.Say(blocked)
		return
	}
	if len(change.Files) == 0 {
		return
	}
	c.takeSettings()
}

// takeSettings applies the sections of the current settings that can change during a
// conversation.
func (c *Conversation) takeSettings() {
	v := c.ws.values()
	c.Gate.SetRules(v.Permissions.Rules, append(append([]string{}, c.spec.Access.Dirs...), v.Permissions.Directories...))
	for _, problem := range c.Gate.Policy().Problems() {
		c.ws.Say(problem.Error())
	}
	c.shell.SetEnv(c.ws.environment())
	c.sandbox.Reload(v.Sandbox)
	c.Hooks.Reload(c.hookSources())
	c.skills.Reload(context.Background())
	if c.Servers == nil {
		return
	}
	if err := c.Servers.Reload(); err != nil {
		c.ws.Say(err.Error())
	}
}

// saveUpdate saves a permission update to the settings file it names.
func (w *Workspace) saveUpdate(ctx context.Context, u permission.Update) error {
	to, err := scope.Parse(string(u.Destination))
	if err != nil {
		return err
	}
	kept := config.Update{Type: string(u.Type), Behavior: string(u.Behavior), Mode: string(u.Mode), Directories: u.Directories}
	for _, r := range u.Rules {
		kept.Rules = append(kept.Rules, r.String())
	}
	return w.Project.Save(ctx, w.Say, to, kept)
}

package wire

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"adze/internal/hook"
	"adze/internal/permission"
	"adze/internal/platform/config"
	"adze/internal/platform/scope"
)

// A settingsWatch looks at the settings files for all conversations of a workspace, while there are any.
type settingsWatch struct {
	mu        sync.Mutex
	listeners map[int]func(config.Change)
	next      int
	stop      func()
}

// follow calls hear for each change of the settings files until the returned function is called.
func (w *Workspace) follow(hear func(config.Change)) (leave func()) {
	s := &w.watch
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == nil {
		s.listeners = map[int]func(config.Change){}
	}
	id := s.next
	s.next++
	s.listeners[id] = hear
	if len(s.listeners) == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { w.Project.Watch(ctx, w.tell) })
		s.stop = func() { cancel(); done.Wait() }
	}
	return func() {
		s.mu.Lock()
		delete(s.listeners, id)
		stop := s.stop
		last := len(s.listeners) == 0
		s.mu.Unlock()
		if last {
			stop()
		}
	}
}

// tell reports what is wrong with the settings, and passes a change on to the conversations.
func (w *Workspace) tell(change config.Change) {
	for _, problem := range change.Problems {
		w.Say(problem.String())
	}
	w.watch.mu.Lock()
	listeners := slices.Collect(maps.Values(w.watch.listeners))
	w.watch.mu.Unlock()
	for _, hear := range listeners {
		hear(change)
	}
}

// follow takes over what others change in settings files while the conversation lasts, and keeps in them
// what the user decides.
func (c *Conversation) follow(ctx context.Context) {
	c.Gate.SetSave(c.ws.saveUpdate)
	ctx, cancel := context.WithCancel(ctx)
	leave := c.ws.follow(func(change config.Change) { c.settingsChanged(ctx, change) })
	c.closers.add(func() { cancel(); leave() })
}

// settingsChanged takes over the sections that can change while a conversation lasts, unless a hook objects.
// What the administrator changes counts in any case.
func (c *Conversation) settingsChanged(ctx context.Context, change config.Change) {
	blocked := ""
	for _, f := range change.Files {
		out := c.Hooks.Fire(ctx, hook.OnConfigChange(f.Scope, f.Path))
		if f.Scope == scope.Managed {
			blocked = ""
			break
		}
		if out.Blocked {
			blocked = fmt.Sprintf("%s changed, but a hook keeps what it said before in force: %s", f.Path, out.Reason)
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

// takeSettings takes over the sections of the settings in force that can change while a conversation lasts.
func (c *Conversation) takeSettings() {
	v := c.ws.values()
	c.Gate.SetRules(v.Permissions.Rules, append(append([]string{}, c.spec.Access.Dirs...), v.Permissions.Directories...))
	for _, problem := range c.Gate.Policy().Problems() {
		c.ws.Say(problem.Error())
	}
	c.shell.setEnv(c.ws.environment())
	c.sandbox.Reload(v.Sandbox)
	c.Hooks.Reload(allHooks(c))
	c.skills.Reload(context.Background())
	if c.Servers == nil {
		return
	}
	if err := c.Servers.Reload(); err != nil {
		c.ws.Say(err.Error())
	}
}

// saveUpdate keeps a permission update in the settings file it names.
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

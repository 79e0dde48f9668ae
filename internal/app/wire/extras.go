package wire

import (
	"context"
	"sync/atomic"

	"adze/internal/feature/deferred"
	"adze/internal/model/catalog"
	"adze/internal/session"
	"adze/internal/settings"
	"adze/internal/tool/deferral"
)

// extrasConfig returns the configuration of deferred tools shared by all conversations in the
// workspace.
func extrasConfig(w *Workspace) deferred.Config {
	return deferred.Config{Say: w.Say, InSystem: w.values().MCP.InSystem, Settings: func() settings.Extra {
		v := w.values()
		e := v.MCP.Extra
		e.Never = e.Never || v.Size.Reduced()
		return e
	}}
}

// openExtras returns the conversation's extras, which store their state with it.
func openExtras(c *Conversation) *deferred.Extras {
	cfg := extrasConfig(c.ws)
	cfg.Last = c.record.State().Last
	if c.Servers != nil {
		cfg.Servers = c.Servers.All()
	}
	cfg.Note = noteOf(c)
	if c.model.Backend != nil {
		now := func() catalog.Model { m, _ := c.model.Lookup(c.Session.Model()); return m } // ok: the session has it
		cfg.Count = c.model.CountTokens(now)
		var last atomic.Pointer[deferral.Model] // read often, rarely changes
		cfg.Model = func() deferral.Model {
			name := c.Session.Model()
			if known := last.Load(); known != nil && known.Name == name {
				return *known
			}
			m := now()
			last.Store(&deferral.Model{Name: name, ID: m.ID, Window: m.ContextWindow, NoSearch: m.NoSearch})
			return *last.Load()
		}
		cfg.Unlisted = func(tool string) bool { return c.prompt.prompt.Unlisted(cfg.Model().ID, tool) }
	}
	x := deferred.New(cfg)
	c.closers.add(x.Close)
	return x
}

// attachExtras attaches the extras to the conversation.
func attachExtras(c *Conversation) {
	c.prompt.extras.Attach(deferred.Conversation{
		Session: func() *session.Session { return c.Session }, Announcer: c.prompt.announcer, Language: c.ws.language,
	})
}

// toolNews returns announcements about deferred tools. A fork gets none: its requests must
// match its lead's except for the directive.
func toolNews(c *Conversation) []string {
	if c.spec.Worker.fork() {
		return nil
	}
	return c.prompt.extras.News()
}

// newsOf returns a hearer that announces changes since the last turn; see [toolNews].
func newsOf(c *Conversation) func(context.Context, session.Prompt) session.HookResult {
	if c.spec.Worker.fork() {
		return func(context.Context, session.Prompt) session.HookResult { return session.HookResult{} }
	}
	return c.prompt.hear
}

// hasServers reports whether any servers, whose tools are deferred, are configured.
func hasServers(w *Workspace) bool {
	f, err := w.MCP()
	return err == nil && f.Any()
}

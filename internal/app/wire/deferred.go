package wire

import (
	"sync/atomic"

	"adze/internal/feature/deferred"
	"adze/internal/model/catalog"
	"adze/internal/settings"
	"adze/internal/tool/deferral"
)

// deferredConfig returns the configuration of deferred tools shared by all conversations in the
// workspace.
func (w *Workspace) deferredConfig() deferred.Config {
	return deferred.Config{Say: w.Say, InSystem: w.values().MCP.InSystem, Settings: func() settings.Extra {
		v := w.values()
		e := v.MCP.Extra
		e.Never = e.Never || v.Size.Reduced()
		return e
	}}
}

// newDeferred returns the conversation's deferred tools, which store their state with it.
func (c *Conversation) newDeferred() *deferred.Extras {
	cfg := c.ws.deferredConfig()
	cfg.Last = c.record.State().Last
	if c.Servers != nil {
		cfg.Servers = c.Servers.All()
	}
	cfg.Note = c.note
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

// hasServers reports whether any servers, whose tools are deferred, are configured.
func (w *Workspace) hasServers() bool {
	f, err := w.MCP()
	return err == nil && f.Any()
}

package wire

import (
	"context"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/feature/mcp"
	"adze/internal/feature/questions"
	"adze/internal/hook"
	"adze/internal/mcp/content"
	"adze/internal/model/catalog"
	"adze/internal/platform/net/browser"
	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/transport"
	"adze/internal/session"
	"adze/internal/session/elicit"
	"adze/internal/tool"
)

// openMCP creates the workspace's MCP servers.
func (w *Workspace) openMCP() (*mcp.Manager, error) {
	flags := w.Env.Servers
	flags.Plugins = w.Plugins.Servers
	f, err := mcp.Open(mcp.Config{
		Project: w.Project, Flags: flags, Runner: w.runner, Dir: w.Dir, Version: w.Version, Say: w.Say,
		Environ: func() []string { return w.environment().List },
		Network: func() transport.Config { return w.network(contacts.Servers) },
	})
	if err == nil {
		w.closers.add(f.Close)
	}
	return f, err
}

// openServers gives the conversation its view of the servers and starts connecting. Only models
// use servers, except a hook's agent, which would have to wait for them.
func (c *Conversation) openServers() error {
	v := c.ws.values()
	if c.spec.Calls != FromModel || c.spec.Preview || c.spec.worker.ForHook || v.Size.Reduced() && len(c.ws.Env.Servers.Configs) == 0 {
		return nil
	}
	f, err := c.ws.MCP()
	if err != nil {
		return err
	}
	share := mcp.ClientConfig{
		Asker: elicit.New(c.elicitConfig()), Roots: c.dir.Roots, Content: c.serverContent(), Gate: c.Gate, Hooks: func() tool.Gate { return c.Hooks },
		Session: c.session, Ignored: v.MCP.Extra.Ignored, Say: c.ws.Say,
		ShortLived: c.spec.unattended(), Agent: agentDefinition(&c.spec), Holds: c.spec.worker.main(), Below: c.spec.worker.lead.servers,
	}
	if c.spec.Entry != Interactive {
		share.Patience = v.MCP.Timeout + time.Second // long enough to report attempts that time out
	}
	c.Servers = f.Share(share)
	c.closers.add(c.Servers.Leave)
	return nil
}

// elicitConfig returns the configuration with which servers query the conversation's user and model.
func (c *Conversation) elicitConfig() elicit.Config {
	cfg := elicit.Config{
		Ask:     func(ctx context.Context, q session.Question) (session.Reply, error) { return c.Session.Ask(ctx, q) },
		Fire:    func(ctx context.Context, e hook.Event) hook.Outcome { return c.Hooks.Fire(ctx, e) },
		Open:    func(url string) error { return browser.Open(url, c.ws.Getenv) },
		Say:     c.ws.Say,
		ModelID: func() string { m, _ := c.model.Resolve(c.Session.Model()); return m.ID }, // ok: the session has it
	}
	if c.model.Backend != nil {
		cfg.Model = func(ctx context.Context, q sidequery.Question) (*sidequery.Answer, error) {
			return c.small.Asker.Ask(ctx, q)
		}
	}
	return cfg
}

// questions returns the configuration for model questions to the user. Sub-agents have no user of
// their own.
func (c *Conversation) questions() questions.Config {
	cfg := c.elicitConfig()
	asks := c.spec.Access.Asks && c.spec.Calls == FromModel
	return questions.Config{Asks: asks, Ask: cfg.Ask, Fire: cfg.Fire}
}

// choose lets hooks ask the user. Hooks in an agent's conversation ask the lead's user.
func (c *Conversation) choose(ctx context.Context, q hook.Question) (string, error) {
	w := &c.spec.worker
	switch {
	case !w.main() && w.Asks != nil && w.Asks():
		return w.lead.choose(ctx, q)
	case !w.main(), c.Session == nil: // cannot ask, or is still being opened
		return questions.Config{}.Choose(ctx, q)
	}
	return c.questions().Choose(ctx, q)
}

// serverContent returns the configuration for processing server results.
func (c *Conversation) serverContent() content.Config {
	cfg := content.Config{MaxTokens: c.ws.values().MCP.MaxOutput, Save: c.resultSaver()}
	if c.model.Backend != nil {
		now := func() catalog.Model { m, _ := c.model.Lookup(c.Session.Model()); return m } // ok: the session has it
		cfg.Images = func() bool { return now().Images }
		cfg.Count = c.model.CountTokens(now)
	}
	return cfg
}

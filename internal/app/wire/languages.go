package wire

import (
	"context"
	"sync"
	"time"

	"adze/internal/agent/exec"
	"adze/internal/commands"
	feature "adze/internal/feature/lsp"
	"adze/internal/lsp"
	"adze/internal/session"
	"adze/internal/tool/change"
)

// languageServers are the workspace's language servers, with the problems of their definitions.
type languageServers struct {
	*lsp.Servers
	definitions func(plugins []lsp.Server) (servers []lsp.Server, problems []string)
	fits        func() bool // reports whether an installed server fits the project
}

// openLanguages returns the workspace's language servers. It starts none.
func (w *Workspace) openLanguages() *languageServers {
	l := &languageServers{definitions: func(plugins []lsp.Server) ([]lsp.Server, []string) {
		return feature.Definitions(w.values().Languages.Servers, plugins)
	}}
	l.Servers = lsp.Open(lsp.Config{
		Servers: func() []lsp.Server {
			list, _ := l.definitions(w.pluginSet().Languages(w.Getenv))
			return list
		},
		Static:  func() []lsp.Server { list, _ := l.definitions(nil); return list }, // plugins take time to check
		Trusted: w.Project.Trust.Trusted, Runner: w.runner,
		Environ: func() []string { return w.environment().List }, Version: w.Version,
	})
	l.fits = sync.OnceValue(func() bool { return len(l.Fits(w.Dir)) > 0 })
	w.closers.add(l.Close)
	return l
}

// openLanguages gives the conversation the workspace's language servers, unless they are off.
func (c *Conversation) openLanguages() {
	v := c.ws.values()
	if !v.Languages.Enabled || c.spec.Calls != FromModel || c.spec.Preview || c.spec.Bare || c.spec.worker.ForHook || v.Size.Reduced() {
		return
	}
	c.languages = feature.New(feature.Config{
		Servers: c.ws.languages().Servers, Roots: c.dir.Roots, Hidden: c.Gate.Hidden, Main: c.spec.worker.main(),
		Files: func() *change.Files { return c.files.changes }, Fits: c.ws.languages().fits,
		Gates: func() ([]exec.Gate, []exec.After) {
			var cfg session.Config
			c.parts.Configure(&cfg)
			return cfg.Gates, cfg.Afters
		},
		Wait: func() time.Duration { return c.ws.values().Languages.Wait },
	})
}

// checkLanguages checks the language servers for adze doctor.
func (w *Workspace) checkLanguages(context.Context) commands.Check {
	off := ""
	switch {
	case !w.values().Languages.Enabled:
		off = "off; the setting languageServers.enabled switches them on"
	case !w.Project.Trust.Trusted():
		off = "off, because the workspace is not trusted"
	}
	l := w.languages()
	_, problems := l.definitions(nil)
	return feature.Check(l.Servers, off, problems)
}

package wire

import (
	cut "adze/internal/agent/snip"
	"adze/internal/app/toolbox"
	"adze/internal/model/catalog"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/settings"
	"adze/internal/tool"
)

// builtinTools returns the tools of the toolbox. Parts have further ones.
func (c *Conversation) builtinTools() []tool.Tool {
	v, w := c.ws.values(), &c.spec.worker
	cfg := toolbox.Config{
		Values: v, Runner: c.shell.Runner, Engine: c.ws.Engine, Gate: c.Gate, Sandbox: c.sandbox, Git: c.ws.git.judge,
		Shell: c.shell, State: c.files.state, Files: c.files.changes, Output: &c.output.Output,
		Single: c.spec.Calls == Single,
		Turns: toolbox.Turns{
			Unattended: c.spec.unattended() && c.spec.shownEntry() == Print, Agent: !w.main(),
			Reports: w.Definition != nil && c.spec.Team.Mate == nil, // a teammate does not report, and a fork gets its lead's prompt
			Fixed:   w.Definition != nil,                            // a fork has its lead's exact tools
		},
		Pages: toolbox.PagesFor(c.ws.online(), c.pageReader()), Search: toolbox.WebSearch(c.ws.online(), c.pageReader()),
		Extras: c.prompt.extras, Servers: c.Servers,
		Delegates:   toolbox.Delegates{Skills: c.listing, Skill: c.skills, Agents: c.agents},
		Experiments: c.window.experiments(v.Window),
	}
	_, repository := gitinfo.Branch(c.dir.Here())
	cfg.NoRepository = !repository
	if c.ws.Project.Home != "" {
		cfg.PlanFile = c.PlanFile
	}
	cfg.Program = c.spec.Calls == FromClient
	if c.model.Backend != nil {
		cfg.Model = func() catalog.Model { m, _ := c.model.Lookup(c.Session.Model()); return m } // ok: the session has it
		cfg.Count = c.model.CountTokens(cfg.Model)
	}
	return toolbox.New(cfg)
}

// experiments returns the tool configuration for the experiments enabled in the settings.
func (w *windowParts) experiments(s settings.Window) (e toolbox.Experiments) {
	if s.Snip {
		w.snipper = new(cut.Snipper)
		e.Stale = w.snipper
	}
	if s.Collapse {
		e.Inspect = func() string { return w.folder.Report() }
	}
	return e
}

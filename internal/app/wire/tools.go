package wire

import (
	"slices"

	cut "adze/internal/agent/snip"
	"adze/internal/app/toolbox"
	"adze/internal/feature/questions"
	"adze/internal/model/catalog"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/session/transcript"
	"adze/internal/settings"
	"adze/internal/tool"
)

func (c *Conversation) tools() []tool.Tool {
	v := c.ws.values()
	cfg := toolbox.Config{
		Values: v, Runner: c.shell.Runner, Engine: c.ws.Engine, Gate: c.Gate, Sandbox: c.sandbox, Git: c.ws.git.judge,
		Shell: c.shell, State: c.files.state, Files: c.files.changes, Output: &c.output.Output,
		Single: c.spec.Calls == Single,
		Turns: toolbox.Turns{
			Unattended: c.spec.unattended() && c.spec.door() == Print, Agent: c.spec.Worker != nil, Reports: c.spec.Worker.reports(),
			Fixed: c.spec.Worker != nil && !c.spec.Worker.fork(), // a fork has its lead's exact tools
		},
		Pages: toolbox.PagesFor(c.ws.online(), reader(c)), Search: toolbox.WebSearch(c.ws.online(), reader(c)),
		Extras: c.prompt.extras, Servers: c.Servers,
		Delegates:   toolbox.Delegates{Skills: c.prompt.skills, Skill: c.skills, Agents: c.agents},
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
	tools := slices.Concat(toolbox.New(cfg), scheduleTools(c), c.prompt.tasks.Tools(), c.flows.Tools(), worktreeTools(c), []tool.Tool{questions.Tool(questionsOf(c))})
	tools = append(tools, watchTools(c, tools)...)
	tools = append(tools, c.prompt.team.Tools()...)
	transcript.RestoreTools(tools, c.record.Earlier)
	return tools
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

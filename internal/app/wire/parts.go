package wire

import (
	"context"
	"slices"

	"adze/internal/feature"
	"adze/internal/feature/questions"
	"adze/internal/feature/schedule"
	"adze/internal/feature/teams"
	"adze/internal/feature/worktrees"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/bash"
	"adze/internal/tools/monitor"
)

// orderedParts returns the conversation's parts in the order in which their prompt hooks, gates, result
// observers and stop hooks are called; see testdata/order.txt. builtin are the tools of the toolbox.
func (c *Conversation) orderedParts(builtin []tool.Tool) feature.Parts {
	model, main, fork := c.spec.Calls == FromModel, c.spec.worker.main(), c.spec.worker.fork
	return feature.Parts{
		schedule.Part(c.jobs, c.ws.Project),
		c.tasks.Part(),
		c.workflows.Part(),
		c.Servers.Part(),
		{Name: "hooks", PromptHook: c.Hooks.PromptHook, Gate: c.Hooks, After: c.Hooks, Stop: c.Hooks, Ended: c.Hooks.Ended},
		{Name: "permission", Gate: c.Hooks.Denials(c.sandbox.Guard(c.Gate))},
		c.worktreePart(),
		questions.Part(c.questions()),
		c.coordinator.Part(),
		c.prompt.memory.Part(),
		when(c.spec.worker.MemoryTask != nil, feature.Part{Name: "memory only", Gate: c.prompt.memory.Only()}),
		{Name: "shell", PromptHook: c.shell.PromptHook, Tools: c.monitorTools(builtin)},
		{Name: "mode", PromptHook: c.remindMode},
		{Name: "scratch", PromptHook: c.makeScratch},
		c.prompt.part(),
		{Name: "files", PromptHook: c.files.promptHook},
		when(model, feature.Part{Name: "skills of the agent", PromptHook: c.skills.Preload(c.preloadedSkills())}),
		c.skills.Part(c.listing),
		when(model, feature.Part{Name: "effort", PromptHook: session.RaiseEffort(c.session, c.model.Highest)}),
		when(model, feature.Part{Name: "attachments", PromptHook: c.attachments()}),
		when(model && !fork, c.prompt.extras.Part()), // a fork's requests must match its lead's
		c.Servers.Channels(),
		c.titlePart(),
		c.judgePart(),
		c.files.part(),
		c.languages.Part(),
		c.team.Part(),
		c.maintainer.Part(),
		when(model && main, c.contract.Part()),
	}
}

// when returns p if ok, or an empty part.
func when(ok bool, p feature.Part) feature.Part {
	if !ok {
		return feature.Part{}
	}
	return p
}

// worktreePart guards calls in the sub-agent's own worktree, or in the main conversation's.
func (c *Conversation) worktreePart() feature.Part {
	if guard := worktrees.NewGuard(c.spec.worker.copy); guard != nil {
		return feature.Part{Name: "worktree", Gate: guard}
	}
	if c.dir.trees == nil {
		return feature.Part{Name: "worktree", Gate: c.trees.Guard()}
	}
	v := c.ws.values() // the tools' descriptions cost tokens
	return c.dir.trees.Part(!v.Size.Reduced() && (v.Loop.Worktree.Tools || c.spec.Worktree.In != nil), c.ws.Now)
}

// remindMode reminds the model of the current mode at the start of a turn.
func (c *Conversation) remindMode(context.Context, session.Prompt) (h session.HookResult) {
	reminders, planning := c.Gate.Reminders(), c.Gate.Mode() == permission.Plan
	switch {
	case !planning:
	case c.spec.Team.Team != "":
		if len(reminders) > 0 {
			reminders = append(reminders, teams.Planning(c.ws.language()))
		}
	case !c.spec.worker.main():
		reminders = c.spec.worker.planning(c.ws.language())
	}
	for _, text := range reminders {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

// makeScratch creates the directory for temporary files on the first user prompt.
func (c *Conversation) makeScratch(context.Context, session.Prompt) (h session.HookResult) {
	c.scratch.Path()
	return h
}

// monitorTools returns the Monitor tool if the settings enable it. It runs commands through the
// shell tool among builtin.
func (c *Conversation) monitorTools(builtin []tool.Tool) []tool.Tool {
	shell := slices.IndexFunc(builtin, func(t tool.Tool) bool { return t.Spec().Name == bash.Name })
	if !c.ws.values().Loop.Monitor || c.spec.Calls != FromModel || shell < 0 {
		return nil
	}
	return []tool.Tool{monitor.New(monitor.Config{Shell: builtin[shell], Tasks: c.shell.Tasks})}
}

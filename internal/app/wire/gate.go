package wire

import (
	"adze/internal/app/conversation"
	"adze/internal/app/toolbox"
	"adze/internal/feature/agents"
	"adze/internal/permission"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tools/structured"
)

// place returns the parts of the workspace that gates need.
func (w *Workspace) place() conversation.AccessPlace {
	return conversation.AccessPlace{Project: w.Project, Dir: w.Dir, Getenv: w.Getenv, Say: w.Say, Language: w.language, Obeyed: w.git.judge.Obeyed}
}

// deniedTools returns a predicate for tools that are not offered. The structured output tool is
// offered whenever there is a schema.
func (w *Workspace) deniedTools(s *Spec, gate *permission.Gate, tools []tool.Tool) func(name string) bool {
	o := conversation.Offer{Tools: tools, Always: structured.Name, Agent: offeredBy(s), HasServers: func() bool { return w.hasServers() }}
	switch w.values().Size {
	case settings.SmallPrompt:
		o.Simple = toolbox.Small()
	case settings.MediumPrompt:
		o.Simple = toolbox.Medium()
	}
	if s.Coordinator {
		o.Simple, o.Agent = agents.CoordinatorTools(), agents.CoordinatorOffers
	}
	return conversation.Denied(w.Say, s.Access, gate, o)
}

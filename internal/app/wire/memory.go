package wire

import (
	"adze/internal/feature/memory"
	"adze/internal/feature/memory/recall"
	"adze/internal/model"
	"adze/internal/model/mute"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/settings"
)

// openMemory locates the workspace's memory.
func (w *Workspace) openMemory(spec *Spec) *memory.View {
	return memory.Open(memory.Config{
		Project: w.Project, Dir: w.Dir, Bare: spec.Bare, Single: spec.unattended() && spec.Session.Ephemeral, Say: w.Say, Agent: remembering(spec),
	})
}

// muted withholds memories from the provider while memory is off.
func muted(m *memory.View, p model.Provider) model.Provider {
	if m.Never != "" {
		return p
	}
	return mute.New(p, "[left out: memory is switched off]", m.Muted)
}

// remember enables memory recall for the conversation. The agent that maintains memories reads
// them anyway.
func remember(c *Conversation) {
	if c.told.memory.Never != "" || c.spec.Worker.keeper() != nil {
		return
	}
	c.told.memory.Recaller = recall.New(recall.Config{
		Small: c.window.small, Folder: c.told.memory.Folder, On: c.told.memory.On,
		Language: c.ws.language, Seen: c.files.seen, Now: c.ws.Now, Log: c.debug,
		Called: func(u *msg.ToolUse) *msg.ToolUse { return c.Session.Pool().Forwarded(u) },
	})
}

// openDreams creates the background maintenance of memories for a conversation with the user.
func openDreams(c *Conversation) {
	if c.agents == nil || c.spec.Worker != nil {
		return
	}
	c.dreams = memory.NewConsolidator(memory.ConsolidatorConfig{
		Launch: c.agents.Launch, Background: c.shell.Tasks != nil, Memory: c.told.memory, Project: c.ws.Project, Dir: c.ws.Dir,
		Settings: func() settings.Memory { return c.ws.values().Memory }, Session: func() *session.Session { return c.Session },
		Unattended: c.spec.unattended(), Language: c.ws.language, Now: c.ws.Now, Say: c.ws.Say, Log: c.debug,
	})
	c.closers.add(c.dreams.Close)
}

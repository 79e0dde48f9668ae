package wire

import (
	"adze/internal/feature/memory"
	"adze/internal/feature/memory/recall"
	"adze/internal/model"
	"adze/internal/model/mute"
	"adze/internal/msg"
	"adze/internal/settings"
)

// openMemory locates the workspace's memory.
func (w *Workspace) openMemory(spec *Spec) *memory.View {
	return memory.Open(memory.Config{
		Project: w.Project, Dir: w.Dir, Bare: spec.Bare, Single: spec.unattended() && spec.Session.Ephemeral, Say: w.Say, Agent: memoryAgent(spec),
	})
}

// withoutMemories withholds memories from the provider while memory is off.
func withoutMemories(m *memory.View, p model.Provider) model.Provider {
	if m.Never != "" {
		return p
	}
	return mute.New(p, "[left out: memory is switched off]", m.Muted)
}

// enableRecall enables memory recall for the conversation. The agent that maintains memories reads
// them anyway.
func (c *Conversation) enableRecall() {
	if c.prompt.memory.Never != "" || c.spec.worker.MemoryTask != nil {
		return
	}
	c.prompt.memory.Recaller = recall.New(recall.Config{
		Small: c.small, Folder: c.prompt.memory.Folder, On: c.prompt.memory.On,
		Language: c.ws.language, Seen: c.files.seen, Now: c.ws.Now, Log: c.debug,
		Called: func(u *msg.ToolUse) *msg.ToolUse { return c.Session.Pool().Forwarded(u) },
	})
}

// openMaintainer creates the background maintenance of memories for a conversation with the user.
func (c *Conversation) openMaintainer() {
	if c.agents == nil {
		return
	}
	c.maintainer = memory.NewConsolidator(memory.ConsolidatorConfig{
		Launch: c.agents.Launch, Background: c.shell.Tasks != nil, Memory: c.prompt.memory, Project: c.ws.Project, Dir: c.ws.Dir,
		Settings: func() settings.Memory { return c.ws.values().Memory }, Session: c.session,
		Unattended: c.spec.unattended(), Language: c.ws.language, Now: c.ws.Now, Say: c.ws.Say, Log: c.debug,
	})
	c.closers.add(c.maintainer.Close)
}

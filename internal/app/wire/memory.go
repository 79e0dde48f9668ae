package wire

import (
	"adze/internal/app/memories"
	"adze/internal/memory/recall"
	"adze/internal/model"
	"adze/internal/model/mute"
	"adze/internal/msg"
)

// openMemory finds the memory of the workspace.
func (w *Workspace) openMemory(spec *Spec) *memories.View {
	return memories.Open(memories.Config{
		Project: w.Project, Dir: w.Dir, Bare: spec.Bare, Single: spec.unattended() && spec.Session.Ephemeral, Say: w.Say, Agent: remembering(spec),
	})
}

// muted keeps memories from the provider while they are switched off.
func muted(m *memories.View, p model.Provider) model.Provider {
	if m.Never != "" {
		return p
	}
	return mute.New(p, "[left out: memory is switched off]", m.Muted)
}

// remember lets the conversation recall memories.
func remember(c *Conversation) {
	if c.told.memory.Never != "" {
		return
	}
	c.told.memory.Recaller = recall.New(recall.Config{
		Small: c.window.small, Folder: c.told.memory.Folder, On: c.told.memory.On,
		Language: c.ws.language, Seen: c.files.seen, Now: c.ws.Now, Log: c.debug,
		Called: func(u *msg.ToolUse) *msg.ToolUse { return c.Session.Pool().Forwarded(u) },
	})
}

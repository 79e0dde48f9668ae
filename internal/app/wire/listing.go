package wire

import (
	"path/filepath"

	"adze/internal/domain/skill"
	"adze/internal/feature/skills"
	"adze/internal/feature/skills/usage"
	"adze/internal/msg"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tools/extratools"
)

// skillTool is the tool that runs skills.
const skillTool = "Skill"

// openListing returns the conversation's skill listing, or nil if skills are not announced.
// listed returns the skills.
func openListing(c *Conversation, listed func() []*skill.Skill) *skills.Listing {
	if c.model.Backend == nil || c.spec.Bare || c.ws.values().Size.Reduced() || c.spec.Coordinator {
		return nil
	}
	cfg := skills.ListingConfig{
		Skills: listed, Runner: skillTool, Door: extratools.ExecuteName,
		Pool:     func() *tool.Pool { return c.Session.Pool() },
		Window:   func() int { m, _ := c.model.Lookup(c.Session.Model()); return m.ContextWindow }, // ok: the session has it
		Settings: func() settings.Skills { return c.ws.values().Skills },
		Language: c.ws.language, Score: usageOf(c.ws).Score,
		Before: func() []msg.Entry { return c.Session.Conversation() },
		Last:   c.record.State().Last, Note: noteOf(c),
		Start: c.skills.Start(), Keep: startSaver(c, listed),
	}
	return skills.NewListing(cfg)
}

// usageOf returns the skill usage counters. All values share one file.
func usageOf(w *Workspace) *usage.Usage {
	file := ""
	if w.Project.Home != "" {
		file = usageFile(w)
	}
	return usage.Open(file, w.Now)
}

// usageFile returns the path of the file that stores skill usage.
func usageFile(w *Workspace) string { return filepath.Join(w.Project.Home, "skill-usage.json") }

package wire

import (
	"path/filepath"

	"adze/internal/feature/skills"
	"adze/internal/feature/skills/usage"
	"adze/internal/msg"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tools/extratools"
)

// skillTool is the tool that runs skills.
const skillTool = "Skill"

// newListing returns the conversation's skill listing, or nil if skills are not announced.
func (c *Conversation) newListing() *skills.Listing {
	if c.model.Backend == nil || c.spec.Bare || c.ws.values().Size.Reduced() || c.spec.Coordinator {
		return nil
	}
	cfg := skills.ListingConfig{
		Skills: c.skills.Listed, Runner: skillTool, Door: extratools.ExecuteName,
		Pool:     func() *tool.Pool { return c.Session.Pool() },
		Window:   func() int { m, _ := c.model.Lookup(c.Session.Model()); return m.ContextWindow }, // ok: the session has it
		Settings: func() settings.Skills { return c.ws.values().Skills },
		Language: c.ws.language, Score: c.ws.usage().Score,
		Before: func() []msg.Entry { return c.Session.Conversation() },
		Last:   c.record.State().Last, Note: c.note,
		Start: c.skills.Start(), Keep: c.startSaver(c.skills.Listed),
	}
	return skills.NewListing(cfg)
}

// usage returns the skill usage counters. All values share one file.
func (w *Workspace) usage() *usage.Usage {
	file := ""
	if w.Project.Home != "" {
		file = w.usageFile()
	}
	return usage.Open(file, w.Now)
}

// usageFile returns the path of the file that stores skill usage.
func (w *Workspace) usageFile() string { return filepath.Join(w.Project.Home, "skill-usage.json") }

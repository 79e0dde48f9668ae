package wire

import (
	"cmp"

	"adze/internal/app/setup"
	"adze/internal/brief"
)

// PromptPage returns what the first request of a conversation would say. Nothing is opened.
func (w *Workspace) PromptPage(spec Spec) (*brief.Page, error) {
	b, err := w.Bench(spec.Access)
	if err != nil {
		return nil, err
	}
	c := &Conversation{ws: w, spec: spec, memory: w.openMemory(spec.Bare), model: &modelChoice{ws: w}}
	defer c.Close()
	m, err := c.model.resolve(cmp.Or(spec.Model.Name, w.values().Model.Name, "default"))
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	c.toolTexts = brief.NewToolTexts(b.Tools)
	var a *brief.Announcer // none in the simple mode
	if !w.values().Simple {
		a = brief.NewAnnouncer(c.announcements())
	}
	return brief.NewPage(m.ID, c.newPrompt(), a, c.describe(b.pool.Specs()))
}

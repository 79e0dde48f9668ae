package wire

import (
	"cmp"

	"adze/internal/app/models"
	"adze/internal/app/setup"
	"adze/internal/brief"
)

// PromptPage returns what the first request of a conversation would say. Nothing is opened.
func (w *Workspace) PromptPage(spec Spec) (*brief.Page, error) {
	b, err := w.Bench(spec.Access)
	if err != nil {
		return nil, err
	}
	m, err := (&models.Choice{Config: w.modelConfig()}).Resolve(cmp.Or(spec.Model.Name, w.values().Model.Name, "default"))
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	told := newBriefing(w, &spec, func() bool { return true }, nil)
	told.texts = brief.NewToolTexts(b.Tools)
	told.announceWith(nil)
	return brief.NewPage(m.ID, told.prompt, told.announcer, told.describe(b.pool.Specs()))
}

package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/app/models"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
)

// ScriptedModel is the ID of the model played by a script.
const ScriptedModel = models.ScriptedModel

// openModel selects the model and its provider, unless calls do not come from a model.
func (c *Conversation) openModel(ctx context.Context) (err error) {
	cfg := c.ws.modelConfig()
	if c.spec.Calls != FromModel {
		c.model = &models.Choice{ChoiceConfig: cfg}
		return nil
	}
	if c.spec.Preview {
		c.model = models.Preview(cfg, c.spec.Model)
		_, err := c.model.Resolve(c.model.Name)
		return err
	}
	parent := c.spec.worker.lead.model
	if c.model, err = models.Choose(ctx, cfg, c.spec.Model, parent, c.closers.add); err == nil && parent == nil {
		c.fitPrompt()
	}
	return err
}

// fitPrompt selects the small prompt for a model with a narrow context window, unless the user
// chose a size.
func (c *Conversation) fitPrompt() {
	m, err := c.model.Resolve(c.model.Name)
	if err != nil || c.model.Backend.Scripted || !c.ws.Project.FitPrompt(m.Window) {
		return
	}
	c.ws.Say(fmt.Sprintf("using a small prompt (3 tools, no CLAUDE.md, no skills), because %s has only %s tokens; --prompt-size medium or full overrides", m.ID, amount.Grouped(m.Window)))
}

// modelConfig returns the configuration for model selection.
func (w *Workspace) modelConfig() models.ChoiceConfig {
	return models.ChoiceConfig{Models: w.Models, Values: w.values, Say: w.Say, Backend: w.backendConfig}
}

func (w *Workspace) backendConfig(m models.ChoiceSpec) models.Config {
	return models.Config{
		Settings: w.Project.Settings(), Keys: models.OpenKeys(w.Project.Home), Provider: m.Provider, Record: m.Record, Pause: m.Pause, Betas: m.Betas,
		Models: w.Models.Table, Earlier: m.Earlier, Dir: w.Dir, Environ: w.Environ, Getenv: w.Getenv, Home: w.Project.User, Version: w.Version, Say: w.Say,
	}
}

// otherProvider returns the model of a conversation's last answer if its provider differs from
// the currently selected one: a conversation stays with its provider.
func (w *Workspace) otherProvider(m models.ChoiceSpec, entries []msg.Entry) string {
	for _, e := range slices.Backward(entries) {
		if e.Model != "" {
			if models.Other(w.backendConfig(m), cmp.Or(w.values().Model.Name, "default"), e.Model) {
				return e.Model
			}
			break
		}
	}
	return ""
}

// Explain returns a user-facing explanation of a model error.
func (c *Conversation) Explain(err error, name string) string {
	var e *model.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if m, err := c.model.Lookup(name); err == nil {
		name = m.ID
	}
	text := model.Explain(err, name, c.spec.Entry == Interactive)
	if near := c.model.Known().Closest(name); e.Kind == model.NoModel && len(near) > 0 {
		text += " Similar names: " + strings.Join(near, ", ") + "."
	}
	return text
}

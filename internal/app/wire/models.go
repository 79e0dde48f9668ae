package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/cost"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/platform/config"
)

// Models are what a workspace knows about models.
type Models struct {
	table catalog.Table
	say   func(string)
	noted sync.Once // a model that is not in the table
}

func newModels(env Env, p *settings.Project) *Models {
	return &Models{table: ModelTable(p, env.Say), say: env.Say}
}

// facts returns what the ledger needs to know of a model.
func (m *Models) facts(id string) cost.Facts {
	known, ok := m.table.Lookup(id)
	if !ok {
		known = catalog.Unknown(id)
	}
	return cost.Facts{Price: known.Price, ContextWindow: known.ContextWindow, MaxOutput: known.MaxOutput}
}

// noteUnknown tells the user once that a model is not in the table.
func (m *Models) noteUnknown(id string) {
	m.noted.Do(func() {
		text := fmt.Sprintf("%s is not in the table of models (%s): its limits are assumed, and its price is unknown", id, catalog.Date)
		if near := m.table.Closest(id); len(near) > 0 {
			text += "; similar models: " + strings.Join(near, ", ")
		}
		m.say(text)
	})
}

// ModelTable returns the table of models with the corrections of the settings. Say tells the user what is
// wrong with them.
func ModelTable(p *settings.Project, say func(string)) catalog.Table {
	s := p.Settings()
	overrides := map[string]catalog.Override{}
	decodeModels(s, "models", say, func(id string, raw json.RawMessage) error {
		var m struct {
			ContextWindow *int  `json:"contextWindow"`
			MaxOutput     *int  `json:"maxOutput"`
			Images        *bool `json:"images"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		o := overrides[id]
		o.ContextWindow, o.MaxOutput, o.Images = m.ContextWindow, m.MaxOutput, m.Images
		overrides[id] = o
		return nil
	})
	decodeModels(s, "modelPricing", say, func(id string, raw json.RawMessage) error {
		var p struct {
			Input, Output, CacheRead, CacheWrite, CacheWrite1h float64
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		o := overrides[id]
		o.Price = &model.Price{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, CacheWrite1h: p.CacheWrite1h}
		overrides[id] = o
		return nil
	})
	table, err := catalog.Table{}.With(overrides)
	if err != nil {
		say(err.Error())
	}
	return table
}

// decodeModels decodes an object of settings by model.
func decodeModels(s *config.Settings, key string, say func(string), decode func(id string, raw json.RawMessage) error) {
	raw := s.Object(key)
	if len(raw) == 0 {
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		say(fmt.Sprintf("%s: %s is not an object by model id; it is ignored", s.Origin(key), key))
		return
	}
	for id, one := range all {
		if err := decode(id, one); err != nil {
			say(fmt.Sprintf("%s: %s.%s: %v; it is ignored", s.Origin(key), key, id, err))
		}
	}
}

// A modelChoice is the model that a conversation was opened with, and who answers for it.
type modelChoice struct {
	ws             *Workspace
	spec           ModelSpec
	name, fallback string   // as the user named them
	backend        *backend // nil if no model is asked
	smallNoted     sync.Once
}

// openModel settles which model is asked, and by which provider.
func (w *Workspace) openModel(spec Spec, parts *closers) (*modelChoice, error) {
	m := &modelChoice{ws: w, spec: spec.Model}
	if spec.Calls != FromModel {
		return m, nil
	}
	v := w.values().Model
	m.name, m.fallback = cmp.Or(spec.Model.Name, v.Name, "default"), cmp.Or(spec.Model.Fallback, v.Fallback)
	main, err := m.resolve(m.name)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	if m.fallback != "" {
		other, err := m.resolve(m.fallback)
		if err != nil {
			return nil, setup.Errorf("--fallback-model: %v", err)
		}
		if main.ID == other.ID {
			return nil, setup.Errorf("the fallback model %s is the main model; choose another one", m.fallback)
		}
	}
	if m.backend, err = w.openBackend(m.spec, m.name); err != nil {
		return nil, err
	}
	parts.add(func() {
		if err := m.backend.close(); err != nil {
			w.Say(err.Error())
		}
	})
	if m.fallback != "" {
		if _, err := m.resolve(m.fallback); err != nil {
			return nil, setup.Errorf("--fallback-model: %v", err)
		}
	}
	return m, nil
}

// ScriptedModel is the id of the model that a script plays.
const ScriptedModel = "replay"

// resolve finds the limits of a model by name.
func (m *modelChoice) resolve(name string) (agent.Model, error) {
	known, err := m.lookup(name)
	return agent.Model{ID: known.ID, Window: known.ContextWindow, Output: known.DefaultOutput, MaxOutput: known.MaxOutput}, err
}

// lookup finds a model in the table by name.
func (m *modelChoice) lookup(name string) (catalog.Model, error) {
	if strings.HasPrefix(name, replayPrefix) {
		if m.backend != nil && name != m.name {
			return catalog.Model{}, fmt.Errorf("the session uses %s; another script needs a new session", m.name)
		}
		known, _ := m.ws.Models.table.Resolve(ScriptedModel)
		return known, nil
	}
	known, err := m.ws.Models.table.Resolve(name)
	if err == nil && m.backend != nil {
		err = m.backend.router.Open(known.ID)
	}
	if err == nil && !known.Known && m.backend != nil && !m.backend.scripted {
		m.ws.Models.noteUnknown(known.ID)
	}
	return known, err
}

// shared reports whether what is the same in everybody's prompt is cached as a block of its own.
func (m *modelChoice) shared() bool { return m.backend == nil || m.backend.shared }

// effort returns what the user wants; the model may not be able to.
func (m *modelChoice) effort() model.Effort {
	return cmp.Or(m.spec.Effort, m.ws.values().Model.Effort)
}

// thinking returns what the user wants; the model may not be able to.
func (m *modelChoice) thinking() model.Thinking {
	budget, budgeted := m.spec.ThinkingBudget, m.spec.Budgeted
	if s := m.ws.values().Model; !budgeted && !m.spec.Thinks {
		budget, budgeted = s.ThinkingBudget, s.Budgeted
	}
	switch {
	case budgeted && budget > 0:
		return model.Thinking{Mode: model.ThinkingBudget, Budget: max(budget, fit.LeastBudget)}
	case budgeted || m.spec.NoThinking:
		return model.Thinking{}
	}
	return model.Thinking{Mode: model.ThinkingAdaptive}
}

// thinkingWith returns how the model thinks with a budget of tokens, or as the user wants it if budget is nil.
func (m *modelChoice) thinkingWith(budget *int) model.Thinking {
	switch {
	case budget == nil:
		return m.thinking()
	case *budget == 0:
		return model.Thinking{}
	}
	return model.Thinking{Mode: model.ThinkingBudget, Budget: max(*budget, fit.LeastBudget)}
}

// defaultSmall is the model for small questions if the settings name none.
const defaultSmall = "haiku"

// small returns the id of the model for small questions beside the conversation. One that is not known is
// reported once, and the main model is asked instead.
func (m *modelChoice) small() string {
	name := m.ws.values().Model.Small
	switch {
	case name == "" && m.backend != nil && m.backend.scripted:
		return ScriptedModel
	case name == "":
		name = defaultSmall
	}
	known, err := m.ws.Models.table.Resolve(name)
	if err == nil && known.Known {
		return known.ID
	}
	m.smallNoted.Do(func() {
		m.ws.Say(fmt.Sprintf("the small model %s is unknown; using %s instead", name, m.name))
	})
	main, _ := m.resolve(m.name) // ok: it was chosen
	return main.ID
}

// Explain tells the user what an error of the model means.
func (c *Conversation) Explain(err error, name string) string {
	var e *model.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if m, err := c.model.lookup(name); err == nil {
		name = m.ID
	}
	text := model.Explain(err, name, true)
	if near := c.ws.Models.table.Closest(name); e.Kind == model.NoModel && len(near) > 0 {
		text += " Similar names: " + strings.Join(near, ", ") + "."
	}
	return text
}

// countTokens returns a function that asks the provider how many tokens a text is to the model that
// current returns, or nil if the provider cannot count.
func (m *modelChoice) countTokens(current func() catalog.Model) func(context.Context, string) (int, error) {
	counter, ok := model.As[model.Counter](m.backend.provider)
	if !ok {
		return nil
	}
	return func(ctx context.Context, text string) (int, error) {
		now := current()
		if !now.Counting {
			return 0, fmt.Errorf("the provider of %s cannot count tokens", now.ID)
		}
		return counter.CountTokens(ctx, &model.Request{Model: now.ID, Messages: []msg.Message{msg.UserText(text)}})
	}
}

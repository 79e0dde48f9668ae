package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/app/providers"
	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/cost"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/platform/amount"
)

// Models are what a workspace knows about models.
type Models struct {
	table catalog.Table
	say   func(string)
	noted sync.Once // a model that is not in the table
}

func newModels(env Env, p *settings.Project) *Models {
	return &Models{table: providers.Table(p.Settings(), env.Say), say: env.Say}
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
func (m *Models) noteUnknown(assumed catalog.Model) {
	m.noted.Do(func() {
		id := assumed.ID
		text := fmt.Sprintf("%s is not in the table of models (%s): a context window of %s tokens and %s for an answer are assumed, and its price is unknown. "+
			`To say what it has: adze config set models '{%q:{"contextWindow":32768,"maxOutput":4096}}'`,
			id, catalog.Date, amount.Grouped(assumed.ContextWindow), amount.Grouped(assumed.MaxOutput), id)
		if near := m.table.Closest(id); len(near) > 0 {
			text += ". Similar models: " + strings.Join(near, ", ")
		}
		m.say(text)
	})
}

// A modelChoice is the model that a conversation was opened with, and who answers for it.
type modelChoice struct {
	ws             *Workspace
	spec           ModelSpec
	name, fallback string             // as the user named them
	backend        *providers.Backend // nil if no model is asked
	// current returns the name of the model in use; nil before there is a session.
	current    func() string
	smallNoted sync.Once
}

// openModel settles which model is asked, and by which provider.
func (w *Workspace) openModel(ctx context.Context, spec Spec, parts *closers) (*modelChoice, error) {
	m := &modelChoice{ws: w, spec: spec.Model}
	if spec.Calls != FromModel {
		return m, nil
	}
	v := w.values().Model
	m.name, m.fallback = cmp.Or(spec.Model.Name, v.Name, "default"), cmp.Or(spec.Model.Fallback, v.Fallback)
	if p := spec.Parent; p != nil {
		m.backend = p.model.backend
	} else if err := m.open(ctx, parts); err != nil {
		return nil, err
	}
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
	return m, nil
}

// open opens the provider.
func (m *modelChoice) open(ctx context.Context, parts *closers) (err error) {
	c := m.ws.backendConfig(m.spec)
	c.Lifetime = ctx
	if m.backend, err = providers.Open(c, m.name); err != nil {
		return err
	}
	parts.add(func() {
		if err := m.backend.Close(); err != nil {
			m.ws.Say(err.Error())
		}
	})
	return nil
}

func (w *Workspace) backendConfig(m ModelSpec) providers.Config {
	return providers.Config{
		Settings: w.Project.Settings(), Keys: providers.OpenKeys(w.Project.Home), Provider: m.Provider, Record: m.Record, Betas: m.Betas,
		Models: w.Models.table, Earlier: m.Earlier, Dir: w.Dir, Environ: w.Environ, Getenv: w.Getenv, Home: w.Project.User, Version: w.Version, Say: w.Say,
	}
}

// otherProvider returns the model that gave the last answer of a conversation, if its provider is not the one that would be
// asked now: a conversation stays with its provider.
func (w *Workspace) otherProvider(m ModelSpec, entries []msg.Entry) string {
	for _, e := range slices.Backward(entries) {
		if e.Model != "" {
			if providers.Other(w.backendConfig(m), cmp.Or(w.values().Model.Name, "default"), e.Model) {
				return e.Model
			}
			break
		}
	}
	return ""
}

// ScriptedModel is the id of the model that a script plays.
const ScriptedModel = "replay"

// resolve finds the limits of a model by name.
func (m *modelChoice) resolve(name string) (agent.Model, error) {
	known, err := m.lookup(name)
	return agent.Model{ID: known.ID, Window: known.ContextWindow, Output: known.DefaultOutput, MaxOutput: known.MaxOutput, Bound: known.Bound, Wider: known.Wider}, err
}

// lookup finds a model in the table by name.
func (m *modelChoice) lookup(name string) (catalog.Model, error) {
	if strings.HasPrefix(name, providers.ReplayPrefix) {
		if m.backend != nil && name != m.name {
			return catalog.Model{}, fmt.Errorf("the session uses %s; another script needs a new session", m.name)
		}
		known, _ := m.ws.Models.table.Resolve(ScriptedModel)
		known.Bound = true // a script's server is as strict as the strictest
		return known, nil
	}
	if m.backend == nil {
		return m.ws.Models.table.Resolve(name)
	}
	known, err := m.backend.Resolve(name)
	if err == nil && !known.Known && !m.backend.Scripted {
		m.ws.Models.noteUnknown(known)
	}
	return known, err
}

// table returns what is known about models, with the aliases of the provider in use.
func (m *modelChoice) table() catalog.Table {
	if m.backend == nil {
		return m.ws.Models.table
	}
	return m.backend.Models
}

// shared reports whether what is the same in everybody's prompt is cached as a block of its own.
func (m *modelChoice) shared() bool { return m.backend == nil || m.backend.Shared }

// effort returns what the user wants; the model may not be able to.
func (m *modelChoice) effort() model.Effort {
	return cmp.Or(m.spec.Effort, m.ws.values().Model.Effort)
}

// working returns the effort that the model of that name is asked for, or nothing.
func (m *modelChoice) working(name string) model.Effort {
	want := m.effort()
	if want != model.EffortDefault || m.backend == nil {
		return want
	}
	known, err := m.backend.Resolve(name)
	if err != nil {
		return want
	}
	return known.At(m.backend.Router.FirstParty(known.ID)).CodingEffort
}

// highest returns the highest effort that the model of that name takes, or nothing if it is asked for that already, or if
// the user does not want to ask for it by a word.
func (m *modelChoice) highest(name string) model.Effort {
	known, err := m.lookup(name)
	all := known.Efforts()
	if err != nil || len(all) == 0 || !m.ws.values().Model.Ultra || all[len(all)-1] == m.working(name) {
		return ""
	}
	return all[len(all)-1]
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
		return model.Thinking{Asked: true}
	}
	return model.Thinking{Mode: model.ThinkingAdaptive, Asked: m.spec.Thinks}
}

// thinkingWith returns how the model thinks with a budget of tokens, or as the user wants it if budget is nil.
func (m *modelChoice) thinkingWith(budget *int) model.Thinking {
	switch {
	case budget == nil:
		return m.thinking()
	case *budget == 0:
		return model.Thinking{Asked: true}
	}
	return model.Thinking{Mode: model.ThinkingBudget, Budget: max(*budget, fit.LeastBudget)}
}

// small returns the ids of the model for small questions beside the conversation and of the main model. If the settings
// name none, it is that of the main model's provider, where it is known that the endpoint has it. One that is not known
// is reported once. Otherwise the main model is asked.
func (m *modelChoice) small() (small, main string) {
	now := m.name
	if m.current != nil {
		now = m.current()
	}
	known, err := m.lookup(now)
	main = known.ID
	name := m.ws.values().Model.Small
	if name == "" {
		if err == nil && m.backend != nil {
			small = m.backend.Small(main)
		}
		return cmp.Or(small, main), main
	}
	if m.backend != nil {
		if known, err = m.backend.Resolve(name); err == nil && (known.Known || !m.backend.Router.FirstParty(known.ID)) {
			return known.ID, main // who runs another server knows its models
		}
	}
	m.smallNoted.Do(func() {
		m.ws.Say(fmt.Sprintf("the small model %s is unknown; using %s instead", name, now))
	})
	return main, main
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
	text := model.Explain(err, name, c.spec.Entry == Interactive)
	if near := c.model.table().Closest(name); e.Kind == model.NoModel && len(near) > 0 {
		text += " Similar names: " + strings.Join(near, ", ") + "."
	}
	return text
}

// countTokens returns a function that asks the provider how many tokens a text is to the model that
// current returns, or nil if the provider cannot count.
func (m *modelChoice) countTokens(current func() catalog.Model) func(context.Context, string) (int, error) {
	counter, ok := model.As[model.Counter](m.backend.Provider)
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

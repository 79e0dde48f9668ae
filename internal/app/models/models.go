// Package models settles which model answers in a conversation, and what is known about it: its limits, its price, how hard
// it tries, and which model answers small questions beside it. Who the providers are is left to the package providers.
package models

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/app/providers"
	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/amount"
	"adze/internal/platform/fsys"
)

// A Spec says who answers, and how. Empty fields leave it to the settings.
type Spec struct {
	// Earlier is the id of the model that a resumed conversation comes back to.
	Earlier                  string
	Name, Fallback, Provider string
	Effort                   model.Effort
	// NoThinking switches thinking off. ThinkingBudget counts only if it is Budgeted; 0 switches off, too.
	NoThinking     bool
	Thinks         bool // the flags say that the model thinks
	ThinkingBudget int
	Budgeted       bool
	// Betas are features of the provider to ask for, by name.
	Betas []string
	// Record is a directory for requests and responses; empty records nothing.
	Record string
}

// Models are what a workspace knows about models.
type Models struct {
	Table catalog.Table
	say   func(string)
	noted sync.Once // for models missing from the table
	// notes is the file that lists the models the user was notified of; "" means that there is none.
	notes string
}

// Open returns what is known by the settings of a project.
func Open(p *settings.Project, say func(string)) *Models {
	m := &Models{Table: providers.Table(p.Settings(), say), say: say}
	if p.Home != "" {
		m.notes = filepath.Join(p.Home, "unknown-models")
	}
	return m
}

// A Config is what models are chosen with.
type Config struct {
	Models *Models
	Values func() *settings.Values
	Say    func(string)
	// Backend returns how the provider of a model is opened.
	Backend func(Spec) providers.Config
}

// Facts returns what the ledger needs to know of a model.
func (m *Models) Facts(id string) cost.Facts {
	known, ok := m.Table.Lookup(id)
	if !ok {
		known = catalog.Unknown(id)
	}
	return cost.Facts{Price: known.Price, ContextWindow: known.ContextWindow, MaxOutput: known.MaxOutput}
}

// noteUnknown notifies the user that a model is missing from the table: once for each model.
func (m *Models) noteUnknown(assumed catalog.Model) {
	m.noted.Do(func() {
		id := assumed.ID
		if m.recorded(id) {
			return
		}
		text := fmt.Sprintf(`assuming a context window of %s tokens for %s, which adze does not know. To correct it: adze config set models '{%q:{"contextWindow":32768}}'`,
			amount.Grouped(assumed.ContextWindow), id, id)
		if near := m.Table.Closest(id); len(near) > 0 {
			text += ". Similar models: " + strings.Join(near, ", ")
		}
		m.say(text)
	})
}

// maxNotes bounds the file of models that the user was notified of.
const maxNotes = 64 << 10

// recorded reports whether the user was notified of a model before, and records the model. Errors repeat the notification.
func (m *Models) recorded(id string) bool {
	if m.notes == "" {
		return false
	}
	line := strconv.Quote(id) + "\n"
	old, _ := os.ReadFile(m.notes) // ok: a missing file lists no models
	if strings.Contains("\n"+string(old), "\n"+line) {
		return true
	}
	if len(old)+len(line) > maxNotes || fsys.MkdirPrivate(filepath.Dir(m.notes)) != nil {
		return false
	}
	_ = fsys.WriteAtomic(m.notes, append(old, line...), 0o600) // ok: the notification comes again
	return false
}

// A Choice is the model that a conversation was opened with, and who answers for it.
type Choice struct {
	Config
	Name, Fallback string             // as the user named them
	Backend        *providers.Backend // nil if no model is asked
	// Current returns the name of the model in use; nil before there is a session.
	Current    func() string
	spec       Spec
	smallNoted sync.Once
}

// Preview settles which model a conversation would ask, and asks none.
func Preview(cfg Config, spec Spec) *Choice {
	return &Choice{Config: cfg, spec: spec, Name: cmp.Or(spec.Name, cfg.Values().Model.Name, "default"), Backend: providers.Silent(cfg.Backend(spec))}
}

// Choose settles which model is asked, and by which provider: that of a parent, unless it is nil. Opened is called with what
// closes a provider that was opened.
func Choose(ctx context.Context, cfg Config, spec Spec, parent *Choice, opened func(close func())) (*Choice, error) {
	m := &Choice{Config: cfg, spec: spec}
	v := cfg.Values().Model
	m.Name, m.Fallback = cmp.Or(spec.Name, v.Name, "default"), cmp.Or(spec.Fallback, v.Fallback)
	if parent != nil {
		m.Backend = parent.Backend
	} else if err := m.open(ctx, opened); err != nil {
		return nil, err
	}
	main, err := m.Resolve(m.Name)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	if m.Fallback != "" {
		other, err := m.Resolve(m.Fallback)
		if err != nil {
			return nil, setup.Errorf("--fallback-model: %v", err)
		}
		if main.ID == other.ID {
			return nil, setup.Errorf("the fallback model %s is the main model; choose another one", m.Fallback)
		}
	}
	return m, nil
}

// open opens the provider.
func (m *Choice) open(ctx context.Context, opened func(close func())) (err error) {
	c := m.Config.Backend(m.spec)
	c.Lifetime = ctx
	if m.Backend, err = providers.Open(c, m.Name); err != nil {
		return err
	}
	opened(func() {
		if err := m.Backend.Close(); err != nil {
			m.Say(err.Error())
		}
	})
	return nil
}

// ScriptedModel is the id of the model that a script plays.
const ScriptedModel = "replay"

// Resolve finds the limits of a model by name.
func (m *Choice) Resolve(name string) (agent.Model, error) {
	known, err := m.Lookup(name)
	return agent.Model{ID: known.ID, Window: known.ContextWindow, Output: known.DefaultOutput, MaxOutput: known.MaxOutput, Bound: known.Bound, Wider: m.wider(known)}, err
}

// wider returns the advice for a window that is too small for the prompt, as a sentence without its full stop.
func (m *Choice) wider(known catalog.Model) string {
	advice := cmp.Or(known.Wider, "Choose a model with a larger context window")
	if m.Values().Size != settings.SmallPrompt {
		advice += ", or make the prompt smaller with --prompt-size small"
	}
	return advice
}

// Lookup finds a model in the table by name.
func (m *Choice) Lookup(name string) (catalog.Model, error) {
	if strings.HasPrefix(name, providers.ReplayPrefix) {
		if m.Backend != nil && name != m.Name {
			return catalog.Model{}, fmt.Errorf("the session uses %s; another script needs a new session", m.Name)
		}
		known, _ := m.Models.Table.Resolve(ScriptedModel)
		known.Bound = true // a script's server is as strict as the strictest
		return known, nil
	}
	if m.Backend == nil {
		return m.Models.Table.Resolve(name)
	}
	known, err := m.Backend.Resolve(name)
	if err == nil && !known.Known && !m.Backend.Scripted {
		m.Models.noteUnknown(known)
	}
	return known, err
}

// Known returns what is known about models, with the aliases of the provider in use.
func (m *Choice) Known() catalog.Table {
	if m.Backend == nil {
		return m.Models.Table
	}
	return m.Backend.Models
}

// Shared reports whether what is the same in everybody's prompt is cached as a block of its own.
func (m *Choice) Shared() bool { return m.Backend == nil || m.Backend.Shared }

// Effort returns what the user wants; the model may not be able to.
func (m *Choice) Effort() model.Effort {
	return cmp.Or(m.spec.Effort, m.Values().Model.Effort)
}

// Working returns the effort that the model of that name is asked for, or nothing.
func (m *Choice) Working(name string) model.Effort {
	want := m.Effort()
	if want != model.EffortDefault || m.Backend == nil {
		return want
	}
	known, err := m.Backend.Resolve(name)
	if err != nil {
		return want
	}
	return known.At(m.Backend.Router.FirstParty(known.ID)).CodingEffort
}

// Highest returns the highest effort that the model of that name takes, or nothing if it is asked for that already, or if
// the user does not want to ask for it by a word.
func (m *Choice) Highest(name string) model.Effort {
	known, err := m.Lookup(name)
	all := known.Efforts()
	if err != nil || len(all) == 0 || !m.Values().Model.Ultra || all[len(all)-1] == m.Working(name) {
		return ""
	}
	return all[len(all)-1]
}

// Thinking returns what the user wants; the model may not be able to.
func (m *Choice) Thinking() model.Thinking {
	budget, budgeted := m.spec.ThinkingBudget, m.spec.Budgeted
	if s := m.Values().Model; !budgeted && !m.spec.Thinks {
		budget, budgeted = s.ThinkingBudget, s.Budgeted
	}
	switch {
	case budgeted && budget > 0:
		return model.Thinking{Mode: model.ThinkingBudget, Budget: max(budget, model.LeastBudget)}
	case budgeted || m.spec.NoThinking:
		return model.Thinking{Asked: true}
	}
	return model.Thinking{Mode: model.ThinkingAdaptive, Asked: m.spec.Thinks}
}

// ThinkingWith returns how the model thinks with a budget of tokens, or as the user wants it if budget is nil.
func (m *Choice) ThinkingWith(budget *int) model.Thinking {
	switch {
	case budget == nil:
		return m.Thinking()
	case *budget == 0:
		return model.Thinking{Asked: true}
	}
	return model.Thinking{Mode: model.ThinkingBudget, Budget: max(*budget, model.LeastBudget)}
}

// Small returns the ids of the model for small questions beside the conversation and of the main model. If the settings
// name none, it is that of the main model's provider, where it is known that the endpoint has it. One that is not known
// is reported once. Otherwise the main model is asked.
func (m *Choice) Small() (small, main string) {
	now := m.Name
	if m.Current != nil {
		now = m.Current()
	}
	known, err := m.Lookup(now)
	main = known.ID
	name := m.Values().Model.Small
	if name == "" {
		if err == nil && m.Backend != nil {
			small = m.Backend.Small(main)
		}
		return cmp.Or(small, main), main
	}
	if m.Backend != nil {
		if known, err = m.Backend.Resolve(name); err == nil && (known.Known || !m.Backend.Router.FirstParty(known.ID)) {
			return known.ID, main // who runs another server knows its models
		}
	}
	m.smallNoted.Do(func() {
		m.Say(fmt.Sprintf("the small model %s is unknown; using %s instead", name, now))
	})
	return main, main
}

// CountTokens returns a function that asks the provider how many tokens a text is to the model that
// current returns, or nil if the provider cannot count.
func (m *Choice) CountTokens(current func() catalog.Model) func(context.Context, string) (int, error) {
	counter, ok := model.As[model.Counter](m.Backend.Provider)
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

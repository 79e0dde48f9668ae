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
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/amount"
	"adze/internal/settings"
	"adze/internal/setup"
)

// A Spec holds the model options. Empty fields mean the settings decide.
type ChoiceSpec struct {
	// Earlier is the ID of the model a resumed conversation returns to.
	Earlier                  string
	Name, Fallback, Provider string
	Effort                   model.Effort
	// NoThinking disables thinking. ThinkingBudget applies only if Budgeted is set; 0 disables
	// thinking too.
	NoThinking     bool
	Thinks         bool // flags enable thinking
	ThinkingBudget int
	Budgeted       bool
	// Betas lists provider beta features to request.
	Betas []string
	// Record is a directory for requests and responses; empty records nothing.
	Record string
	// Pause takes the place of a scripted model's pauses; it may be nil.
	Pause func(time.Duration)
}

// Models holds a workspace's model catalog.
type Models struct {
	Table catalog.Table
	say   func(string)
	noted sync.Once // notice about models missing from the table
	// notes is the path of the file that lists the models the user was notified of; may be
	// empty.
	notes string
}

// Open returns the catalog for a project's settings.
func OpenModels(p *settings.Project, say func(string)) *Models {
	m := &Models{Table: Table(p.Settings(), say), say: say}
	if p.Home != "" {
		m.notes = filepath.Join(p.Home, "unknown-models")
	}
	return m
}

// Config configures model selection.
type ChoiceConfig struct {
	Models *Models
	Values func() *settings.Values
	Say    func(string)
	// Backend returns the provider configuration for a model.
	Backend func(ChoiceSpec) Config
}

// Facts returns a model's facts for the ledger.
func (m *Models) Facts(id string) cost.Facts {
	known, ok := m.Table.Lookup(id)
	if !ok {
		known = catalog.Unknown(id)
	}
	return cost.Facts{Price: known.Price, ContextWindow: known.ContextWindow, MaxOutput: known.MaxOutput}
}

// noteUnknown notifies the user, once per model, that it is missing from the catalog.
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

// maxNotes limits the size of the file of unknown models, in bytes.
const maxNotes = 64 << 10

// recorded reports whether the user was notified of a model before, and records it. On error
// the notification is repeated.
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
	_ = fsys.WriteAtomic(m.notes, append(old, line...), 0o600) // ok: the notification is repeated
	return false
}

// A Choice is the model a conversation was opened with, and its backend.
type Choice struct {
	ChoiceConfig
	Name, Fallback string   // names given by the user
	Backend        *Backend // nil without a model
	// Current returns the name of the model in use; nil before the session exists.
	Current    func() string
	spec       ChoiceSpec
	smallNoted sync.Once
}

// Preview selects the model a conversation would use, without using it.
func Preview(cfg ChoiceConfig, spec ChoiceSpec) *Choice {
	return &Choice{ChoiceConfig: cfg, spec: spec, Name: cmp.Or(spec.Name, cfg.Values().Model.Name, "default"), Backend: Silent(cfg.Backend(spec))}
}

// Choose selects the model and its provider, which is the parent's unless parent is nil. opened
// is called with a function that closes a newly opened provider.
func Choose(ctx context.Context, cfg ChoiceConfig, spec ChoiceSpec, parent *Choice, opened func(close func())) (*Choice, error) {
	m := &Choice{ChoiceConfig: cfg, spec: spec}
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

func (m *Choice) open(ctx context.Context, opened func(close func())) (err error) {
	c := m.ChoiceConfig.Backend(m.spec)
	c.Lifetime = ctx
	if m.Backend, err = Open(c, m.Name); err != nil {
		return err
	}
	opened(func() {
		if err := m.Backend.Close(); err != nil {
			m.Say(err.Error())
		}
	})
	return nil
}

// ScriptedModel is the ID of the model played by a script.
const ScriptedModel = "replay"

// Resolve returns a model's limits by name.
func (m *Choice) Resolve(name string) (agent.Model, error) {
	known, err := m.Lookup(name)
	return agent.Model{ID: known.ID, Window: known.ContextWindow, Output: known.DefaultOutput, MaxOutput: known.MaxOutput, Bound: known.Bound, Wider: m.wider(known)}, err
}

// wider returns advice for a context window too small for the prompt, as a sentence without a
// period.
func (m *Choice) wider(known catalog.Model) string {
	advice := cmp.Or(known.Wider, "Choose a model with a larger context window")
	if m.Values().Size != settings.SmallPrompt {
		advice += ", or make the prompt smaller with --prompt-size small"
	}
	return advice
}

// Lookup finds a model in the catalog by name.
func (m *Choice) Lookup(name string) (catalog.Model, error) {
	if strings.HasPrefix(name, ReplayPrefix) {
		if m.Backend != nil && name != m.Name {
			return catalog.Model{}, fmt.Errorf("the session uses %s; another script needs a new session", m.Name)
		}
		known, _ := m.Models.Table.Resolve(ScriptedModel)
		known.Bound = true // a script's server is as strict as the strictest provider
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

// Known returns the catalog with the current provider's aliases.
func (m *Choice) Known() catalog.Table {
	if m.Backend == nil {
		return m.Models.Table
	}
	return m.Backend.Models
}

// Shared reports whether the part of the prompt common to all users is cached as a separate
// block.
func (m *Choice) Shared() bool { return m.Backend == nil || m.Backend.Shared }

// Effort returns the effort requested by the user, which the model may not support.
func (m *Choice) Effort() model.Effort {
	return cmp.Or(m.spec.Effort, m.Values().Model.Effort)
}

// Working returns the effort used for the named model, or "" for its default.
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

// Highest returns the highest effort of the named model, or "" if it is already used, or if the
// keyword that requests it is disabled.
func (m *Choice) Highest(name string) model.Effort {
	known, err := m.Lookup(name)
	all := known.Efforts()
	if err != nil || len(all) == 0 || !m.Values().Model.Ultra || all[len(all)-1] == m.Working(name) {
		return ""
	}
	return all[len(all)-1]
}

// Thinking returns the thinking mode requested by the user, which the model may not support.
func (m *Choice) Thinking() model.Thinking {
	budget, budgeted := m.spec.ThinkingBudget, m.spec.Budgeted
	if s := m.Values().Model; !budgeted && !m.spec.Thinks {
		budget, budgeted = s.ThinkingBudget, s.Budgeted
	}
	switch {
	case budgeted && budget > 0:
		return model.Thinking{Mode: model.ThinkingBudget, Budget: max(budget, model.LeastBudget)}
	case budgeted || m.spec.NoThinking:
		return model.Thinking{UserRequested: true}
	}
	return model.Thinking{Mode: model.ThinkingAdaptive, UserRequested: m.spec.Thinks}
}

// ThinkingWith returns the thinking mode for a token budget, or the user's choice if budget is
// nil.
func (m *Choice) ThinkingWith(budget *int) model.Thinking {
	switch {
	case budget == nil:
		return m.Thinking()
	case *budget == 0:
		return model.Thinking{UserRequested: true}
	}
	return model.Thinking{Mode: model.ThinkingBudget, Budget: max(*budget, model.LeastBudget)}
}

// Small returns the IDs of the model for side queries and of the main model. If the settings
// name none, it is the small model of the main model's provider, if the endpoint is known to
// have it. An unknown model is reported once. Otherwise the main model is used.
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
			return known.ID, main // operators of other servers know their models
		}
	}
	m.smallNoted.Do(func() {
		m.Say(fmt.Sprintf("the small model %s is unknown; using %s instead", name, now))
	})
	return main, main
}

// CountTokens returns a function that asks the provider for the number of tokens of a text, for
// the model that current returns; nil if the provider cannot count.
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

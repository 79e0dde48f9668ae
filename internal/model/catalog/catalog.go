// Package catalog is the table of models: what each can do, how much fits into it and what it costs.
// It is data with a date, which settings can correct; it asks no server. Which model to use is
// decided by the caller, what a request to it looks like by its provider.
package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/platform/spell"
)

// A Model is one line of the table.
type Model struct {
	// ID is what a request names. For a dated or otherwise decorated name it is that name.
	ID   string
	Name string // for display
	// Provider is the name of the provider that serves the model first-hand, or empty if it is not known.
	Provider string
	// Known is false when the limits are assumptions; see [Unknown].
	Known bool
	// Retires is the day from which the model is no longer served, or empty.
	Retires string
	// Cutoff is the month up to which the model's knowledge is reliable, or empty.
	Cutoff string

	ContextWindow int
	// DefaultOutput is the output limit to ask for when nothing else is said, MaxOutput the highest
	// the model accepts.
	DefaultOutput, MaxOutput int

	// Price is nil when the price is not known.
	Price *model.Price

	Abilities
}

// Abilities are what a model or its server can do. The zero value is a model that only answers text.
type Abilities struct {
	Streaming     bool
	Tools         bool
	ParallelTools bool
	// ForcedTool says that a request may demand a certain tool.
	ForcedTool bool
	Images     bool
	Documents  bool
	Thinking   Thinking
	// MaxEffort is the highest effort the model accepts; empty means that it takes no hint.
	MaxEffort  model.Effort
	Caching    Caching
	Cache1h    bool
	Structured bool // output held to a schema by the server
	Counting   bool // the server counts tokens
	WebSearch  bool // the server searches the web
	Fast       bool // has a faster variant
}

// Thinking is how a model's reasoning is controlled.
type Thinking uint8

// The kinds of thinking.
const (
	NoThinking       Thinking = iota
	BudgetThinking            // off, or on with a budget of tokens
	EitherThinking            // off, with a budget, or adaptive
	AdaptiveThinking          // off or adaptive; a budget is an error
	AlwaysThinking            // adaptive; switching it off is an error
)

// Caching is how a prompt gets into the provider's cache.
type Caching uint8

// The kinds of caching.
const (
	NoCaching Caching = iota
	MarkedCaching
	AutomaticCaching
)

// LongContext says that the model takes the [1m] suffix.
func (m Model) LongContext() bool { return m.ContextWindow >= million }

// Unknown returns the cautious assumptions about a model that is not in the table.
func Unknown(id string) Model {
	return Model{
		ID: id, Name: id, ContextWindow: 128_000, DefaultOutput: 8_000, MaxOutput: 8_000,
		Abilities: Abilities{Streaming: true, Tools: true},
	}
}

// A Table is the built-in list with the corrections of [Table.With]. The zero value has none.
type Table struct{ corrected []Model }

// All returns the models, newest generation first.
func (t Table) All() []Model {
	var all []Model
	for v, l := range rows {
		all = append(all, v.model(l))
	}
	for _, m := range t.corrected {
		all = put(all, m)
	}
	return all
}

// put replaces the model with the id of m, or appends m.
func put(list []Model, m Model) []Model {
	if i := slices.IndexFunc(list, func(l Model) bool { return l.ID == m.ID }); i >= 0 {
		list[i] = m
		return list
	}
	return append(list, m)
}

// Lookup finds the model of a name: an id, an alias, either with the [1m] suffix or with the provider
// and a slash before it, or an id as dated or decorated by a cloud. A generation later than the table's
// is assumed to be like the latest of its family, at an unknown price.
func (t Table) Lookup(name string) (Model, bool) {
	name = strings.TrimSuffix(name, longSuffix)
	if m, ok := t.find(name); ok {
		return m, true
	}
	if provider, rest, ok := cutProvider(name); ok {
		m, ok := t.Lookup(rest)
		m.ID = provider + "/" + m.ID
		return m, ok
	}
	if id, ok := alias(name); ok {
		name = id
	}
	if m, ok := t.find(name); ok {
		return m, true
	}
	plain := undecorated(name)
	m, ok := t.find(plain)
	if !ok {
		m, ok = successor(plain)
	}
	m.ID = name
	return m, ok
}

// find returns the model with exactly this id.
func (t Table) find(id string) (Model, bool) {
	if i := slices.IndexFunc(t.corrected, func(m Model) bool { return m.ID == id }); i >= 0 {
		return t.corrected[i], true
	}
	for v, l := range rows {
		if l.id == id {
			return v.model(l), true
		}
	}
	return Model{}, false
}

// Resolve is like Lookup, but takes every name: for one it cannot place it returns [Unknown]. It
// fails only when the name asks for what the model does not have, or for something unknown in
// brackets.
func (t Table) Resolve(name string) (Model, error) {
	id, long := strings.CutSuffix(name, longSuffix)
	if id == "" {
		return Model{}, fmt.Errorf("model name %q is empty; use an id or one of %s", name, strings.Join(Aliases(), ", "))
	}
	if err := t.checkSuffix(id); err != nil {
		return Model{}, err
	}
	m, ok := t.Lookup(id)
	if !ok {
		m = Unknown(id)
	}
	if long && !m.LongContext() {
		return Model{}, fmt.Errorf("model %s has no long-context variant %s; these have: %s",
			m.ID, longSuffix, strings.Join(t.longContext(), ", "))
	}
	return m, nil
}

// checkSuffix refuses brackets that mean nothing. A model whose very name has them is in the table.
func (t Table) checkSuffix(name string) error {
	plain, suffix := cutSuffix(name)
	if _, ok := t.find(name); ok || suffix == "" {
		return nil
	}
	advice := "write " + plain
	if m, ok := t.Lookup(plain); ok && m.LongContext() {
		advice += ", or " + plain + longSuffix + " for the long context"
	}
	return fmt.Errorf("the model name %s ends in %s, which means nothing; %s", name, suffix, advice)
}

func (t Table) longContext() []string {
	var ids []string
	for _, m := range t.All() {
		if m.LongContext() {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Closest returns up to three ids and aliases that may have been meant by name.
func (t Table) Closest(name string) []string {
	names := Aliases()
	for _, m := range t.All() {
		names = append(names, m.ID)
	}
	return spell.Closest(strings.TrimSuffix(name, longSuffix), names, 3)
}

// An Override corrects one line of the table, or adds one. A nil field leaves the line as it is.
type Override struct {
	ContextWindow *int
	MaxOutput     *int
	Images        *bool
	Price         *model.Price
}

// With returns the table with overrides applied, keyed by model name. An override that cannot be
// true is left out and reported; the table is usable nevertheless.
func (t Table) With(overrides map[string]Override) (Table, error) {
	t.corrected = slices.Clone(t.corrected)
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		m, ok := t.Lookup(name)
		if !ok {
			m = Unknown(name)
		}
		if err := overrides[name].apply(&m); err != nil {
			problems = append(problems, fmt.Errorf("models.%s: %w; the entry is ignored", name, err))
			continue
		}
		t.corrected = put(t.corrected, m)
	}
	return t, errors.Join(problems...)
}

func (o Override) apply(m *Model) error {
	if o.ContextWindow != nil {
		if *o.ContextWindow <= 0 {
			return fmt.Errorf("contextWindow is %d, must be positive", *o.ContextWindow)
		}
		m.ContextWindow = *o.ContextWindow
	}
	if o.MaxOutput != nil {
		if *o.MaxOutput <= 0 {
			return fmt.Errorf("maxOutput is %d, must be positive", *o.MaxOutput)
		}
		m.MaxOutput = *o.MaxOutput
		m.DefaultOutput = min(*o.MaxOutput, usualOutput)
	}
	if m.MaxOutput > m.ContextWindow {
		return fmt.Errorf("maxOutput %d is more than contextWindow %d", m.MaxOutput, m.ContextWindow)
	}
	if o.Price != nil {
		if err := checkPrice(o.Price); err != nil {
			return err
		}
		m.Price = o.Price
	}
	if o.Images != nil {
		m.Images = *o.Images
	}
	m.Known = true
	return nil
}

// checkPrice rejects what no price can be. Zero is one: models on the own machine are free.
func checkPrice(p *model.Price) error {
	for _, usd := range []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite, p.CacheWrite1h, p.Search} {
		if !(usd >= 0 && usd <= 1e6) { // also false for NaN
			return fmt.Errorf("price %v is not between 0 and 1,000,000 USD", usd)
		}
	}
	return nil
}

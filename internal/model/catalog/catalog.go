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
	"sync"

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
	// Wider is what the user can do for a larger window, as a sentence without its full stop; it may be empty.
	Wider string
	// DefaultOutput is the output limit to ask for when nothing else is said, MaxOutput the highest
	// the model accepts.
	DefaultOutput, MaxOutput int

	// Price is nil when the price is not known.
	Price *model.Price
	// NoSearch says that the model is not relied on to look tools up, so that it gets all of them.
	NoSearch bool

	Abilities
}

// Abilities are what a model or its server can do. The zero value is a model that only answers text.
type Abilities struct {
	Reasoning
	Streaming     bool
	Tools         bool
	ParallelTools bool
	// ForcedTool says that a request may demand a certain tool.
	ForcedTool bool
	Images     bool
	Documents  bool
	Caching    Caching
	Cache1h    bool
	Structured bool // output held to a schema by the server
	Strict     bool // input of tools held to their schemas by the server
	Counting   bool // the server counts tokens
	WebSearch  bool // the server searches the web
	Fast       bool // has a faster variant
}

// Reasoning is how a model thinks, and how it can be asked to.
type Reasoning struct {
	Thinking Thinking
	// BetweenTools says that thinking which cannot be switched off can be kept to notes between tool calls.
	BetweenTools bool
	// Display says how the model shows its thinking when it is asked to; empty means that it does so unasked.
	Display model.Display
	// Bound says that thinking is read again only if nothing before it has changed.
	Bound bool
	// Forgiving says that the server can be asked to leave out thinking that was bound to something else.
	Forgiving bool
	// Interleaves says that the model can be asked to think between tool calls with a budget.
	Interleaves bool
	// DefaultThinking says that the model thinks unless it is told not to, and can be told.
	DefaultThinking bool
	// ByEffort says that the effort is how much the model thinks: a budget of tokens is asked for as an effort.
	ByEffort bool
	// MaxEffort is the highest effort the model accepts; empty means that it takes no hint.
	MaxEffort model.Effort
	// XHigh says that the efforts include the one between high and the maximum.
	XHigh bool
	// CodingEffort is the effort to ask for when the user wants none in particular; empty leaves it to the model.
	CodingEffort model.Effort
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
	AlwaysBudget              // adaptive or with a budget; switching it off is an error
)

// efforts in rising order.
var efforts = [...]model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}

// Efforts returns the efforts that the model accepts, in rising order.
func (r *Reasoning) Efforts() []model.Effort {
	highest := slices.Index(efforts[:], r.MaxEffort)
	return slices.DeleteFunc(slices.Clone(efforts[:highest+1]), func(e model.Effort) bool { return e == model.EffortXHigh && !r.XHigh })
}

// Caching is how a prompt gets into the provider's cache.
type Caching uint8

// The kinds of caching.
const (
	NoCaching Caching = iota
	MarkedCaching
	AutomaticCaching
)

// At returns the model as it is behind an endpoint. What only the provider itself is known to take, and only for
// a model that is in the table, is asked for nowhere else: strict schemas, and ways to think that are new.
func (m Model) At(firstParty bool) Model {
	if !firstParty || !m.Known {
		m.Strict, m.Display, m.Forgiving, m.BetweenTools, m.Interleaves, m.DefaultThinking, m.CodingEffort = false, "", false, false, false, false, ""
	}
	return m
}

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
type Table struct {
	corrected []Model
	overrides map[string]Override
	provider  string // whose aliases need no provider before them; empty means the first vendor's
	learned   *learned
}

// learned are models that servers have told about. Copies of a table share them.
type learned struct {
	mu     sync.Mutex
	models []Model
}

// Learning returns the table as one that, with all its copies, [Table.Learn] adds to.
func (t Table) Learning() Table {
	t.learned = &learned{models: t.known()}
	return t
}

// Learn adds a server's description of its model to a table that is learning. The user's overrides take precedence.
func (t Table) Learn(m Model) {
	if t.learned == nil {
		return
	}
	if o, ok := t.Override(m.ID); ok {
		corrected := m
		if o.apply(&corrected) == nil {
			m = corrected
		}
	}
	t.learned.mu.Lock()
	defer t.learned.mu.Unlock()
	t.learned.models = put(slices.Clone(t.learned.models), m)
}

// Override returns the user's correction of a model, by its id or by its name without the provider.
func (t Table) Override(id string) (Override, bool) {
	o, ok := t.overrides[id]
	if _, name, prefixed := strings.Cut(id, "/"); !ok && prefixed {
		o, ok = t.overrides[name]
	}
	return o, ok
}

// known returns the models that were learned.
func (t Table) known() []Model {
	if t.learned == nil {
		return nil
	}
	t.learned.mu.Lock()
	defer t.learned.mu.Unlock()
	return t.learned.models
}

// For returns the table for a user of a provider: aliases without a provider are those of that one. One that serves no vendor's
// models in particular has none.
func (t Table) For(provider string) Table {
	t.provider = provider
	return t
}

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
	name = strings.TrimSuffix(name, LongSuffix)
	if m, ok := t.find(name); ok {
		return m, true
	}
	if provider, rest, ok := cutProvider(name); ok {
		m, ok := t.For(provider).Lookup(rest)
		m.ID = provider + "/" + m.ID
		return m, ok
	}
	if v := t.vendor(); v != nil {
		name = v.unaliased(name)
	}
	if m, ok := t.find(name); ok {
		return m, true
	}
	plainest := name
	for plain := range undecorated(name) {
		if m, ok := t.find(plain); ok {
			m.ID = name
			return m, true
		}
		if m, ok := dashedLine(plain); ok {
			m.ID = name
			return m, true
		}
		plainest = plain
	}
	m, ok := successor(plainest)
	m.ID = name
	return m, ok
}

// dashedLine returns the model whose id is this one with dashes for dots.
func dashedLine(id string) (Model, bool) {
	for v, l := range rows {
		if dashed(l.id) == id {
			return v.model(l), true
		}
	}
	return Model{}, false
}

// find returns the model with exactly this id.
func (t Table) find(id string) (Model, bool) {
	for _, list := range [...][]Model{t.known(), t.corrected} { // learned models include corrections
		if i := slices.IndexFunc(list, func(m Model) bool { return m.ID == id }); i >= 0 {
			return list[i], true
		}
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
	id, long := strings.CutSuffix(name, LongSuffix)
	if id == "" {
		return Model{}, fmt.Errorf("model name %q is empty; use an id or one of %s", name, strings.Join(t.Aliases(), ", "))
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
			m.ID, LongSuffix, strings.Join(t.longContext(), ", "))
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
		advice += ", or " + plain + LongSuffix + " for the long context"
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

// Closest returns up to three ids and aliases, other than name itself, that may have been meant by it.
func (t Table) Closest(name string) []string {
	names := t.Aliases()
	for _, m := range t.All() {
		names = append(names, m.ID)
	}
	name = strings.TrimSuffix(name, LongSuffix)
	names = slices.DeleteFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
	return spell.Closest(name, names, 3)
}

// An Override corrects one line of the table, or adds one. A nil field leaves the line as it is.
type Override struct {
	ContextWindow *int
	MaxOutput     *int
	Images        *bool
	Documents     *bool
	Tools         *bool
	// Thinking says that the model has efforts up to high, and thinks as much as these say.
	Thinking *bool
	// ToolSearch says whether the model is relied on to look tools up.
	ToolSearch *bool
	Price      *model.Price
}

// With returns the table with overrides applied, keyed by model name. An override that cannot be
// true is left out and reported; the table is usable nevertheless.
func (t Table) With(overrides map[string]Override) (Table, error) {
	t.corrected, t.overrides = slices.Clone(t.corrected), maps.Clone(t.overrides)
	if t.overrides == nil {
		t.overrides = map[string]Override{}
	}
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
		t.overrides[name] = overrides[name]
	}
	return t, errors.Join(problems...)
}

// narrow is the context window below which an answer takes at most a quarter of it unless the user sets more.
const narrow = 64_000

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
	} else if o.ContextWindow != nil && m.MaxOutput > m.ContextWindow/4 && m.ContextWindow < narrow {
		m.MaxOutput = max(1, m.ContextWindow/4)
		m.DefaultOutput = min(m.DefaultOutput, m.MaxOutput)
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
	for _, a := range [...]struct{ said, has *bool }{{o.Images, &m.Images}, {o.Documents, &m.Documents}, {o.Tools, &m.Tools}} {
		if a.said != nil {
			*a.has = *a.said
		}
	}
	if o.Thinking != nil {
		m.Reasoning = Reasoning{}
		if *o.Thinking {
			m.Reasoning = Reasoning{Thinking: AdaptiveThinking, ByEffort: true, MaxEffort: model.EffortHigh}
		}
	}
	if o.ToolSearch != nil {
		m.NoSearch = !*o.ToolSearch
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

// Package catalog is the table of known models with their capabilities, limits and prices. The
// data is dated and can be corrected by settings; the package makes no network requests.
package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"adze/internal/model"
	"adze/internal/platform/text/rank"
)

// A Model describes one model.
type Model struct {
	// ID is the name used in requests. For a dated or decorated name it is that name.
	ID   string
	Name string // display name
	// Provider is the name of the model's first-party provider, or empty if unknown.
	Provider string
	// Known is false if the limits are assumptions; see [Unknown].
	Known bool
	// Retires is the day the model is retired, or empty.
	Retires string
	// Cutoff is the month of the model's knowledge cutoff, or empty.
	Cutoff string

	ContextWindow int
	// Wider tells the user how to get a larger window, as a sentence without a full stop. It
	// may be empty.
	Wider string
	// DefaultOutput is the default output limit, MaxOutput the highest the model accepts.
	DefaultOutput, MaxOutput int

	// Price is nil if unknown.
	Price *model.Price
	// NoSearch is true if the model can't be relied on to look up tools, so that it gets all of
	// them.
	NoSearch bool

	Abilities
}

// Abilities are the features a model or its server supports. The zero value describes a model
// that only answers text.
type Abilities struct {
	Reasoning
	Streaming     bool
	Tools         bool
	ParallelTools bool
	// ForcedTool is true if a request may require a specific tool.
	ForcedTool bool
	Images     bool
	Documents  bool
	Caching    Caching
	Cache1h    bool
	Structured bool // the server enforces an output schema
	Strict     bool // the server enforces tool input schemas
	Counting   bool // the server counts tokens
	WebSearch  bool // the server searches the web
	Fast       bool // has a faster variant
}

// Reasoning describes how a model reasons and how that is controlled.
type Reasoning struct {
	Thinking Thinking
	// BetweenTools is true if thinking that can't be disabled can be limited to notes between
	// tool calls.
	BetweenTools bool
	// Display is how the model shows its thinking on request; empty means that it shows it
	// without a request.
	Display model.Display
	// Bound is true if thinking is accepted back only if nothing before it has changed.
	Bound bool
	// Forgiving is true if the server can be instructed to drop thinking bound to other
	// content.
	Forgiving bool
	// Interleaves is true if the model supports thinking between tool calls with a budget.
	Interleaves bool
	// DefaultThinking is true if the model thinks by default and this can be disabled.
	DefaultThinking bool
	// ByEffort is true if the effort controls the amount of thinking. A token budget is then
	// converted to an effort.
	ByEffort bool
	// MaxEffort is the highest effort the model accepts; empty means that it does not support
	// efforts.
	MaxEffort model.Effort
	// XHigh is true if the model supports the effort between high and the maximum.
	XHigh bool
	// CodingEffort is the default effort; empty means the model's own default.
	CodingEffort model.Effort
}

// Thinking is the way a model's reasoning is controlled.
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

// efforts lists the efforts in ascending order.
var efforts = [...]model.Effort{model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}

// Efforts returns the efforts that the model accepts, in ascending order.
func (r *Reasoning) Efforts() []model.Effort {
	highest := slices.Index(efforts[:], r.MaxEffort)
	return slices.DeleteFunc(slices.Clone(efforts[:highest+1]), func(e model.Effort) bool { return e == model.EffortXHigh && !r.XHigh })
}

// Caching is the way a prompt gets into the provider's cache.
type Caching uint8

// The kinds of caching.
const (
	NoCaching Caching = iota
	MarkedCaching
	AutomaticCaching
)

// At returns the model as available at an endpoint. Strict schemas and newer thinking options
// are enabled only for known models at the first-party endpoint, because no other is known to
// support them.
func (m Model) At(firstParty bool) Model {
	if !firstParty || !m.Known {
		m.Strict, m.Display, m.Forgiving, m.BetweenTools, m.Interleaves, m.DefaultThinking, m.CodingEffort = false, "", false, false, false, false, ""
	}
	return m
}

// LongContext reports whether the model accepts the [1m] suffix.
func (m Model) LongContext() bool { return m.ContextWindow >= million }

// Unknown returns conservative assumptions about a model that is not in the table.
func Unknown(id string) Model {
	return Model{
		ID: id, Name: id, ContextWindow: 128_000, DefaultOutput: 8_000, MaxOutput: 8_000,
		Abilities: Abilities{Streaming: true, Tools: true},
	}
}

// A Table is the built-in list with the corrections from [Table.With]. The zero value has none.
type Table struct {
	corrected []Model
	overrides map[string]Override
	provider  string // provider whose aliases need no prefix; empty means the first vendor
	learned   *learned
}

// learned holds models reported by servers. Copies of a table share it.
type learned struct {
	mu     sync.Mutex
	models []Model
}

// Learning returns a table that [Table.Learn] can add to. Copies of it share the learned
// models.
func (t Table) Learning() Table {
	t.learned = &learned{models: t.known()}
	return t
}

// Learn adds a server's description of its model to a table returned by Learning. The user's
// overrides take precedence.
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

// Override returns the user's correction for a model, by its ID or by its name without the
// provider.
func (t Table) Override(id string) (Override, bool) {
	o, ok := t.overrides[id]
	if _, name, prefixed := strings.Cut(id, "/"); !ok && prefixed {
		o, ok = t.overrides[name]
	}
	return o, ok
}

// known returns the learned models.
func (t Table) known() []Model {
	if t.learned == nil {
		return nil
	}
	t.learned.mu.Lock()
	defer t.learned.mu.Unlock()
	return t.learned.models
}

// For returns the table for a provider's users: aliases without a prefix are the provider's. A
// provider not tied to a vendor has no such aliases.
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

// put replaces the model with m's ID, or appends m.
func put(list []Model, m Model) []Model {
	if i := slices.IndexFunc(list, func(l Model) bool { return l.ID == m.ID }); i >= 0 {
		list[i] = m
		return list
	}
	return append(list, m)
}

// Lookup finds a model by name: an ID or an alias, optionally with the [1m] suffix or with a
// provider and a slash before it, or an ID as dated or decorated by a cloud. A generation newer
// than the table's is assumed to be like the latest of its family, at an unknown price.
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

// dashedLine returns the model whose ID equals id with dots replaced by dashes.
func dashedLine(id string) (Model, bool) {
	for v, l := range rows {
		if dashed(l.id) == id {
			return v.model(l), true
		}
	}
	return Model{}, false
}

// find returns the model with exactly this ID.
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

// Resolve is like Lookup, but accepts every name: it returns [Unknown] for unrecognized names.
// It fails only if the name requests a variant the model does not have, or has an unknown
// suffix in brackets.
func (t Table) Resolve(name string) (Model, error) {
	id, long := strings.CutSuffix(name, LongSuffix)
	if id == "" {
		return Model{}, fmt.Errorf("model name %q is empty; use an id or an alias: %s", name, strings.Join(t.Aliases(), ", "))
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

// checkSuffix rejects unknown suffixes in brackets. A model whose actual name has brackets is
// in the table.
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

// Closest returns up to three IDs and aliases similar to name, other than name itself.
func (t Table) Closest(name string) []string {
	names := t.Aliases()
	for _, m := range t.All() {
		names = append(names, m.ID)
	}
	name = strings.TrimSuffix(name, LongSuffix)
	names = slices.DeleteFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
	return rank.Closest(name, names, 3)
}

// An Override corrects or adds a model. A nil field leaves the value unchanged.
type Override struct {
	ContextWindow *int
	MaxOutput     *int
	Images        *bool
	Documents     *bool
	Tools         *bool
	// Thinking, if true, means that the model supports efforts up to high, which control its
	// thinking.
	Thinking *bool
	// ToolSearch is false if the model can't be relied on to look up tools.
	ToolSearch *bool
	Price      *model.Price
}

// With returns the table with overrides applied, keyed by model name. An invalid override is
// skipped and reported; the table is still usable.
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

// narrow is the context window below which an answer takes at most a quarter of it unless the
// user sets more.
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

// checkPrice rejects impossible prices. Zero is valid, because local models are free.
func checkPrice(p *model.Price) error {
	for _, usd := range []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite, p.CacheWrite1h, p.Search} {
		if !(usd >= 0 && usd <= 1e6) { // also false for NaN
			return fmt.Errorf("price %v is not between 0 and 1,000,000 USD", usd)
		}
	}
	return nil
}

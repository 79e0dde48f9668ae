// Package cost tracks a session's tokens, cost, time and changed lines, in total, by model and
// by agent. The caller supplies events and prices; the package enforces nothing.
package cost

import (
	"maps"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
)

// Facts is the data about a model that the account needs.
type Facts struct {
	Price         *model.Price // nil if unknown
	ContextWindow int
	MaxOutput     int
}

// Times holds the duration of one response.
type Times struct {
	// API is the time from the first attempt to the end of the answer, Retries the part of it
	// spent on failed attempts and waiting.
	API, Retries time.Duration
}

// A Totals is a snapshot of the account. Its JSON form is stable: models are sorted by name.
type Totals struct {
	CostUSD float64 `json:"totalCostUSD"`
	// HasUnknownCost is true if something with an unknown price was used, so that CostUSD is
	// less than the true cost.
	HasUnknownCost bool `json:"hasUnknownCost"`
	// Estimated is true if some token counts were not reported by the provider.
	Estimated bool `json:"estimated,omitempty"`

	API               time.Duration `json:"apiNanoseconds"`
	APIWithoutRetries time.Duration `json:"apiWithoutRetriesNanoseconds"`
	Tool              time.Duration `json:"toolNanoseconds"`
	LinesAdded        int           `json:"linesAdded"`
	LinesRemoved      int           `json:"linesRemoved"`

	Usage  msg.Usage        `json:"-"` // all models
	Models map[string]Model `json:"modelUsage"`
	// Asides holds the shares of side questions, by purpose.
	Asides map[string]Share `json:"sideRequests,omitempty"`
	// Own is the share of the conversation itself, including its asides. It is omitted without
	// agents.
	Own Share `json:"mainUsage,omitzero"`
	// Agents holds the shares of all agents, each before the agents it started.
	Agents []Agent `json:"agentUsage,omitempty"`
	// Partial is true if Agents lists only the agents whose share has changed; see
	// [Ledger.Changed].
	Partial bool `json:"-"`
}

// A Share is a part of the account, belonging to an agent or to the side questions of one
// purpose.
type Share struct {
	Requests int     `json:"requests"`
	Input    int     `json:"inputTokens"` // including cached tokens
	Output   int     `json:"outputTokens"`
	CostUSD  float64 `json:"costUSD"`
	// HasUnknownCost is true if some of the prices are unknown.
	HasUnknownCost bool `json:"hasUnknownCost,omitempty"`
}

// A Model is one model's share of the account. Its field names match the output format that
// consumers expect.
type Model struct {
	Input          int     `json:"inputTokens"`
	Output         int     `json:"outputTokens"`
	CacheRead      int     `json:"cacheReadInputTokens"`
	CacheWrite     int     `json:"cacheCreationInputTokens"`
	WebSearches    int     `json:"webSearchRequests"`
	CostUSD        float64 `json:"costUSD"`
	HasUnknownCost bool    `json:"hasUnknownCost,omitempty"`
	ContextWindow  int     `json:"contextWindow"`
	MaxOutput      int     `json:"maxOutputTokens"`
}

// A Ledger tracks the account of a session or an agent; see [Ledger.Child]. It is safe for
// concurrent use.
type Ledger struct {
	facts     func(model string) Facts
	parent    *Ledger // nil for the session's ledger
	id, title string  // agent's ID and title

	mu     *sync.Mutex // shared by all ledgers of a session
	totals Totals      // including all agents below
	own    Share
	agents []*Ledger // agents it started
	// count is the number of agents in the session. unlisted is true if there are too many to
	// list this one.
	count    int
	unlisted bool
	// version counts the changes to a session's ledgers. changed is the version of the last
	// change to own or title.
	version, changed int
}

// New returns an empty account. facts is called with each response's model.
func New(facts func(model string) Facts) *Ledger {
	return &Ledger{facts: facts, mu: new(sync.Mutex), totals: Totals{Models: map[string]Model{}}}
}

// Book adds one response of the conversation, a sub-agent or a side query. It is called once
// per response, with the final usage. A negative count means that the provider failed to report
// it.
func (l *Ledger) Book(name string, u msg.Usage, t Times) {
	facts := l.facts(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book(name, facts, u, t)
}

// BookAside adds one response to a side question; see [Ledger.Book].
func (l *Ledger) BookAside(purpose, name string, u msg.Usage, t Times) {
	facts := l.facts(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	share := l.book(name, facts, u, t)
	for at := l; at != nil; at = at.parent {
		at.totals.aside(purpose, share)
	}
}

// book adds a response to the ledger and its ancestors, and returns its share.
func (l *Ledger) book(name string, facts Facts, u msg.Usage, t Times) Share {
	u, complete := reported(u)
	share := Share{
		Requests: 1, Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, HasUnknownCost: facts.Price == nil || !complete,
	}
	if facts.Price != nil {
		share.CostUSD = facts.Price.Cost(u)
	}
	l.listed().use(share)
	for at := l; at != nil; at = at.parent {
		at.totals.response(name, u, facts, share)
		at.totals.API += t.API
		at.totals.APIWithoutRetries += t.API - t.Retries
	}
	return share
}

// response adds a response's tokens and cost.
func (t *Totals) response(name string, u msg.Usage, facts Facts, share Share) {
	m := t.Models[name]
	m.Input += u.Input
	m.Output += u.Output
	m.CacheRead += u.CacheRead
	m.CacheWrite += u.CacheWrite
	m.WebSearches += u.WebSearches
	m.ContextWindow, m.MaxOutput = facts.ContextWindow, facts.MaxOutput
	m.CostUSD += share.CostUSD
	m.HasUnknownCost = m.HasUnknownCost || share.HasUnknownCost
	t.Models[name] = m
	t.CostUSD += share.CostUSD
	t.HasUnknownCost = t.HasUnknownCost || share.HasUnknownCost
	t.Usage = t.Usage.Add(u)
	t.Estimated = t.Usage.Estimated
}

// aside adds side questions with a purpose.
func (t *Totals) aside(purpose string, more Share) {
	if t.Asides == nil {
		t.Asides = map[string]Share{}
	}
	t.Asides[purpose] = t.Asides[purpose].add(more)
}

func (s Share) add(o Share) Share {
	s.Requests += o.Requests
	s.Input += o.Input
	s.Output += o.Output
	s.CostUSD += o.CostUSD
	s.HasUnknownCost = s.HasUnknownCost || o.HasUnknownCost
	return s
}

// reported returns u without impossible counts, and whether all counts were valid.
func reported(u msg.Usage) (_ msg.Usage, complete bool) {
	complete = true
	for _, n := range []*int{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.CacheWrite1h, &u.WebSearches} {
		if *n < 0 {
			*n, complete = 0, false
		}
	}
	if u.CacheWrite1h > u.CacheWrite {
		u.CacheWrite1h, complete = u.CacheWrite, false
	}
	u.Estimated = u.Estimated || !complete
	return u, complete
}

// AddTool adds the time a tool ran.
func (l *Ledger) AddTool(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l; at != nil; at = at.parent {
		at.totals.Tool += d
	}
}

// AddLines adds a change to a file.
func (l *Ledger) AddLines(added, removed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for at := l; at != nil; at = at.parent {
		at.totals.LinesAdded += added
		at.totals.LinesRemoved += removed
	}
}

// Totals returns the current account, with all agents' shares.
func (l *Ledger) Totals() Totals {
	t, _ := l.Changed(0)
	return t
}

// Sum returns the current account, without the agents' shares.
func (l *Ledger) Sum() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum()
}

func (l *Ledger) sum() Totals {
	t := l.totals
	t.Models, t.Asides = maps.Clone(t.Models), maps.Clone(t.Asides)
	return t
}

// Changed returns the current account, with the shares of the agents that have changed since a
// version, and the current version. Version 0 is before any change.
func (l *Ledger) Changed(since int) (t Totals, version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.sum()
	if len(l.agents) > 0 {
		t.Own, t.Agents, t.Partial = l.own, l.shares(nil, "", since), since > 0
	}
	return t, l.root().version
}

// Exhausted returns the session's cost, including all its agents, and reports whether it has
// reached a limit in USD. A limit that is not positive means no limit.
func (l *Ledger) Exhausted(limitUSD float64) (spent float64, out bool) {
	// Sums of prices are inexact; a billionth of a dollar must not buy another request.
	const tolerance = 1e-9
	l.mu.Lock()
	defer l.mu.Unlock()
	spent = l.root().totals.CostUSD
	return spent, limitUSD > 0 && spent >= limitUSD-tolerance
}

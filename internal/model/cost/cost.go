// Package cost keeps the account of a session: tokens, money, time and lines changed, in all, by
// model and by agent. It is told what happened and at what price; it knows no models, and it neither warns nor
// stops anything.
package cost

import (
	"maps"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
)

// Facts are what the account needs to know about a model.
type Facts struct {
	Price         *model.Price // nil when the price is not known
	ContextWindow int
	MaxOutput     int
}

// Times says how long one response took.
type Times struct {
	// API is the time from the first attempt to the end of the answer, Retries the part of it that
	// went into attempts that failed and into waiting.
	API, Retries time.Duration
}

// A Totals is the account at one moment. Its JSON form is stable: models come in order of name.
type Totals struct {
	CostUSD float64 `json:"totalCostUSD"`
	// HasUnknownCost says that something was used whose price is not known, so that CostUSD is less
	// than the true cost.
	HasUnknownCost bool `json:"hasUnknownCost"`
	// Estimated says that some token counts were not reported by the provider.
	Estimated bool `json:"estimated,omitempty"`

	API               time.Duration `json:"apiNanoseconds"`
	APIWithoutRetries time.Duration `json:"apiWithoutRetriesNanoseconds"`
	Tool              time.Duration `json:"toolNanoseconds"`
	LinesAdded        int           `json:"linesAdded"`
	LinesRemoved      int           `json:"linesRemoved"`

	Usage  msg.Usage        `json:"-"` // of all models
	Models map[string]Model `json:"modelUsage"`
	// Asides are the part of the account that questions beside the conversation have, by their purpose.
	Asides map[string]Share `json:"sideRequests,omitempty"`
	// Own is the part that the conversation itself has, with its asides; it is left out if there are no agents.
	Own Share `json:"mainUsage,omitzero"`
	// Agents are the parts of the agents that it started, and of theirs: each one before those it started.
	Agents []Agent `json:"agentUsage,omitempty"`
	// Partial is set if Agents lists only those whose part has changed; see [Ledger.Changed].
	Partial bool `json:"-"`
}

// A Share is a part of the account: that of an agent, or of the questions of one purpose.
type Share struct {
	Requests int     `json:"requests"`
	Input    int     `json:"inputTokens"` // cached or not
	Output   int     `json:"outputTokens"`
	CostUSD  float64 `json:"costUSD"`
	// HasUnknownCost says that the price of some is not known.
	HasUnknownCost bool `json:"hasUnknownCost,omitempty"`
}

// A Model is the part of the account that one model has. The names of its fields are those that
// readers of results know.
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

// A Ledger keeps the account of a session, or of an agent of it; see [Ledger.Child]. It may be used from any
// goroutine.
type Ledger struct {
	facts     func(model string) Facts
	parent    *Ledger // nil for that of a session
	id, title string  // of the agent

	mu     *sync.Mutex // of all ledgers of a session
	totals Totals      // with those of all agents below
	own    Share
	agents []*Ledger // that it started
	// count is how many agents a session has, and unlisted says that there are too many to list this one.
	count    int
	unlisted bool
	// version counts the changes to a session's ledgers. changed is the version of the last change to own or title.
	version, changed int
}

// New returns an empty account. facts is asked about the model of each response.
func New(facts func(model string) Facts) *Ledger {
	return &Ledger{facts: facts, mu: new(sync.Mutex), totals: Totals{Models: map[string]Model{}}}
}

// Book adds one response, whatever asked for it: the conversation, a sub-agent, or a side query. It
// is called once per response, with its final usage. A negative count is taken for one that the
// provider failed to report.
func (l *Ledger) Book(name string, u msg.Usage, t Times) {
	facts := l.facts(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book(name, facts, u, t)
}

// BookAside adds one response to a question beside the conversation; see [Ledger.Book].
func (l *Ledger) BookAside(purpose, name string, u msg.Usage, t Times) {
	facts := l.facts(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	share := l.book(name, facts, u, t)
	for at := l; at != nil; at = at.parent {
		at.totals.aside(purpose, share)
	}
}

// book adds a response to the ledger and to those above it, and returns what it adds.
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

// response adds the tokens of a response, and what it cost.
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

// aside adds questions of a purpose.
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

// reported returns u without the counts that cannot be, and whether there were none.
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

// Totals returns the account as it stands, with the parts of all agents.
func (l *Ledger) Totals() Totals {
	t, _ := l.Changed(0)
	return t
}

// Sum returns the account as it stands, without the parts of agents.
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

// Changed returns the account as it stands, with the parts of the agents that have changed since a version, and the
// version that it is now. Version 0 is before any change.
func (l *Ledger) Changed(since int) (t Totals, version int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.sum()
	if len(l.agents) > 0 {
		t.Own, t.Agents, t.Partial = l.own, l.shares(nil, "", since), since > 0
	}
	return t, l.root().version
}

// Exhausted returns what the session has cost, with all its agents, and reports whether that has reached a limit in
// USD. A limit that is not positive is none.
func (l *Ledger) Exhausted(limitUSD float64) (spent float64, out bool) {
	// Sums of prices are not exact; a billionth of a dollar must not buy another request.
	const tolerance = 1e-9
	l.mu.Lock()
	defer l.mu.Unlock()
	spent = l.root().totals.CostUSD
	return spent, limitUSD > 0 && spent >= limitUSD-tolerance
}

// Package cost keeps the account of a session: tokens, money, time and lines changed, in all and by
// model. It is told what happened and at what price; it knows no models, and it neither warns nor
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
	Asides map[string]Aside `json:"sideRequests,omitempty"`
}

// An Aside is the part of the account that questions of one purpose have.
type Aside struct {
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

// A Ledger keeps the account. It may be used from any goroutine.
type Ledger struct {
	facts func(model string) Facts

	mu     sync.Mutex
	totals Totals
}

// New returns an empty account. facts is asked about the model of each response.
func New(facts func(model string) Facts) *Ledger {
	return &Ledger{facts: facts, totals: Totals{Models: map[string]Model{}}}
}

// Book adds one response, whatever asked for it: the conversation, a sub-agent, or a side query. It
// is called once per response, with its final usage. A negative count is taken for one that the
// provider failed to report.
func (l *Ledger) Book(name string, u msg.Usage, t Times) {
	facts := l.facts(name)
	u, complete := reported(u)

	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.totals.Models[name]
	m.Input += u.Input
	m.Output += u.Output
	m.CacheRead += u.CacheRead
	m.CacheWrite += u.CacheWrite
	m.WebSearches += u.WebSearches
	m.ContextWindow, m.MaxOutput = facts.ContextWindow, facts.MaxOutput
	if facts.Price != nil {
		usd := facts.Price.Cost(u)
		m.CostUSD += usd
		l.totals.CostUSD += usd
	}
	if facts.Price == nil || !complete {
		m.HasUnknownCost = true
		l.totals.HasUnknownCost = true
	}
	l.totals.Models[name] = m
	l.totals.Usage = l.totals.Usage.Add(u)
	l.totals.Estimated = l.totals.Usage.Estimated
	l.totals.API += t.API
	l.totals.APIWithoutRetries += t.API - t.Retries
}

// BookAside adds one response to a question beside the conversation; see [Ledger.Book].
func (l *Ledger) BookAside(purpose, name string, u msg.Usage, t Times) {
	l.Book(name, u, t)
	facts := l.facts(name)
	u, complete := reported(u)
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Aside{Requests: 1, Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, HasUnknownCost: facts.Price == nil || !complete}
	if facts.Price != nil {
		a.CostUSD = facts.Price.Cost(u)
	}
	l.totals.aside(purpose, a)
}

// aside adds questions of a purpose.
func (t *Totals) aside(purpose string, more Aside) {
	if t.Asides == nil {
		t.Asides = map[string]Aside{}
	}
	a := t.Asides[purpose]
	a.Requests += more.Requests
	a.Input += more.Input
	a.Output += more.Output
	a.CostUSD += more.CostUSD
	a.HasUnknownCost = a.HasUnknownCost || more.HasUnknownCost
	t.Asides[purpose] = a
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
	l.totals.Tool += d
}

// AddLines adds a change to a file.
func (l *Ledger) AddLines(added, removed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.LinesAdded += added
	l.totals.LinesRemoved += removed
}

// Totals returns the account as it stands.
func (l *Ledger) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.totals
	t.Models, t.Asides = maps.Clone(t.Models), maps.Clone(t.Asides)
	return t
}

// Exhausted reports whether the cost has reached a limit in USD. A limit that is not positive is
// none.
func (l *Ledger) Exhausted(limitUSD float64) bool {
	// Sums of prices are not exact; a billionth of a dollar must not buy another request.
	const tolerance = 1e-9
	l.mu.Lock()
	defer l.mu.Unlock()
	return limitUSD > 0 && l.totals.CostUSD >= limitUSD-tolerance
}

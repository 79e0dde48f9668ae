package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"adze/internal/msg"
)

// Restore continues a stored account: its totals are added to the current ones, and its agents
// can be retrieved with [Ledger.Child].
func (l *Ledger) Restore(t Totals) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restoreShares(t)
	sum := &l.totals
	sum.CostUSD += t.CostUSD
	sum.HasUnknownCost = sum.HasUnknownCost || t.HasUnknownCost
	sum.API += t.API
	sum.APIWithoutRetries += t.APIWithoutRetries
	sum.Tool += t.Tool
	sum.LinesAdded += t.LinesAdded
	sum.LinesRemoved += t.LinesRemoved
	sum.Usage = sum.Usage.Add(t.Usage)
	sum.Estimated = sum.Usage.Estimated || sum.Estimated || t.Estimated
	for name, m := range t.Models {
		sum.Models[name] = sum.Models[name].add(m)
	}
	for purpose, a := range t.Asides {
		sum.aside(purpose, a)
	}
}

func (m Model) add(o Model) Model {
	m.Input += o.Input
	m.Output += o.Output
	m.CacheRead += o.CacheRead
	m.CacheWrite += o.CacheWrite
	m.WebSearches += o.WebSearches
	m.CostUSD += o.CostUSD
	m.HasUnknownCost = m.HasUnknownCost || o.HasUnknownCost
	if m.ContextWindow == 0 {
		m.ContextWindow, m.MaxOutput = o.ContextWindow, o.MaxOutput
	}
	return m
}

// A record is an account in stored form, as one object: with all agents, or only the agents
// that have changed since the previous record.
type record struct {
	Totals
	Usage   *usage  `json:"usage"`
	Changes []Agent `json:"agentChanges,omitzero"` // replaces Agents
}

// recordOf returns t in stored form.
func recordOf(t Totals) record {
	u := usage(t.Usage)
	r := record{Totals: t, Usage: &u}
	if t.Partial {
		r.Agents, r.Changes = nil, append([]Agent{}, t.Agents...)
	}
	return r
}

type usage struct {
	Input        int  `json:"input"`
	Output       int  `json:"output"`
	CacheRead    int  `json:"cacheRead"`
	CacheWrite   int  `json:"cacheWrite"`
	CacheWrite1h int  `json:"cacheWrite1h"`
	WebSearches  int  `json:"webSearches"`
	Estimated    bool `json:"estimated,omitempty"`
}

// AppendRecord appends t as a JSON object that [ParseRecord] reads. Equal accounts give equal
// bytes.
func (t Totals) AppendRecord(dst []byte) []byte {
	data, err := json.Marshal(recordOf(t))
	if err != nil { // a sum is not a number
		t.CostUSD, t.HasUnknownCost, t.Models = 0, true, maps.Clone(t.Models)
		for name, m := range t.Models {
			m.CostUSD, m.HasUnknownCost = 0, true
			t.Models[name] = m
		}
		t.Asides, t.Own, t.Agents, t.Partial = nil, Share{}, nil, false
		data, _ = json.Marshal(recordOf(t)) // ok: nothing else can fail
	}
	return append(dst, data...)
}

// ParseRecord reads an account. It rejects impossible numbers.
func ParseRecord(data []byte) (Totals, error) {
	r := record{Usage: &usage{Input: -1}}
	if err := json.Unmarshal(data, &r); err != nil {
		return Totals{}, fmt.Errorf("reading a cost record: %w", err)
	}
	if r.Usage == nil || r.Models == nil {
		return Totals{}, errors.New("reading a cost record: it is not complete")
	}
	t := r.Totals
	t.Usage = msg.Usage(*r.Usage)
	if r.Changes != nil {
		t.Agents, t.Partial = r.Changes, true
	}
	amounts := []float64{
		t.CostUSD, float64(t.API), float64(t.APIWithoutRetries), float64(t.Tool), float64(t.LinesAdded), float64(t.LinesRemoved),
		float64(t.Usage.Input), float64(t.Usage.Output), float64(t.Usage.CacheRead), float64(t.Usage.CacheWrite),
		float64(t.Usage.CacheWrite1h), float64(t.Usage.WebSearches),
	}
	for _, m := range t.Models {
		amounts = append(amounts, float64(m.Input), float64(m.Output), float64(m.CacheRead), float64(m.CacheWrite),
			float64(m.WebSearches), m.CostUSD, float64(m.ContextWindow), float64(m.MaxOutput))
	}
	shares := append(slices.Collect(maps.Values(t.Asides)), t.Own)
	for _, a := range t.Agents {
		shares = append(shares, a.Share)
	}
	for _, s := range shares {
		amounts = append(amounts, float64(s.Requests), float64(s.Input), float64(s.Output), s.CostUSD)
	}
	for _, a := range amounts {
		if !(a >= 0) || math.IsInf(a, 0) {
			return Totals{}, errors.New("reading a cost record: an amount is less than nothing")
		}
	}
	return t, nil
}

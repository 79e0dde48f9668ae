package model

import "adze/internal/msg"

// A Price is a model's price in USD per million tokens.
type Price struct {
	Input, Output float64
	CacheRead     float64
	CacheWrite    float64 // short lifetime
	CacheWrite1h  float64
	// Search is the price of one web search by the provider, in USD.
	Search float64

	// Long, if non-nil, replaces this price for prompts of more than LongOver tokens.
	Long     *Price
	LongOver int
}

// Cost returns the cost of one response with usage u, in USD.
func (p *Price) Cost(u msg.Usage) float64 {
	if prompt := u.Input + u.CacheRead + u.CacheWrite; p.Long != nil && prompt > p.LongOver {
		p = p.Long
	}
	short := u.CacheWrite - u.CacheWrite1h
	tokens := float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*p.CacheRead +
		float64(short)*p.CacheWrite + float64(u.CacheWrite1h)*p.CacheWrite1h
	return tokens/1e6 + float64(u.WebSearches)*p.Search
}

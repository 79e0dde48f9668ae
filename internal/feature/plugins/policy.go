package plugins

import (
	"encoding/json"
	"fmt"
	"slices"

	"adze/internal/domain/plugin"
	"adze/internal/feature/plugins/market"
	"adze/internal/settings/config"
)

// A policy is the administrator's marketplace policy. Nil allows all.
type policy struct {
	sources []plugin.Source
	markets map[string]plugin.Source // known marketplaces
	broken  error                    // non-nil denies everything
}

// policy returns the administrator's current policy.
func (p *Plugins) policy(s *config.Settings, set *Set) *policy {
	parts := s.Parts("strictKnownMarketplaces")
	if len(parts) == 0 {
		return nil
	}
	x := &policy{markets: map[string]plugin.Source{}}
	for _, part := range parts {
		var raws []json.RawMessage
		if err := json.Unmarshal(part.JSON, &raws); err != nil {
			set.Problems = append(set.Problems, fmt.Sprintf("%s: strictKnownMarketplaces is not a list of sources; no marketplace is allowed", part.File))
			continue
		}
		for _, raw := range raws {
			src, err := market.DecodeSource(raw, "")
			if err != nil {
				set.Problems = append(set.Problems, fmt.Sprintf("%s: strictKnownMarketplaces: %v; it allows nothing", part.File, err))
				continue
			}
			x.sources = append(x.sources, src)
		}
	}
	known, err := p.store.Markets()
	if err != nil {
		x.broken = err
	}
	for _, m := range known {
		x.markets[m.Name] = m.Source
	}
	return x
}

// forbids returns why a plugin may not be used, or "".
func (x *policy) forbids(id plugin.ID) string {
	if x == nil {
		return ""
	}
	src, ok := x.markets[id.Market]
	if !ok || x.broken != nil {
		return fmt.Sprintf("the managed policy names the marketplaces that plugins may come from, and %s is not known", id.Market)
	}
	return x.forbidsSource(src)
}

// forbidsSource returns why a marketplace may not be used, or "".
func (x *policy) forbidsSource(src plugin.Source) string {
	if x == nil || slices.Contains(x.sources, src) {
		return ""
	}
	return fmt.Sprintf("the managed policy does not allow the marketplace %s", src)
}

package models

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/settings/config"
)

// modelFacts holds the settings for a model.
type modelFacts struct {
	ContextWindow *int        `json:"contextWindow"`
	MaxOutput     *int        `json:"maxOutput"`
	Images        *bool       `json:"images"`
	Documents     *bool       `json:"documents"`
	Tools         *bool       `json:"tools"`
	Thinking      *bool       `json:"thinking"`
	ToolSearch    *bool       `json:"toolSearch"`
	Price         *modelPrice `json:"price"`
}

type modelPrice struct {
	Input, Output, CacheRead, CacheWrite, CacheWrite1h float64
}

func (p *modelPrice) price() *model.Price {
	if p == nil {
		return nil
	}
	return &model.Price{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, CacheWrite1h: p.CacheWrite1h}
}

// Table returns the model catalog with the corrections from the settings. say reports errors in
// them.
func Table(s *config.Settings, say func(string)) catalog.Table {
	overrides := map[string]catalog.Override{}
	facts := func(id string, raw json.RawMessage) error {
		var f modelFacts
		if err := json.Unmarshal(raw, &f); err != nil {
			return err
		}
		overrides[ownName(id)] = catalog.Override{
			ContextWindow: f.ContextWindow, MaxOutput: f.MaxOutput, Images: f.Images, Documents: f.Documents, Tools: f.Tools,
			Thinking: f.Thinking, ToolSearch: f.ToolSearch, Price: f.Price.price(),
		}
		return nil
	}
	for _, p := range newTable(s, func(string) {}) { // errors are reported on open
		if p.own == nil {
			continue
		}
		for name, raw := range p.own.Models {
			if err := facts(p.name+"/"+name, raw); err != nil {
				say(fmt.Sprintf("%s: %s.%s.models.%s: %v; it is ignored", s.Origin(ownKey), ownKey, p.name, name, err))
			}
		}
	}
	decodeModels(s, "models", say, facts)
	decodeModels(s, "modelPricing", say, func(id string, raw json.RawMessage) error {
		var p modelPrice
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		o := overrides[ownName(id)]
		o.Price = p.price()
		overrides[ownName(id)] = o
		return nil
	})
	table, err := catalog.Table{}.With(overrides)
	if err != nil {
		say(err.Error())
	}
	return table.Learning()
}

// ownName returns the ID of a model that may be prefixed with its vendor's own provider.
func ownName(name string) string {
	provider, rest, _ := strings.Cut(name, "/")
	if m, ok := (catalog.Table{}).For(provider).Lookup(rest); ok && m.Provider == provider && m.ID == rest {
		return rest
	}
	return name
}

// Listed returns the chosen provider's name and the model IDs it lists. Both are empty if it
// has no list or the list is unavailable.
func Listed(ctx context.Context, c Config) (name string, ids []string) {
	rows := newTable(c.Settings, func(string) {}) // errors are reported on open
	chosen, err := rows.choose(c.Provider, c.Settings, c.Keys)
	if row := chosen.provider; err != nil || row == nil || row.connect != nil || row.local {
		return "", nil
	}
	c.Say = func(string) {}
	p, err := (&access{Config: c, chosen: chosen}).open(chosen.provider)
	if err != nil {
		return "", nil
	}
	lister, ok := model.As[interface {
		Models(context.Context) ([]string, error)
	}](p)
	if !ok {
		return "", nil
	}
	names, err := lister.Models(ctx)
	if err != nil {
		return "", nil
	}
	n := newNames(c, rows, chosen)
	for _, name := range names {
		ids = append(ids, n.id(destination{chosen.provider, name}))
	}
	slices.Sort(ids)
	return chosen.provider.name, slices.Compact(ids)
}

// decodeModels decodes a per-model settings object.
func decodeModels(s *config.Settings, key string, say func(string), decode func(id string, raw json.RawMessage) error) {
	raw := s.Object(key)
	if len(raw) == 0 {
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		say(fmt.Sprintf("%s: %s is not an object by model id; it is ignored", s.Origin(key), key))
		return
	}
	for id, one := range all {
		if err := decode(id, one); err != nil {
			say(fmt.Sprintf("%s: %s.%s: %v; it is ignored", s.Origin(key), key, id, err))
		}
	}
}

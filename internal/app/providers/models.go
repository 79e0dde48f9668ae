package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/platform/config"
)

// modelFacts are what the settings say about a model.
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

// Table returns the table of models with the corrections of the settings. Say tells the user what is wrong with them.
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
	for _, p := range newTable(s, func(string) {}) { // what is wrong with a provider is said when it is opened
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

// ownName returns the id of a model that the user may have named with the vendor's own provider before it.
func ownName(name string) string {
	provider, rest, _ := strings.Cut(name, "/")
	if m, ok := (catalog.Table{}).For(provider).Lookup(rest); ok && m.Provider == provider && m.ID == rest {
		return rest
	}
	return name
}

// Listed returns the ids of the models that the chosen provider says it has, and its name. Nothing is returned if it has no
// list, or none that can be had now.
func Listed(ctx context.Context, c Config) (name string, ids []string) {
	rows := newTable(c.Settings, func(string) {}) // what is wrong is said when they are opened
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

// decodeModels decodes an object of settings by model.
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

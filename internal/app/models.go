package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/msg"
	"adze/internal/platform/config"
)

// modelTable returns the table of models with the corrections of the settings.
func modelTable(env *Env, s *config.Settings) catalog.Table {
	overrides := map[string]catalog.Override{}
	decodeModels(env, s, "models", func(id string, raw json.RawMessage) error {
		var m struct {
			ContextWindow *int  `json:"contextWindow"`
			MaxOutput     *int  `json:"maxOutput"`
			Images        *bool `json:"images"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		o := overrides[id]
		o.ContextWindow, o.MaxOutput, o.Images = m.ContextWindow, m.MaxOutput, m.Images
		overrides[id] = o
		return nil
	})
	decodeModels(env, s, "modelPricing", func(id string, raw json.RawMessage) error {
		var p struct {
			Input, Output, CacheRead, CacheWrite, CacheWrite1h float64
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		o := overrides[id]
		o.Price = &model.Price{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, CacheWrite1h: p.CacheWrite1h}
		overrides[id] = o
		return nil
	})
	table, err := catalog.Table{}.With(overrides)
	if err != nil {
		env.say(err.Error())
	}
	return table
}

// decodeModels decodes an object of settings by model.
func decodeModels(env *Env, s *config.Settings, key string, decode func(id string, raw json.RawMessage) error) {
	raw := s.Object(key)
	if len(raw) == 0 {
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		env.say(fmt.Sprintf("%s: %s is not an object by model id; it is ignored", s.Origin(key), key))
		return
	}
	for id, one := range all {
		if err := decode(id, one); err != nil {
			env.say(fmt.Sprintf("%s: %s.%s: %v; it is ignored", s.Origin(key), key, id, err))
		}
	}
}

// loopModel returns what the loop needs to know of a model.
func loopModel(m catalog.Model) agent.Model {
	return agent.Model{ID: m.ID, Window: m.ContextWindow, Output: m.DefaultOutput, MaxOutput: m.MaxOutput}
}

// countTokens returns a function that asks p how many tokens a text is to the current model, or nil if p
// cannot count.
func countTokens(p model.Provider, current func() catalog.Model) func(context.Context, string) (int, error) {
	counter, ok := model.As[model.Counter](p)
	if !ok {
		return nil
	}
	return func(ctx context.Context, text string) (int, error) {
		m := current()
		if !m.Counting {
			return 0, fmt.Errorf("%s has no service that counts tokens", m.ID)
		}
		return counter.CountTokens(ctx, &model.Request{Model: m.ID, Messages: []msg.Message{msg.UserText(text)}})
	}
}

func modelsFlags() []flag {
	return append([]flag{
		{name: "json", doc: "print JSON", set: setBool(func(o *options) *bool { return &o.json })},
		{name: "settings", value: "FILE|JSON", doc: "further settings", set: setText(func(o *options) *string { return &o.settings })},
	}, helpFlags()...)
}

// listModels prints the table of models.
func listModels(_ context.Context, env *Env, o *options) error {
	s, _, _ := loadSettings(env, o) // ok: without a state home there is only the built-in table
	models := modelTable(env, s).All()
	if o.json {
		return env.print(modelsJSON(models))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %9s %9s %9s %9s   %s\n", "MODEL", "WINDOW", "OUTPUT", "IN $/M", "OUT $/M", "ALIASES")
	for _, m := range models {
		in, out := "-", "-"
		if m.Price != nil {
			in, out = fmt.Sprintf("%.2f", m.Price.Input), fmt.Sprintf("%.2f", m.Price.Output)
		}
		row := fmt.Sprintf("%-26s %9d %9d %9s %9s   %s", m.ID, m.ContextWindow, m.MaxOutput, in, out, strings.Join(catalog.AliasesOf(m.ID), ", "))
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	fmt.Fprintf(&b, "\nThe table is of %s. Other names work too, without a price; models and modelPricing in the settings correct it.\n", catalog.Date)
	return env.print(b.String())
}

func modelsJSON(models []catalog.Model) string {
	type price struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
	}
	type line struct {
		ID            string   `json:"id"`
		Name          string   `json:"name"`
		Aliases       []string `json:"aliases"`
		ContextWindow int      `json:"contextWindow"`
		MaxOutput     int      `json:"maxOutput"`
		Cutoff        string   `json:"cutoff,omitempty"`
		Retires       string   `json:"retires,omitempty"`
		Price         *price   `json:"price"`
	}
	list := make([]line, 0, len(models))
	for _, m := range models {
		l := line{
			ID: m.ID, Name: m.Name, Aliases: append([]string{}, catalog.AliasesOf(m.ID)...),
			ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput, Cutoff: m.Cutoff, Retires: m.Retires,
		}
		if p := m.Price; p != nil {
			l.Price = &price{p.Input, p.Output, p.CacheRead, p.CacheWrite}
		}
		list = append(list, l)
	}
	return marshal(map[string]any{"date": catalog.Date, "models": list})
}

// marshal returns v as indented JSON with an end of line.
func marshal(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("app: %v", err)) // plain data always encodes
	}
	return b.String()
}

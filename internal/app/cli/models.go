package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/app/providers"
	"adze/internal/app/settings"
	"adze/internal/model/catalog"
)

// modelsOptions belong to adze models.
type modelsOptions struct {
	project settings.Source
	json    bool
}

func (o *modelsOptions) flags() []flag {
	return append([]flag{jsonFlag(&o.json)}, only(projectFlags(&o.project), "settings")...)
}

// run prints the table of models.
func (o *modelsOptions) run(_ context.Context, env *Env, _ invocation) error {
	p := openLeniently(env, o.project) // without a state home there is only the built-in table
	models := providers.Table(p.Settings(), env.Say).All()
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
		row := fmt.Sprintf("%-26s %9d %9d %9s %9s   %s", m.ID, m.ContextWindow, m.MaxOutput, in, out, strings.Join((catalog.Table{}).AliasesOf(m.ID), ", "))
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
			ID: m.ID, Name: m.Name, Aliases: append([]string{}, (catalog.Table{}).AliasesOf(m.ID)...),
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
		panic(fmt.Sprintf("cli: %v", err)) // plain data always encodes
	}
	return b.String()
}

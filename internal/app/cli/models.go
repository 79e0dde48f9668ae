package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/app/models"
	"adze/internal/model/catalog"
	"adze/internal/platform/term"
	"adze/internal/settings"
)

// modelsOptions holds the options of adze models.
type modelsOptions struct {
	project settings.Source
	json    bool
}

func (o *modelsOptions) flags() []flag {
	return append([]flag{jsonFlag(&o.json)}, flags.Only(projectFlags(&o.project), "settings")...)
}

// run prints the model catalog.
func (o *modelsOptions) run(ctx context.Context, env *Env, _ invocation) error {
	p := openLeniently(env, o.project) // only the built-in table without a state home
	table := models.Table(p.Settings(), env.Say)
	known := table.All()
	servers := models.FindLocal(ctx, p.Settings(), env.Version)
	provider, listed := models.Listed(ctx, models.Config{
		Settings: p.Settings(), Keys: models.OpenKeys(p.Home), Models: table, Dir: env.Dir, Environ: env.Environ, Getenv: env.Getenv, Home: p.User, Version: env.Version,
	})
	listed = slices.DeleteFunc(listed, func(id string) bool {
		return slices.ContainsFunc(known, func(m catalog.Model) bool { return m.ID == id })
	})
	if o.json {
		return env.printJSON(modelsList(table, servers, listed))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %9s %9s %9s %9s   %s\n", "MODEL", "WINDOW", "OUTPUT", "IN $/M", "OUT $/M", "ALIASES")
	for _, m := range known {
		in, out := "-", "-"
		if m.Price != nil {
			in, out = fmt.Sprintf("%.2f", m.Price.Input), fmt.Sprintf("%.2f", m.Price.Output)
		}
		row := fmt.Sprintf("%-26s %9d %9d %9s %9s   %s", m.ID, m.ContextWindow, m.MaxOutput, in, out, strings.Join(table.AliasesOf(m.ID), ", "))
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	b.WriteString(servers.String())
	if len(listed) > 0 {
		fmt.Fprintf(&b, "\nThe provider %s has these too:\n", provider)
		for _, id := range listed {
			b.WriteString("  " + term.Sanitize(id) + "\n")
		}
	}
	fmt.Fprintf(&b, "\nThe table is of %s. Other names work too, without a price; models and modelPricing in the settings correct it.\n", catalog.Date)
	return env.page(b.String())
}

// modelsList returns the models in the form of --json.
func modelsList(table catalog.Table, servers models.Servers, listed []string) any {
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
	list := []line{}
	for _, m := range table.All() {
		l := line{
			ID: m.ID, Name: m.Name, Aliases: append([]string{}, table.AliasesOf(m.ID)...),
			ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput, Cutoff: m.Cutoff, Retires: m.Retires,
		}
		if p := m.Price; p != nil {
			l.Price = &price{p.Input, p.Output, p.CacheRead, p.CacheWrite}
		}
		list = append(list, l)
	}
	return map[string]any{"date": catalog.Date, "models": list, "local": servers.List(), "listed": append([]string{}, listed...)}
}

package desk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/amount"
)

func costCommand() Command {
	return Command{Name: "cost", Doc: "show what this session has cost", Run: func(_ context.Context, d *Desk, _ string) (Answer, error) {
		return costPage(d.Session.Totals()), nil
	}}
}

// costPage shows what a session has cost, in total and by model.
func costPage(t cost.Totals) Page {
	p := Page{Blocks: []Block{Fields{
		{"Total cost", total(t)},
		{"Time", amount.Seconds(t.API) + " waiting for the model, " + amount.Seconds(t.Tool) + " running tools"},
		{"Lines changed", fmt.Sprintf("%d added, %d removed", t.LinesAdded, t.LinesRemoved)},
	}}}
	if len(t.Models) == 0 {
		p.Add(Text("No request has been sent yet."))
		return p
	}
	table := Table{Columns: []Column{{Name: "Model", Cut: true}}}
	for _, name := range []string{"input", "output", "cache read", "cache write", "cost"} {
		table.Columns = append(table.Columns, Column{Name: name, Right: true})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Models)) {
		m := t.Models[name]
		price := amount.USD(m.CostUSD)
		if m.HasUnknownCost {
			price = "unknown"
		}
		table.Rows = append(table.Rows, []string{
			name, strconv.Itoa(m.Input), strconv.Itoa(m.Output), strconv.Itoa(m.CacheRead), strconv.Itoa(m.CacheWrite), price,
		})
	}
	p.Add(table)
	return p
}

// Spent returns what a session has cost, in one line.
func Spent(t cost.Totals) string {
	return fmt.Sprintf("Cost: %s; %d tokens in, %d out; %s waiting for the model.", total(t), sent(t.Usage), t.Usage.Output, amount.Seconds(t.API))
}

// total returns the total cost, and says if it is incomplete or an estimate.
func total(t cost.Totals) string {
	switch {
	case t.HasUnknownCost && t.CostUSD == 0:
		return "unknown price"
	case t.HasUnknownCost:
		return "more than " + amount.USD(t.CostUSD) + " (the price of some models is unknown)"
	case t.Estimated:
		return "about " + amount.USD(t.CostUSD)
	}
	return amount.USD(t.CostUSD)
}

func sent(u msg.Usage) int { return u.Input + u.CacheRead + u.CacheWrite }

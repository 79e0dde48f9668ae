package commands

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

func costCommand() Command {
	return Command{Name: "cost", Doc: "show the cost of this session, and the rate limits", Run: func(_ context.Context, r *Registry, _ string) (Answer, error) {
		p := costPage(r.Session.Totals())
		if r.Models.Limits != nil {
			addLimits(&p, r.Models.Limits(), r.Now())
		}
		return p, nil
	}}
}

// addLimits shows the provider's rate limits, if any are known.
func addLimits(p *Page, limits []model.Limit, now time.Time) {
	if len(limits) == 0 {
		return
	}
	table := Table{Columns: []Column{{Name: "Rate limit", Cut: true}, {Name: "used", Right: true}, {Name: "left", Right: true}, {Name: "of", Right: true}, {Name: "renewed in", Right: true}}}
	for _, l := range limits {
		renewed := "?"
		if !l.Reset.IsZero() {
			renewed = amount.Seconds(max(0, l.Reset.Sub(now)).Round(time.Second))
		}
		table.Rows = append(table.Rows, []string{l.Name, fmt.Sprintf("%d%%", l.Used()), amount.Grouped(l.Left), amount.Grouped(l.Most), renewed})
	}
	p.Add(table)
}

// costPage shows a session's cost: in total, by model, by agent, and for side questions.
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
		table.Rows = append(table.Rows, []string{
			name, amount.Grouped(m.Input), amount.Grouped(m.Output), amount.Grouped(m.CacheRead), amount.Grouped(m.CacheWrite), price(m.CostUSD, m.HasUnknownCost),
		})
	}
	p.Add(table)
	addAgents(&p, t)
	if len(t.Asides) > 0 {
		beside := shareTable("Outside the conversation")
		for _, purpose := range slices.Sorted(maps.Keys(t.Asides)) {
			beside.Rows = append(beside.Rows, shareRow(purpose, t.Asides[purpose]))
		}
		p.Add(beside)
	}
	return p
}

// addAgents shows the usage of the conversation and of each of its agents, if any. A nested
// agent follows its parent and is indented.
func addAgents(p *Page, t cost.Totals) {
	if len(t.Agents) == 0 {
		return
	}
	table := shareTable("By agent")
	sum := cost.Share{Input: sent(t.Usage), Output: t.Usage.Output, CostUSD: t.CostUSD, HasUnknownCost: t.HasUnknownCost}
	for _, r := range t.Tree() {
		name := "main conversation"
		if r.Depth > 0 {
			name = strings.Repeat("  ", r.Depth) + strings.TrimSpace(tool.OneLine(r.Title, 40)+" "+r.ID)
		}
		sum.Requests += r.Requests
		table.Rows = append(table.Rows, shareRow(name, r.Share))
	}
	table.Rows = append(table.Rows, shareRow("all", sum))
	p.Add(table)
}

// shareTable returns a table for parts of the account, without rows.
func shareTable(of string) Table {
	table := Table{Columns: []Column{{Name: of, Cut: true}}}
	for _, name := range []string{"requests", "input", "output", "cost"} {
		table.Columns = append(table.Columns, Column{Name: name, Right: true})
	}
	return table
}

func shareRow(name string, s cost.Share) []string {
	return []string{name, amount.Grouped(s.Requests), amount.Grouped(s.Input), amount.Grouped(s.Output), price(s.CostUSD, s.HasUnknownCost)}
}

// price formats a cost, or "unknown".
func price(usd float64, unknown bool) string {
	if unknown {
		return "unknown"
	}
	return amount.USD(usd)
}

// Spent returns a session's cost on one line.
func Spent(t cost.Totals) string {
	return fmt.Sprintf("Cost: %s; %s tokens in, %s out; %s waiting for the model.", total(t), amount.Grouped(sent(t.Usage)), amount.Grouped(t.Usage.Output), amount.Seconds(t.API))
}

// total returns the total cost, and notes if it is incomplete or an estimate.
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

package draw

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

// USD returns a sum of money: in cents, and with more places when it is less than one.
func USD(sum float64) string {
	if sum > 0 && sum < 0.01 {
		return fmt.Sprintf("$%.4f", sum)
	}
	return fmt.Sprintf("$%.2f", sum)
}

// Spent returns what a session has cost, in one line.
func Spent(t cost.Totals) string {
	return fmt.Sprintf("Cost: %s; %d tokens in, %d out; %s waiting for the model.", total(t), sent(t.Usage), t.Usage.Output, seconds(t.API))
}

// total returns the sum, and says when it is not all.
func total(t cost.Totals) string {
	switch {
	case t.HasUnknownCost && t.CostUSD == 0:
		return "unknown price"
	case t.HasUnknownCost:
		return "more than " + USD(t.CostUSD) + " (of some models the price is unknown)"
	case t.Estimated:
		return "about " + USD(t.CostUSD)
	}
	return USD(t.CostUSD)
}

func sent(u msg.Usage) int { return u.Input + u.CacheRead + u.CacheWrite }

// Cost returns what a session has cost, as lines: in all, then by model.
func Cost(t cost.Totals) []string {
	lines := []string{
		"Total cost:     " + total(t),
		"Waiting:        " + seconds(t.API) + " for the model, " + seconds(t.Tool) + " for tools",
		fmt.Sprintf("Lines changed:  %d added, %d removed", t.LinesAdded, t.LinesRemoved),
	}
	if len(t.Models) == 0 {
		return append(lines, "No model was asked yet.")
	}
	lines = append(lines, fmt.Sprintf("%-28s %12s %12s %12s %12s %12s", "Model", "input", "output", "cache read", "cache write", "cost"))
	for _, name := range slices.Sorted(maps.Keys(t.Models)) {
		m := t.Models[name]
		price := USD(m.CostUSD)
		if m.HasUnknownCost {
			price = "unknown"
		}
		lines = append(lines, fmt.Sprintf("%-28s %12d %12d %12d %12d %12s", term.Sanitize(name), m.Input, m.Output, m.CacheRead, m.CacheWrite, price))
	}
	return lines
}

func seconds(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

// Outcome returns in a few words what came of a call.
func Outcome(d tool.Display, r *msg.ToolResult) string {
	switch d := d.(type) {
	case tool.Output:
		switch {
		case d.Exit != nil && *d.Exit != 0:
			return fmt.Sprintf("exit code %d, %s", *d.Exit, count(d.Lines, "lines"))
		case d.Lines == 0:
			return "done"
		}
		return count(d.Lines, "lines")
	case tool.File:
		return count(d.Count, "lines")
	case tool.Diff:
		if d.Created {
			return "created, " + count(d.Added, "lines")
		}
		return fmt.Sprintf("+%d -%d", d.Added, d.Removed)
	case tool.Changes:
		added, removed := 0, 0
		for _, one := range d {
			added, removed = added+one.Added, removed+one.Removed
		}
		return fmt.Sprintf("%s, +%d -%d", count(len(d), "files"), added, removed)
	case tool.List:
		return fmt.Sprintf("%d %s", d.Total, d.Unit)
	case tool.Plain:
		return tool.OneLine(d.Text, 120)
	}
	if r == nil {
		return "done"
	}
	return tool.OneLine(msg.PlainText(r.Parts), 120)
}

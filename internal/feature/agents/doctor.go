package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
	"adze/internal/model/tokens"
	"adze/internal/platform/text/amount"
)

// ForHook returns a function that looks for problems with agents: invalid definitions, and an
// overlong listing.
func Check(l *agentdef.Library) func(context.Context) commands.Check {
	return func(context.Context) commands.Check {
		set := l.Refresh()
		check := commands.Check{Name: "agents", Fine: amount.Of(len(set.Definitions), "agent", "agents"), Problems: set.Report()}
		if note := oversize(set.Definitions); note != "" {
			check.Notes = []string{note}
		}
		return check
	}
}

// maxListed is the recommended maximum size of the agent listing, in tokens.
const maxListed = 5_000

// oversize returns a warning if the agent listing, which is part of every request, is large,
// naming the largest entries; otherwise "". Built-in agents are not named, since the user
// cannot shorten them.
func oversize(all []*agentdef.Definition) string {
	type share struct {
		name string
		size int
	}
	var shares []share
	total, count := 0, tokens.New("")
	for _, d := range all {
		n := count.Text(d.Name + ": " + d.Description)
		if total += n; d.Source.Kind != agentdef.BuiltIn {
			shares = append(shares, share{d.Name, n})
		}
	}
	if total <= maxListed || len(shares) == 0 {
		return ""
	}
	slices.SortStableFunc(shares, func(a, b share) int { return cmp.Compare(b.size, a.size) })
	var largest []string
	for _, s := range shares[:min(3, len(shares))] {
		largest = append(largest, fmt.Sprintf("%s (%d)", s.name, s.size))
	}
	return fmt.Sprintf("the list of agents has about %d tokens, which every request carries; shorten the descriptions of the largest, or remove some: %s", total, strings.Join(largest, ", "))
}

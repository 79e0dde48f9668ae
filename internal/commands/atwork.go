package commands

import (
	"strings"

	"adze/internal/platform/text/amount"
)

// A RunningAgent is a running sub-agent.
type RunningAgent struct {
	ID, Type, Title string
	Parent          string // the sub-agent that launched it, or ""
	Calls           int
	Last            string // its last action
}

// AddAgents shows the running sub-agents, if any. A nested one follows its parent and is
// indented.
func AddAgents(p *Page, list []RunningAgent) {
	table := Table{Columns: []Column{{Name: "At work"}, {Name: "type"}, {Name: "task", Cut: true}, {Name: "calls"}, {Name: "last", Cut: true}}}
	for _, b := range Tree(list, func(a RunningAgent) string { return a.ID }, func(a RunningAgent) string { return a.Parent }) {
		a := b.Item
		table.Rows = append(table.Rows, []string{strings.Repeat("  ", b.Depth) + a.ID, a.Type, a.Title, amount.Grouped(a.Calls), a.Last})
	}
	if len(list) > 0 {
		p.Add(table)
	}
}

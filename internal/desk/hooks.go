package desk

import (
	"context"

	"adze/internal/platform/amount"
)

func hooksCommand() Command {
	return Command{Name: "hooks", Doc: "show the hooks, where they are defined and how they last ran",
		Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return hooksPage(d.Hooks()), nil }}
}

// hooksPage lists the hooks by event, and points out slow ones.
func hooksPage(h Hooks) Page {
	if len(h.List) == 0 {
		return Say("No hooks are configured.")
	}
	var p Page
	if h.Policy.Disable {
		p.Add(Text("All hooks are disabled."))
	}
	table := Table{Columns: []Column{{Name: "Event"}, {Name: "matches"}, {Name: "runs", Cut: true}, {Name: "from"}, {Name: "last"}}}
	var notices []Block
	for _, l := range h.List {
		matches, last := l.Matcher, "-"
		if matches == "" {
			matches = "*"
		}
		switch {
		case l.Idle != "":
			last = "does not run: " + l.Idle
		case l.Last != nil:
			last = string(l.Last.Outcome) + ", " + amount.Seconds(l.Last.Duration)
		}
		table.Rows = append(table.Rows, []string{string(l.Event), matches, l.Label, l.Source, last})
		if l.Slow {
			notices = append(notices, Notice(l.Label+" is slow and delays "+string(l.Event)))
		}
	}
	p.Add(table)
	p.Add(notices...)
	return p
}

package desk

import (
	"context"
	"errors"

	"adze/internal/platform/amount"
)

func hooksCommand() Command {
	return Command{Name: "hooks", Kind: Change, Args: "[on|off]", Doc: "show the hooks, where they are defined and how they last ran, or switch them off for this session",
		Run:      func(_ context.Context, d *Desk, arg string) (Answer, error) { return runHooks(d, arg) },
		Complete: words("on", "off")}
}

// runHooks shows the hooks, or switches them.
func runHooks(d *Desk, arg string) (Answer, error) {
	h := d.Hooks()
	switch {
	case arg == "":
		return hooksPage(h), nil
	case arg != "on" && arg != "off":
		return nil, errors.New("usage: /hooks, /hooks off or /hooks on")
	case !d.Terminal:
		return nil, errTerminal
	}
	h.Mute(arg == "off")
	if arg == "on" {
		return Say("Hooks run again."), nil
	}
	return Say("No hook runs for the rest of this session, except those of your administrator. /hooks on lets them run again."), nil
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

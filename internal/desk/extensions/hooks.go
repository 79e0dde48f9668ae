package extensions

import (
	"context"
	"errors"

	"adze/internal/desk"
	"adze/internal/platform/amount"
	"adze/internal/platform/scope"
)

func hooksCommand() desk.Command {
	return desk.Command{Name: "hooks", Kind: desk.Change, Args: "[on|off]", Doc: "show the hooks, where they are defined and how they last ran, or switch them off for this session",
		Run:      func(_ context.Context, d *desk.Desk, arg string) (desk.Answer, error) { return runHooks(d, arg) },
		Complete: func(*desk.Desk, string) []string { return []string{"on", "off"} }}
}

// runHooks shows the hooks, or switches them on or off.
func runHooks(d *desk.Desk, arg string) (desk.Answer, error) {
	h := d.Extensions.Hooks()
	switch {
	case arg == "":
		return hooksPage(h), nil
	case arg != "on" && arg != "off":
		return nil, errors.New("usage: /hooks, /hooks off or /hooks on")
	case !d.Terminal:
		return nil, desk.ErrTerminal
	}
	h.Mute(arg == "off")
	if arg == "on" {
		return desk.Say("Hooks run again."), nil
	}
	return desk.Say("No hook runs for the rest of this session, except those of your administrator. /hooks on lets them run again."), nil
}

// hooksPage lists the hooks by event, and points out slow ones.
func hooksPage(h desk.Hooks) desk.Page {
	if len(h.List) == 0 {
		return desk.Say("No hooks are configured.")
	}
	var p desk.Page
	if h.Policy.Disable {
		p.Add(desk.Text("All hooks are disabled."))
	}
	table := desk.Table{Columns: []desk.Column{{Name: "Event"}, {Name: "matches"}, {Name: "runs", Cut: true}, {Name: "from"}, {Name: "last"}}}
	var notices []desk.Block
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
		table.Rows = append(table.Rows, []string{string(l.Event), matches, l.Label, scope.Scope(l.Source).Text(), last})
		if l.Slow {
			notices = append(notices, desk.Notice(l.Label+" is slow and delays "+string(l.Event)))
		}
	}
	p.Add(table)
	p.Add(notices...)
	return p
}

package extensions

import (
	"context"
	"errors"

	"adze/internal/commands"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
)

func hooksCommand() commands.Command {
	return commands.Command{Name: "hooks", Kind: commands.Change, Args: "[on|off]", Doc: "show the hooks, where they are defined and how they last ran, or switch them off for this session",
		Run: func(_ context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			return runHooks(r, arg)
		},
		Complete: func(*commands.Registry, string) []string { return []string{"on", "off"} }}
}

// runHooks shows the hooks, or switches them on or off.
func runHooks(r *commands.Registry, arg string) (commands.Answer, error) {
	h := r.Extensions.Hooks()
	switch {
	case arg == "":
		return hooksPage(h), nil
	case arg != "on" && arg != "off":
		return nil, errors.New("usage: /hooks, /hooks off or /hooks on")
	case !r.Terminal:
		return nil, commands.ErrTerminal
	}
	h.Mute(arg == "off")
	if arg == "on" {
		return commands.Say("Hooks run again."), nil
	}
	return commands.Say("Hooks are off for the rest of this session, except your administrator's. /hooks on turns them on again."), nil
}

// hooksPage lists the hooks by event, and points out slow ones.
func hooksPage(h commands.Hooks) commands.Page {
	if len(h.List) == 0 {
		return commands.Say("No hooks are configured.")
	}
	var p commands.Page
	if h.Policy.Disable {
		p.Add(commands.Text("All hooks are disabled."))
	}
	table := commands.Table{Columns: []commands.Column{{Name: "Event"}, {Name: "matches"}, {Name: "runs", Cut: true}, {Name: "from"}, {Name: "last"}}}
	var notices []commands.Block
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
			notices = append(notices, commands.Notice(l.Label+" is slow and delays "+string(l.Event)))
		}
	}
	p.Add(table)
	p.Add(notices...)
	return p
}

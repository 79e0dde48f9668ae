package extensions

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/agentdef"
	"adze/internal/mcp"
	"adze/internal/platform/text/amount"
)

// act returns an action on a choice that calls run with its ID.
func act(key, name string, run func(ctx context.Context, id string) (commands.Answer, error)) commands.Action {
	return commands.Action{Key: key, Name: name, Run: func(ctx context.Context, c commands.Choice, _ string) (commands.Answer, error) { return run(ctx, c.ID) }}
}

// confirmed returns an action with a confirmation; question is formatted with the title of the
// choice.
func confirmed(a commands.Action, question string) commands.Action {
	a.Confirm = func(c commands.Choice) string { return fmt.Sprintf(question, c.Title) }
	return a
}

// withProblems returns views with another one for the problems, if there are any.
func withProblems(views []commands.View, lines []string) []commands.View {
	if len(lines) == 0 {
		return views
	}
	v := commands.View{Name: "problems"}
	for _, line := range lines {
		v.Choices = append(v.Choices, commands.Choice{ID: line, Title: line})
	}
	return append(views, v)
}

// shownAs returns a preview function that shows a choice's page, or its title if it has no
// page.
func shownAs(page func(ctx context.Context, id string) (commands.Page, error)) func(context.Context, commands.Choice) (commands.Page, error) {
	return func(ctx context.Context, c commands.Choice) (commands.Page, error) {
		if p, err := page(ctx, c.ID); err == nil {
			return p, nil
		}
		return commands.Say(strings.Join(append([]string{c.Title}, c.Cells...), " ")), nil
	}
}

// serversList lists the servers with their actions. Line-based front ends get the page.
func serversList(r *commands.Registry, all *mcp.Servers) commands.List {
	change := func(verb string) func(context.Context, string) (commands.Answer, error) {
		return func(ctx context.Context, name string) (commands.Answer, error) {
			s, err := findServer(all, name)
			if err != nil {
				return nil, err
			}
			if verb == "" {
				if verb = "disable"; s.State == mcp.Disabled {
					verb = "enable"
				}
			}
			return changeServer(ctx, r, all, verb, s)
		}
	}
	show := shownAs(func(ctx context.Context, name string) (commands.Page, error) {
		s, err := findServer(all, name)
		if err != nil {
			return commands.Page{}, err
		}
		return serverPage(ctx, r, all, s), nil
	})
	var problems []string
	if r.Extensions.Servers.Problems != nil {
		problems = r.Extensions.Servers.Problems()
	}
	return commands.List{
		Page: serversPage(r, all.List()), Title: "Servers", Verb: "shows", Preview: show, Usage: "/mcp NAME",
		Views:  withProblems([]commands.View{{Name: "all", Load: func(context.Context) ([]commands.Choice, error) { return serverChoices(all.List()), nil }}}, problems),
		Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) { return show(ctx, c) },
		Actions: []commands.Action{
			act("alt+r", "reconnects", change("reconnect")),
			act("alt+e", "enables or disables", change("")),
			act("alt+s", "signs in", change("auth")),
			confirmed(act("alt+a", "approves", change("approve")), "Start %s, now and in the future?"),
		},
	}
}

func serverChoices(list []mcp.Status) []commands.Choice {
	choices := []commands.Choice{}
	for i := range list {
		s := &list[i]
		choices = append(choices, commands.Choice{ID: s.Name, Title: s.Name, Cells: []string{serverState(s), string(s.Scope), s.Summary()}})
	}
	return choices
}

// agentsList lists the agents with their actions. Line-based front ends get the page.
func agentsList(a commands.Agents, page commands.Page) commands.List {
	change := func(verb string) func(context.Context, string) (commands.Answer, error) {
		return func(_ context.Context, name string) (commands.Answer, error) { return changeAgents(a, verb, name) }
	}
	show := shownAs(func(_ context.Context, name string) (commands.Page, error) {
		set := a.Set()
		for _, x := range set.Definitions {
			if x.Name == name {
				return AgentPage(x), nil
			}
		}
		return commands.Page{}, set.Unknown(name)
	})
	views := []commands.View{{Name: "all", Load: func(context.Context) ([]commands.Choice, error) { return agentChoices(a.Set()), nil }}}
	if a.Working != nil {
		views = append(views, commands.View{Name: "running", Load: atWork(a.Working), Empty: "No agent is running."})
	}
	remove := act("ctrl+x", "deletes", func(_ context.Context, name string) (commands.Answer, error) {
		path, err := a.Remove(name)
		if err != nil {
			return nil, err
		}
		return commands.Say("Deleted " + path + "."), nil
	})
	return commands.List{
		Page: page, Title: "Agents", Verb: "shows", Preview: show, Usage: "/agents NAME",
		Views:  withProblems(views, a.Set().Report()),
		Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) { return show(ctx, c) },
		Actions: []commands.Action{
			act("alt+e", "edits", change("edit")),
			confirmed(remove, "Delete the file of %s?"),
			{Key: "alt+a", Name: "creates", Ask: "Name and purpose:", Alone: true,
				Run: func(_ context.Context, _ commands.Choice, text string) (commands.Answer, error) {
					return changeAgents(a, "create", strings.TrimSpace(text))
				}},
		},
	}
}

// atWork returns a function that loads the running agents.
func atWork(working func() []commands.RunningAgent) func(context.Context) ([]commands.Choice, error) {
	return func(context.Context) ([]commands.Choice, error) {
		choices := []commands.Choice{}
		for _, x := range working() {
			choices = append(choices, commands.Choice{ID: x.ID, Title: x.Title, Cells: []string{x.Type, amount.Of(x.Calls, "call", "calls"), x.Last}})
		}
		return choices, nil
	}
}

func agentChoices(set *agentdef.Set) []commands.Choice {
	choices := []commands.Choice{}
	for _, x := range set.Definitions {
		choices = append(choices, commands.Choice{ID: x.Name, Title: x.Name, Cells: []string{cmp.Or(x.Model, "inherit"), x.Source.String(), x.Description}})
	}
	return choices
}

// pluginsList lists the plugins, the installable ones, and the marketplaces, with their
// actions. Line-based front ends get the page.
func pluginsList(r *commands.Registry, page commands.Page) commands.List {
	p := r.Extensions.Plugins
	offer := func(action string) func(context.Context, string) (commands.Answer, error) {
		return func(ctx context.Context, name string) (commands.Answer, error) {
			return offerPlugin(ctx, r, action, name)
		}
	}
	does := func(do func(context.Context, string) (string, error)) func(context.Context, string) (commands.Answer, error) {
		return func(ctx context.Context, name string) (commands.Answer, error) { return said(do(ctx, name)) }
	}
	installed := commands.View{Name: "installed", Load: pluginChoices(p.List), Empty: "No plugins are installed.", Actions: []commands.Action{
		act("enter", "shows", func(ctx context.Context, name string) (commands.Answer, error) { return describePlugin(ctx, r, name) }),
		act("alt+e", "enables", offer("enable")), act("alt+d", "disables", does(p.Disable)), act("alt+u", "updates", offer("update")),
		confirmed(act("ctrl+x", "uninstalls", does(p.Uninstall)), "Uninstall %s?"),
	}}
	offered := commands.View{Name: "available", Load: pluginChoices(p.Offered), Empty: "No marketplace is known that offers a plugin.",
		Actions: []commands.Action{act("enter", "installs", offer("install"))}}
	markets := commands.View{Name: "marketplaces", Load: marketChoices(p), Empty: "No marketplaces are known.", Actions: []commands.Action{
		{Key: "alt+a", Name: "adds", Ask: "Marketplace, as OWNER/REPOSITORY, an address or a folder:", Alone: true,
			Run: func(ctx context.Context, _ commands.Choice, text string) (commands.Answer, error) {
				return said(p.AddMarket(ctx, strings.TrimSpace(text)))
			}},
		act("alt+u", "updates", does(p.UpdateMarket)), confirmed(act("ctrl+x", "removes", does(p.RemoveMarket)), "Remove %s?"),
	}}
	return commands.List{
		Page: page, Title: "Plugins", Usage: "/plugin NAME", Views: withProblems([]commands.View{installed, offered, markets}, p.Problems()),
		Preview: shownAs(func(ctx context.Context, name string) (commands.Page, error) { return describePlugin(ctx, r, name) }),
	}
}

func pluginChoices(find func(context.Context) ([]commands.Plugin, error)) func(context.Context) ([]commands.Choice, error) {
	return func(ctx context.Context) ([]commands.Choice, error) {
		all, err := find(ctx)
		choices := []commands.Choice{}
		for _, x := range all {
			choices = append(choices, commands.Choice{ID: x.Name, Title: x.Name, Cells: []string{cmp.Or(x.State, "-"), cmp.Or(x.Version, "-"), x.Description}})
		}
		return choices, err
	}
}

func marketChoices(p commands.Plugins) func(context.Context) ([]commands.Choice, error) {
	return func(ctx context.Context) ([]commands.Choice, error) {
		all, err := p.Markets(ctx)
		choices := []commands.Choice{}
		for _, m := range all {
			choices = append(choices, commands.Choice{ID: m.Name, Title: m.Name, Cells: []string{m.Plugins, m.Source}})
		}
		return choices, err
	}
}

package extensions

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"adze/internal/agentdef"
	"adze/internal/desk"
	"adze/internal/mcp"
	"adze/internal/platform/amount"
)

// act returns an action on a choice that calls run with its ID.
func act(key, name string, run func(ctx context.Context, id string) (desk.Answer, error)) desk.Action {
	return desk.Action{Key: key, Name: name, Run: func(ctx context.Context, c desk.Choice, _ string) (desk.Answer, error) { return run(ctx, c.ID) }}
}

// confirmed returns an action with a confirmation; question is formatted with the title of the
// choice.
func confirmed(a desk.Action, question string) desk.Action {
	a.Confirm = func(c desk.Choice) string { return fmt.Sprintf(question, c.Title) }
	return a
}

// withProblems returns views with another one for the problems, if there are any.
func withProblems(views []desk.View, lines []string) []desk.View {
	if len(lines) == 0 {
		return views
	}
	v := desk.View{Name: "problems"}
	for _, line := range lines {
		v.Choices = append(v.Choices, desk.Choice{ID: line, Title: line})
	}
	return append(views, v)
}

// shownAs returns a preview function that shows a choice's page, or its title if it has no
// page.
func shownAs(page func(ctx context.Context, id string) (desk.Page, error)) func(context.Context, desk.Choice) (desk.Page, error) {
	return func(ctx context.Context, c desk.Choice) (desk.Page, error) {
		if p, err := page(ctx, c.ID); err == nil {
			return p, nil
		}
		return desk.Say(strings.Join(append([]string{c.Title}, c.Cells...), " ")), nil
	}
}

// serversList lists the servers with their actions. Line-based front ends get the page.
func serversList(d *desk.Desk, all *mcp.Servers) desk.List {
	change := func(verb string) func(context.Context, string) (desk.Answer, error) {
		return func(ctx context.Context, name string) (desk.Answer, error) {
			s, err := findServer(all, name)
			if err != nil {
				return nil, err
			}
			if verb == "" {
				if verb = "disable"; s.State == mcp.Disabled {
					verb = "enable"
				}
			}
			return changeServer(ctx, d, all, verb, s)
		}
	}
	show := shownAs(func(ctx context.Context, name string) (desk.Page, error) {
		s, err := findServer(all, name)
		if err != nil {
			return desk.Page{}, err
		}
		return serverPage(ctx, d, all, s), nil
	})
	var problems []string
	if d.Extensions.Servers.Problems != nil {
		problems = d.Extensions.Servers.Problems()
	}
	return desk.List{
		Page: serversPage(d, all.List()), Title: "Servers", Verb: "shows", Preview: show, Usage: "/mcp NAME",
		Views:  withProblems([]desk.View{{Name: "all", Load: func(context.Context) ([]desk.Choice, error) { return serverChoices(all.List()), nil }}}, problems),
		Choose: func(ctx context.Context, c desk.Choice) (desk.Answer, error) { return show(ctx, c) },
		Actions: []desk.Action{
			act("alt+r", "reconnects", change("reconnect")),
			act("alt+e", "enables or disables", change("")),
			act("alt+s", "signs in", change("auth")),
			confirmed(act("alt+a", "approves", change("approve")), "Start %s, now and in the future?"),
		},
	}
}

func serverChoices(list []mcp.Status) []desk.Choice {
	choices := []desk.Choice{}
	for i := range list {
		s := &list[i]
		choices = append(choices, desk.Choice{ID: s.Name, Title: s.Name, Cells: []string{serverState(s), string(s.Scope), s.Summary()}})
	}
	return choices
}

// agentsList lists the agents with their actions. Line-based front ends get the page.
func agentsList(a desk.Agents, page desk.Page) desk.List {
	change := func(verb string) func(context.Context, string) (desk.Answer, error) {
		return func(_ context.Context, name string) (desk.Answer, error) { return changeAgents(a, verb, name) }
	}
	show := shownAs(func(_ context.Context, name string) (desk.Page, error) {
		set := a.Set()
		for _, x := range set.Definitions {
			if x.Name == name {
				return AgentPage(x), nil
			}
		}
		return desk.Page{}, set.Unknown(name)
	})
	views := []desk.View{{Name: "all", Load: func(context.Context) ([]desk.Choice, error) { return agentChoices(a.Set()), nil }}}
	if a.Working != nil {
		views = append(views, desk.View{Name: "running", Load: atWork(a.Working), Empty: "No agent is running."})
	}
	remove := act("ctrl+x", "deletes", func(_ context.Context, name string) (desk.Answer, error) {
		path, err := a.Remove(name)
		if err != nil {
			return nil, err
		}
		return desk.Say("Deleted " + path + "."), nil
	})
	return desk.List{
		Page: page, Title: "Agents", Verb: "shows", Preview: show, Usage: "/agents NAME",
		Views:  withProblems(views, a.Set().Report()),
		Choose: func(ctx context.Context, c desk.Choice) (desk.Answer, error) { return show(ctx, c) },
		Actions: []desk.Action{
			act("alt+e", "edits", change("edit")),
			confirmed(remove, "Delete the file of %s?"),
			{Key: "alt+a", Name: "creates", Ask: "Name, and what it is for:", Alone: true,
				Run: func(_ context.Context, _ desk.Choice, text string) (desk.Answer, error) {
					return changeAgents(a, "create", strings.TrimSpace(text))
				}},
		},
	}
}

// atWork returns a function that loads the running agents.
func atWork(working func() []desk.AtWork) func(context.Context) ([]desk.Choice, error) {
	return func(context.Context) ([]desk.Choice, error) {
		choices := []desk.Choice{}
		for _, x := range working() {
			choices = append(choices, desk.Choice{ID: x.ID, Title: x.Title, Cells: []string{x.Type, amount.Of(x.Calls, "call", "calls"), x.Last}})
		}
		return choices, nil
	}
}

func agentChoices(set *agentdef.Set) []desk.Choice {
	choices := []desk.Choice{}
	for _, x := range set.Definitions {
		choices = append(choices, desk.Choice{ID: x.Name, Title: x.Name, Cells: []string{cmp.Or(x.Model, "inherit"), x.Source.String(), x.Description}})
	}
	return choices
}

// pluginsList lists the plugins, the installable ones, and the marketplaces, with their
// actions. Line-based front ends get the page.
func pluginsList(d *desk.Desk, page desk.Page) desk.List {
	p := d.Extensions.Plugins
	offer := func(action string) func(context.Context, string) (desk.Answer, error) {
		return func(ctx context.Context, name string) (desk.Answer, error) { return offerPlugin(ctx, d, action, name) }
	}
	does := func(do func(context.Context, string) (string, error)) func(context.Context, string) (desk.Answer, error) {
		return func(ctx context.Context, name string) (desk.Answer, error) { return said(do(ctx, name)) }
	}
	installed := desk.View{Name: "installed", Load: pluginChoices(p.List), Empty: "No plugins are installed.", Actions: []desk.Action{
		act("enter", "shows", func(ctx context.Context, name string) (desk.Answer, error) { return describePlugin(ctx, d, name) }),
		act("alt+e", "enables", offer("enable")), act("alt+d", "disables", does(p.Disable)), act("alt+u", "updates", offer("update")),
		confirmed(act("ctrl+x", "uninstalls", does(p.Uninstall)), "Uninstall %s?"),
	}}
	offered := desk.View{Name: "available", Load: pluginChoices(p.Offered), Empty: "No marketplace is known that offers a plugin.",
		Actions: []desk.Action{act("enter", "installs", offer("install"))}}
	markets := desk.View{Name: "marketplaces", Load: marketChoices(p), Empty: "No marketplaces are known.", Actions: []desk.Action{
		{Key: "alt+a", Name: "adds", Ask: "Marketplace, as OWNER/REPOSITORY, an address or a folder:", Alone: true,
			Run: func(ctx context.Context, _ desk.Choice, text string) (desk.Answer, error) {
				return said(p.AddMarket(ctx, strings.TrimSpace(text)))
			}},
		act("alt+u", "updates", does(p.UpdateMarket)), confirmed(act("ctrl+x", "removes", does(p.RemoveMarket)), "Remove %s?"),
	}}
	return desk.List{
		Page: page, Title: "Plugins", Usage: "/plugin NAME", Views: withProblems([]desk.View{installed, offered, markets}, p.Problems()),
		Preview: shownAs(func(ctx context.Context, name string) (desk.Page, error) { return describePlugin(ctx, d, name) }),
	}
}

func pluginChoices(find func(context.Context) ([]desk.Plugin, error)) func(context.Context) ([]desk.Choice, error) {
	return func(ctx context.Context) ([]desk.Choice, error) {
		all, err := find(ctx)
		choices := []desk.Choice{}
		for _, x := range all {
			choices = append(choices, desk.Choice{ID: x.Name, Title: x.Name, Cells: []string{cmp.Or(x.State, "-"), cmp.Or(x.Version, "-"), x.Description}})
		}
		return choices, err
	}
}

func marketChoices(p desk.Plugins) func(context.Context) ([]desk.Choice, error) {
	return func(ctx context.Context) ([]desk.Choice, error) {
		all, err := p.Markets(ctx)
		choices := []desk.Choice{}
		for _, m := range all {
			choices = append(choices, desk.Choice{ID: m.Name, Title: m.Name, Cells: []string{m.Plugins, m.Source}})
		}
		return choices, err
	}
}

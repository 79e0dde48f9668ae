package extensions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/text/amount"
)

func pluginCommand() commands.Command {
	return commands.Command{Name: "plugin", Aliases: []string{"plugins"}, Kind: commands.Change, Args: "[NAME|install|enable|disable|update|uninstall NAME|marketplace]",
		Doc: "show the plugins, or the contents of one; install, enable, disable, update or uninstall one; marketplaces",
		Run: runPlugins, Complete: completePlugins}
}

func reloadPluginsCommand() commands.Command {
	return commands.Command{Name: "reload-plugins", Kind: commands.Change, Doc: "reload the plugins",
		Run: func(ctx context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			if r.Extensions.Plugins == nil {
				return nil, errNoPlugins
			}
			text, err := r.Extensions.Plugins.Reload(ctx)
			if err != nil {
				return nil, err
			}
			p := commands.Say(text)
			addPluginProblems(ctx, r, &p)
			return p, nil
		}}
}

var (
	errNoPlugins = errors.New("no plugins in this session")
	errPlugin    = errors.New("usage: /plugin, /plugin NAME, /plugin install, enable, disable, update or uninstall NAME, or /plugin marketplace [add SOURCE|update NAME|remove NAME]")
)

// runPlugins shows or changes plugins.
func runPlugins(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	if r.Extensions.Plugins == nil {
		return nil, errNoPlugins
	}
	verb, rest, _ := strings.Cut(arg, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "", "list":
		return pluginsPage(ctx, r)
	case "marketplace", "marketplaces", "market":
		return runMarkets(ctx, r, rest)
	case "install", "enable", "update", "disable", "uninstall", "remove":
	default:
		if rest != "" {
			return nil, errPlugin
		}
		return describePlugin(ctx, r, verb)
	}
	switch {
	case !r.Terminal: // others may have written the prompt
		return nil, commands.ErrTerminal
	case rest == "" && verb == "install":
		return choosePlugin(ctx, r)
	case rest == "" || strings.ContainsAny(rest, " \t"):
		return nil, errPlugin
	case verb == "disable":
		return said(r.Extensions.Plugins.Disable(ctx, rest))
	case verb == "uninstall" || verb == "remove":
		return said(r.Extensions.Plugins.Uninstall(ctx, rest))
	}
	return offerPlugin(ctx, r, verb, rest)
}

// said returns a page with a message.
func said(text string, err error) (commands.Answer, error) {
	if err != nil {
		return nil, err
	}
	return commands.Say(text), nil
}

// offerPlugin shows the contents of a plugin, and asks for confirmation.
func offerPlugin(ctx context.Context, r *commands.Registry, action, name string) (commands.Answer, error) {
	offer, text, err := r.Extensions.Plugins.Offer(ctx, action, name)
	if err != nil {
		return nil, err
	}
	if offer == nil {
		return commands.Say(text), nil
	}
	page := commands.Say(offer.Title)
	page.Add(commands.Items(offer.Lines))
	return commands.List{
		Page: page, Usage: "adze plugin " + action + " " + name,
		Choices: []commands.Choice{{ID: "no", Title: "No"}, {ID: "yes", Title: "Yes, " + action + " it"}},
		Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) {
			if c.ID != "yes" {
				offer.Decline()
				return commands.Say("Nothing was changed."), nil
			}
			return said(offer.Accept(ctx))
		},
		Leave: offer.Decline,
	}, nil
}

// choosePlugin lists the plugins that can be installed.
func choosePlugin(ctx context.Context, r *commands.Registry) (commands.Answer, error) {
	all, err := r.Extensions.Plugins.Offered(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return commands.Say("No marketplace is known that offers a plugin. /plugin marketplace add SOURCE adds one."), nil
	}
	list := commands.List{Page: commands.Say("Plugins of the known marketplaces:"), Title: "Plugins", Usage: "/plugin install NAME",
		Choose: func(ctx context.Context, c commands.Choice) (commands.Answer, error) {
			return offerPlugin(ctx, r, "install", c.ID)
		}}
	for _, p := range all {
		list.Choices = append(list.Choices, commands.Choice{ID: p.Name, Title: p.Name, About: p.Description})
	}
	return list, nil
}

// runMarkets shows or changes marketplaces.
func runMarkets(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	words := strings.Fields(arg)
	if len(words) == 0 || words[0] == "list" {
		return marketsPage(ctx, r)
	}
	if len(words) != 2 {
		return nil, errPlugin
	}
	if !r.Terminal {
		return nil, commands.ErrTerminal
	}
	switch words[0] {
	case "add":
		return said(r.Extensions.Plugins.AddMarket(ctx, words[1]))
	case "update":
		return said(r.Extensions.Plugins.UpdateMarket(ctx, words[1]))
	case "remove":
		return said(r.Extensions.Plugins.RemoveMarket(ctx, words[1]))
	}
	return nil, errPlugin
}

func marketsPage(ctx context.Context, r *commands.Registry) (commands.Answer, error) {
	all, err := r.Extensions.Plugins.Markets(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return commands.Say("No marketplaces are known. /plugin marketplace add SOURCE adds one: OWNER/REPOSITORY, an address or a folder."), nil
	}
	table := commands.Table{Columns: []commands.Column{{Name: "Marketplace"}, {Name: "plugins", Right: true}, {Name: "source", Cut: true}}}
	for _, m := range all {
		table.Rows = append(table.Rows, []string{m.Name, m.Plugins, m.Source})
	}
	var p commands.Page
	p.Add(table)
	return p, nil
}

// pluginsPage lists the plugins, with advice for unused ones.
func pluginsPage(ctx context.Context, r *commands.Registry) (commands.Answer, error) {
	all, err := r.Extensions.Plugins.List(ctx)
	if err != nil {
		return nil, err
	}
	var p commands.Page
	if len(all) == 0 {
		p = commands.Say("No plugins are installed. /plugin marketplace add SOURCE adds a marketplace, and /plugin install NAME a plugin of it.")
	} else {
		table := commands.Table{Columns: []commands.Column{{Name: "Plugin"}, {Name: "version"}, {Name: "state"}, {Name: "from"}, {Name: "what", Cut: true}}}
		for _, x := range all {
			table.Rows = append(table.Rows, []string{x.Name, cmp.Or(x.Version, "-"), x.State, cmp.Or(x.From, "-"), x.Description})
		}
		p.Add(table)
	}
	addPluginProblems(ctx, r, &p)
	if len(all) > 0 {
		p.Add(commands.Text("/plugin NAME shows a plugin's contents."))
	}
	if r.Terminal {
		return pluginsList(r, p), nil
	}
	return p, nil
}

// addPluginProblems adds the problems of plugins, with advice.
func addPluginProblems(ctx context.Context, r *commands.Registry, p *commands.Page) {
	all, _ := r.Extensions.Plugins.List(ctx) // ok: the caller has reported it
	missing := 0
	for _, x := range all {
		switch {
		case x.Why == "":
		case x.State == "not installed" && missing >= shownMissing:
			missing++
		default:
			if x.State == "not installed" {
				missing++
			}
			p.Add(commands.Notice(x.Name + ": " + x.State + ": " + x.Why))
		}
	}
	if more := missing - shownMissing; more > 0 {
		p.Add(commands.Notice(amount.Of(more, "more plugin that settings name is not installed", "more plugins that settings name are not installed")))
	}
	for _, text := range r.Extensions.Plugins.Problems() {
		p.Add(commands.Notice(text))
	}
}

// shownMissing is the maximum number of missing plugins reported.
const shownMissing = 5

// describePlugin shows one plugin.
func describePlugin(ctx context.Context, r *commands.Registry, name string) (commands.Page, error) {
	fields, lines, err := r.Extensions.Plugins.Details(ctx, name)
	if err != nil {
		return commands.Page{}, err
	}
	var p commands.Page
	p.Add(fields)
	if len(lines) > 0 {
		p.Add(commands.Text("It brings:"), commands.Items(lines))
	}
	return p, nil
}

// completePlugins completes actions and the names of plugins.
func completePlugins(r *commands.Registry, arg string) (list []string) {
	verbs := []string{"install", "enable", "disable", "update", "uninstall", "marketplace"}
	verb, _, second := strings.Cut(arg, " ")
	if !second {
		for _, v := range verbs {
			list = append(list, v+" ")
		}
	}
	if r.Extensions.Plugins == nil {
		return list
	}
	find := r.Extensions.Plugins.List
	if second && verb == "install" {
		find = r.Extensions.Plugins.Offered
	}
	all, err := find(context.Background())
	if err != nil {
		return list
	}
	for _, p := range all {
		switch {
		case !second:
			list = append(list, p.Name)
		case slices.Contains(verbs, verb) && verb != "marketplace":
			list = append(list, fmt.Sprintf("%s %s", verb, p.Name))
		}
	}
	return list
}

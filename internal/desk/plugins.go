package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/amount"
)

// Plugins are the plugins of the workspace, and what the user can do with them. Names of plugins are NAME, where it is the
// only one of that name, or NAME@MARKETPLACE.
type Plugins interface {
	// List returns those that are installed or wanted, and Problems what is wrong beside them.
	List(context.Context) ([]Plugin, error)
	Problems() []string
	// Details returns what is known of one, and what it brings, in lines.
	Details(ctx context.Context, name string) (Fields, []string, error)
	// Offered returns the plugins of the known marketplaces.
	Offered(context.Context) ([]Plugin, error)
	// Offer returns what installing, enabling or updating a plugin would bring, by the name of the action. It is nil if there
	// is nothing to decide; then the text says why.
	Offer(ctx context.Context, action, name string) (*PluginOffer, string, error)
	// Disable and Uninstall return what was done.
	Disable(ctx context.Context, name string) (string, error)
	Uninstall(ctx context.Context, name string) (string, error)
	// Markets returns the marketplaces that are known; the others change them, and return what was done.
	Markets(context.Context) ([]Marketplace, error)
	AddMarket(ctx context.Context, source string) (string, error)
	UpdateMarket(ctx context.Context, name string) (string, error)
	RemoveMarket(ctx context.Context, name string) (string, error)
	// Reload looks at the plugins again, and returns what is in use now.
	Reload(context.Context) (string, error)
}

// A Plugin is a plugin as it is listed.
type Plugin struct {
	Name, Version, Description string
	// State says whether it is used, and Why why not, with what to do.
	State, Why string
	// From is what enabled it; it may be empty.
	From string
	// Used says that it is in use, and Path is then its folder.
	Used bool
	Path string
}

// A Marketplace is where plugins come from.
type Marketplace struct{ Name, Source, Description, Plugins string }

// A PluginOffer is what a plugin would bring. One of its functions is called, once.
type PluginOffer struct {
	Title string
	Lines []string
	// Accept does what was asked for, and returns what was done.
	Accept  func(context.Context) (string, error)
	Decline func()
}

func pluginCommand() Command {
	return Command{Name: "plugin", Aliases: []string{"plugins"}, Kind: Change, Args: "[NAME|install|enable|disable|update|uninstall NAME|marketplace]",
		Doc: "show the plugins, or one of them with what it brings; install, enable, disable, update or uninstall one; marketplaces",
		Run: runPlugins, Complete: completePlugins}
}

func reloadPluginsCommand() Command {
	return Command{Name: "reload-plugins", Kind: Change, Doc: "look at the plugins again, and use what changed",
		Run: func(ctx context.Context, d *Desk, _ string) (Answer, error) {
			if d.Surroundings.Plugins == nil {
				return nil, errNoPlugins
			}
			text, err := d.Surroundings.Plugins.Reload(ctx)
			if err != nil {
				return nil, err
			}
			p := Say(text)
			addPluginProblems(ctx, d, &p)
			return p, nil
		}}
}

var (
	errNoPlugins = errors.New("there are no plugins in this session")
	errPlugin    = errors.New("usage: /plugin, /plugin NAME, /plugin install, enable, disable, update or uninstall NAME, or /plugin marketplace [add SOURCE|update NAME|remove NAME]")
)

// runPlugins shows or changes plugins.
func runPlugins(ctx context.Context, d *Desk, arg string) (Answer, error) {
	if d.Surroundings.Plugins == nil {
		return nil, errNoPlugins
	}
	verb, rest, _ := strings.Cut(arg, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "", "list":
		return pluginsPage(ctx, d)
	case "marketplace", "marketplaces", "market":
		return runMarkets(ctx, d, rest)
	case "install", "enable", "update", "disable", "uninstall", "remove":
	default:
		if rest != "" {
			return nil, errPlugin
		}
		return pluginPage(ctx, d, verb)
	}
	switch {
	case !d.Terminal: // others may have written the prompt
		return nil, errTerminal
	case rest == "" && verb == "install":
		return choosePlugin(ctx, d)
	case rest == "" || strings.ContainsAny(rest, " \t"):
		return nil, errPlugin
	case verb == "disable":
		return said(d.Surroundings.Plugins.Disable(ctx, rest))
	case verb == "uninstall" || verb == "remove":
		return said(d.Surroundings.Plugins.Uninstall(ctx, rest))
	}
	return offerPlugin(ctx, d, verb, rest)
}

// said returns a page that says what was done.
func said(text string, err error) (Answer, error) {
	if err != nil {
		return nil, err
	}
	return Say(text), nil
}

// offerPlugin shows what a plugin would bring, and asks.
func offerPlugin(ctx context.Context, d *Desk, action, name string) (Answer, error) {
	offer, text, err := d.Surroundings.Plugins.Offer(ctx, action, name)
	if err != nil {
		return nil, err
	}
	if offer == nil {
		return Say(text), nil
	}
	page := Say(offer.Title)
	page.Add(Items(offer.Lines))
	return List{
		Page: page, Usage: "adze plugin " + action + " " + name,
		Choices: []Choice{{ID: "no", Title: "No"}, {ID: "yes", Title: "Yes, " + action + " it"}},
		Choose: func(ctx context.Context, c Choice) (Answer, error) {
			if c.ID != "yes" {
				offer.Decline()
				return Say("Nothing was changed."), nil
			}
			return said(offer.Accept(ctx))
		},
	}, nil
}

// choosePlugin lists the plugins that can be installed.
func choosePlugin(ctx context.Context, d *Desk) (Answer, error) {
	all, err := d.Surroundings.Plugins.Offered(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return Say("No marketplace is known that offers a plugin. /plugin marketplace add SOURCE adds one."), nil
	}
	list := List{Page: Say("Plugins of the known marketplaces:"), Usage: "/plugin install NAME",
		Choose: func(ctx context.Context, c Choice) (Answer, error) { return offerPlugin(ctx, d, "install", c.ID) }}
	for _, p := range all {
		list.Choices = append(list.Choices, Choice{ID: p.Name, Title: p.Name, About: p.Description})
	}
	return list, nil
}

// runMarkets shows or changes marketplaces.
func runMarkets(ctx context.Context, d *Desk, arg string) (Answer, error) {
	words := strings.Fields(arg)
	if len(words) == 0 || words[0] == "list" {
		return marketsPage(ctx, d)
	}
	if len(words) != 2 {
		return nil, errPlugin
	}
	if !d.Terminal {
		return nil, errTerminal
	}
	switch words[0] {
	case "add":
		return said(d.Surroundings.Plugins.AddMarket(ctx, words[1]))
	case "update":
		return said(d.Surroundings.Plugins.UpdateMarket(ctx, words[1]))
	case "remove":
		return said(d.Surroundings.Plugins.RemoveMarket(ctx, words[1]))
	}
	return nil, errPlugin
}

func marketsPage(ctx context.Context, d *Desk) (Answer, error) {
	all, err := d.Surroundings.Plugins.Markets(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return Say("No marketplaces are known. /plugin marketplace add SOURCE adds one: OWNER/REPOSITORY, an address or a folder."), nil
	}
	table := Table{Columns: []Column{{Name: "Marketplace"}, {Name: "plugins", Right: true}, {Name: "source", Cut: true}}}
	for _, m := range all {
		table.Rows = append(table.Rows, []string{m.Name, m.Plugins, m.Source})
	}
	var p Page
	p.Add(table)
	return p, nil
}

// pluginsPage lists the plugins, and what to do about those that are not used.
func pluginsPage(ctx context.Context, d *Desk) (Answer, error) {
	all, err := d.Surroundings.Plugins.List(ctx)
	if err != nil {
		return nil, err
	}
	var p Page
	if len(all) == 0 {
		p = Say("No plugins are installed. /plugin marketplace add SOURCE adds a marketplace, and /plugin install NAME a plugin of it.")
	} else {
		table := Table{Columns: []Column{{Name: "Plugin"}, {Name: "version"}, {Name: "state"}, {Name: "from"}, {Name: "what", Cut: true}}}
		for _, x := range all {
			table.Rows = append(table.Rows, []string{x.Name, cmp.Or(x.Version, "-"), x.State, cmp.Or(x.From, "-"), x.Description})
		}
		p.Add(table)
	}
	addPluginProblems(ctx, d, &p)
	if len(all) > 0 {
		p.Add(Text("/plugin NAME shows what a plugin brings."))
	}
	return p, nil
}

// addPluginProblems adds what is wrong with plugins, and what the user can do about it.
func addPluginProblems(ctx context.Context, d *Desk, p *Page) {
	all, _ := d.Surroundings.Plugins.List(ctx) // ok: the caller has told of it
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
			p.Add(Notice(x.Name + ": " + x.State + ": " + x.Why))
		}
	}
	if more := missing - shownMissing; more > 0 {
		p.Add(Notice(amount.Of(more, "more plugin that settings name is not installed", "more plugins that settings name are not installed")))
	}
	for _, text := range d.Surroundings.Plugins.Problems() {
		p.Add(Notice(text))
	}
}

// shownMissing is how many plugins that are not installed are told of.
const shownMissing = 5

// pluginPage shows one plugin.
func pluginPage(ctx context.Context, d *Desk, name string) (Answer, error) {
	fields, lines, err := d.Surroundings.Plugins.Details(ctx, name)
	if err != nil {
		return nil, err
	}
	var p Page
	p.Add(fields)
	if len(lines) > 0 {
		p.Add(Text("It brings:"), Items(lines))
	}
	return p, nil
}

// completePlugins completes actions and the names of plugins.
func completePlugins(d *Desk, arg string) (list []string) {
	verbs := []string{"install", "enable", "disable", "update", "uninstall", "marketplace"}
	verb, _, second := strings.Cut(arg, " ")
	if !second {
		for _, v := range verbs {
			list = append(list, v+" ")
		}
	}
	if d.Surroundings.Plugins == nil {
		return list
	}
	find := d.Surroundings.Plugins.List
	if second && verb == "install" {
		find = d.Surroundings.Plugins.Offered
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

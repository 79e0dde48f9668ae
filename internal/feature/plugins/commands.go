package plugins

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
	"adze/internal/ui/streamjson"
)

// Commands returns the services that the plugin commands of a conversation use. dir is its
// working directory, and reload applies the current plugins.
func (m *Manager) Commands(dir string, reload func()) commands.Plugins {
	return &pluginCommands{m, dir, reload}
}

type pluginCommands struct {
	*Manager
	dir    string
	reload func()
}

// changed reloads the plugins and returns text as a sentence.
func (d *pluginCommands) changed(text string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	d.reload()
	return strings.ToUpper(text[:1]) + text[1:] + ".", nil
}

// List implements [commands.Plugins].
func (d *pluginCommands) List(context.Context) ([]commands.Plugin, error) {
	all, err := d.All()
	if err != nil {
		return nil, err
	}
	list := make([]commands.Plugin, len(all))
	for i, x := range all {
		list[i] = commands.Plugin{Name: x.ID.String(), State: string(x.State), Why: x.Why, Used: x.State == Used}
		if x.Scope != "" {
			list[i].From = x.Scope.Short()
		}
		if x.Read != nil {
			list[i].Version, list[i].Description, list[i].Path = x.Read.Version, x.Read.Description, x.Read.Dir
		}
	}
	return list, nil
}

// Problems implements [commands.Plugins].
func (d *pluginCommands) Problems() []string { return d.Set().Problems }

// Details implements [commands.Plugins].
func (d *pluginCommands) Details(ctx context.Context, name string) (commands.Fields, []string, error) {
	return d.Describe(ctx, name)
}

// Describe returns a plugin's details and a listing of its contents.
func (p *Plugins) Describe(ctx context.Context, name string) (commands.Fields, []string, error) {
	x, err := p.Find(name)
	if err != nil {
		return nil, nil, err
	}
	f := commands.Fields{{Name: "Plugin", Value: x.ID.String()}, {Name: "State", Value: string(x.State)}}
	add := func(name, value string) {
		if value != "" {
			f = append(f, commands.Field{Name: name, Value: plainLine(value)})
		}
	}
	add("Why", x.Why)
	if x.Scope != "" {
		add("Said by", x.Scope.Text())
	}
	if x.Read == nil {
		return f, nil, nil
	}
	r := x.Read
	add("Version", r.Version)
	add("About", r.Description)
	add("Author", r.Author)
	add("Homepage", cmp.Or(r.Homepage, r.Repository))
	add("License", r.License)
	add("Folder", r.Dir)
	add("Keeps", r.Data)
	add("Commit", r.Commit)
	add("Hash", r.Hash)
	set := p.options.configured()[x.ID.String()].Options
	for _, o := range r.Options {
		value := "default " + string(o.Default)
		switch given, ok := set[o.Name]; {
		case o.Secret:
			value = "a secret"
		case ok:
			value = optionText(given)
		case len(o.Default) == 0:
			value = "not set"
		}
		add("Option", o.Name+": "+value)
	}
	c := examine(ctx, r, x.Problems)
	lines := c.Lines()
	for _, text := range c.Problems {
		lines = append(lines, plainLine("problem: "+text))
	}
	return f, lines, nil
}

// Offered implements [commands.Plugins].
func (d *pluginCommands) Offered(context.Context) (list []commands.Plugin, err error) {
	all, err := d.Manager.Markets()
	for _, m := range all {
		for _, e := range m.Plugins {
			if e.Refused == "" {
				list = append(list, commands.Plugin{Name: e.Name + "@" + m.Name, Version: e.Version, Description: e.Description})
			}
		}
	}
	return list, err
}

// Offer implements [commands.Plugins].
func (d *pluginCommands) Offer(ctx context.Context, action, name string) (*commands.PluginOffer, string, error) {
	to := scope.User
	get := d.Fetch
	switch action {
	case "enable":
		get = d.Consider
	case "update":
		get, to = d.Manager.Update, ""
	}
	offer, err := get(ctx, name)
	if err != nil {
		return nil, "", err
	}
	accept := func(ctx context.Context) (string, error) {
		text, err := d.changed(d.Accept(ctx, offer, to))
		if missing := d.Lacks(offer.Plugin); err == nil && len(missing) > 0 {
			text += fmt.Sprintf(" It is not used before it has a value for %s: adze plugin configure %s asks for it.", strings.Join(missing, ", "), offer.ID)
		}
		return text, err
	}
	switch {
	case action == "update" && offer.Current():
		offer.Discard()
		return nil, offer.ID.String() + " is up to date.", nil
	case offer.Settled():
		text, err := accept(ctx)
		return nil, text, err
	}
	return &commands.PluginOffer{Title: offer.Title(), Lines: offer.Lines(), Accept: accept, Decline: offer.Discard}, "", nil
}

// Disable implements [commands.Plugins].
func (d *pluginCommands) Disable(ctx context.Context, name string) (string, error) {
	return d.changed(d.Manager.Disable(ctx, name, scope.User))
}

// Uninstall implements [commands.Plugins].
func (d *pluginCommands) Uninstall(ctx context.Context, name string) (string, error) {
	return d.changed(d.Manager.Uninstall(ctx, name, false))
}

// Markets implements [commands.Plugins].
func (d *pluginCommands) Markets(context.Context) (list []commands.Marketplace, err error) {
	all, err := d.Manager.Markets()
	for _, m := range all {
		list = append(list, commands.Marketplace{Name: m.Name, Source: m.Source, Description: m.Description, Plugins: fmt.Sprint(len(m.Plugins))})
	}
	return list, err
}

// AddMarket implements [commands.Plugins].
func (d *pluginCommands) AddMarket(ctx context.Context, source string) (string, error) {
	return d.changed(d.Manager.AddMarket(ctx, source, d.dir))
}

// UpdateMarket implements [commands.Plugins].
func (d *pluginCommands) UpdateMarket(ctx context.Context, name string) (string, error) {
	return d.changed(d.Manager.UpdateMarket(ctx, name))
}

// RemoveMarket implements [commands.Plugins].
func (d *pluginCommands) RemoveMarket(ctx context.Context, name string) (string, error) {
	return d.changed(d.Manager.RemoveMarket(ctx, name))
}

// Reload implements [commands.Plugins].
func (d *pluginCommands) Reload(context.Context) (string, error) {
	set := d.Manager.Reload()
	d.reload()
	n := len(set.used())
	if n == 0 {
		return "No plugins are in use.", nil
	}
	return amount.Of(n, "plugin is", "plugins are") + " in use.", nil
}

// Check looks for problems with the enabled plugins and their contents.
func (p *Plugins) Check(context.Context) commands.Check {
	set := p.Reload()
	check := commands.Check{Name: "plugins", Fine: amount.Of(len(set.used()), "plugin", "plugins") + " in use", Problems: set.Errors()}
	for _, x := range set.Plugins {
		for _, problem := range x.Problems {
			check.Problems = append(check.Problems, plainLine(problem.Error()))
		}
		if x.State == Used && x.ID.Market != "" {
			if err := p.store.Verify(x.ID); err != nil { // startup checks only the files that define effects
				check.Problems = append(check.Problems, plainLine(err.Error()))
			}
		}
	}
	return check
}

// InUse returns the active plugins in the form sent to hosts.
func (s *Set) InUse() (list []streamjson.Plugin) {
	for _, p := range s.used() {
		list = append(list, streamjson.Plugin{Name: p.Name, Path: p.Dir, Source: p.ID.String()})
	}
	return list
}

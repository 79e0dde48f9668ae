package plugins

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/domain/plugin"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
)

// Installed returns the installed plugins.
func (p *Plugins) Installed() ([]plugin.Installed, error) {
	if p.cfg.Project.Home == "" {
		return nil, nil
	}
	return p.store.Installed()
}

// All returns the plugins named in settings, loaded for this run, or installed, sorted by ID.
func (p *Plugins) All() ([]*Plugin, error) {
	set := p.Set()
	all := make([]*Plugin, 0, len(set.Plugins))
	known := map[plugin.ID]bool{}
	for _, x := range set.Plugins {
		again := *x
		all, known[x.ID] = append(all, &again), true
	}
	installed, err := p.Installed()
	if err != nil {
		return nil, err
	}
	var ids []plugin.ID
	for _, in := range installed {
		ids = append(ids, in.ID)
		if !known[in.ID] {
			all = append(all, &Plugin{ID: in.ID, State: Disabled})
		}
	}
	for _, l := range p.store.Load(ids...) {
		for _, x := range all {
			if x.ID == l.ID && x.Read == nil {
				x.Read = l.Plugin
			}
			if x.ID == l.ID && x.State == Disabled && l.Err != nil {
				x.State, x.Why = Broken, strings.TrimPrefix(l.Err.Error(), l.ID.String()+": ")
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Plugin) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return all, nil
}

// Find returns the plugin named NAME or NAME@MARKETPLACE.
func (p *Plugins) Find(name string) (*Plugin, error) {
	all, err := p.All()
	if err != nil {
		return nil, err
	}
	var found []*Plugin
	var ids []string
	for _, x := range all {
		if x.ID.String() == name {
			return x, nil
		}
		if x.ID.Name == name {
			found = append(found, x)
		}
		ids = append(ids, x.ID.String())
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("there are several plugins %s: name %s", name, idsOf(found))
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("unknown plugin %q: none is installed; adze plugin install NAME installs one", name)
	}
	if near := rank.Closest(name, ids, 1); len(near) > 0 {
		return nil, fmt.Errorf("unknown plugin %q; did you mean %s?", name, near[0])
	}
	return nil, fmt.Errorf("unknown plugin %q; %s", name, amount.There(ids))
}

func idsOf(list []*Plugin) string {
	var ids []string
	for _, x := range list {
		ids = append(ids, x.ID.String())
	}
	return strings.Join(ids, " or ")
}

// Look returns a plugin that is installed or loaded for this run, by name.
func (p *Plugins) Look(name string) (*Plugin, *plugin.Plugin, error) {
	x, err := p.Find(name)
	switch {
	case err != nil:
		return nil, nil, err
	case x.Read != nil:
		return x, x.Read, nil
	case x.State == Missing:
		return x, nil, fmt.Errorf("%s is not installed; %s", x.ID, x.Why)
	}
	return x, nil, fmt.Errorf("%s: %s", x.ID, x.Why)
}

// Lacks returns a plugin's required options without a value.
func (p *Plugins) Lacks(x *plugin.Plugin) []string {
	return p.options.missing(x, p.options.configured())
}

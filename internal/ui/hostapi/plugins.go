package hostapi

import (
	"context"
	"strings"
)

// A pluginInfo is an enabled plugin.
type pluginInfo struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Source string `json:"source"`
}

// reloadPlugins reloads the plugins and returns the resulting plugins, commands,
// agents and servers.
func (a api) reloadPlugins(ctx context.Context, _ none) (any, error) {
	all := a.Extensions.Plugins
	if all == nil {
		return nil, &Refusal{Unsupported, "no plugins in this session"}
	}
	if _, err := all.Reload(ctx); err != nil {
		return nil, err
	}
	list, err := all.List(ctx)
	if err != nil {
		return nil, err
	}
	used, failed := []pluginInfo{}, len(all.Problems())
	for _, p := range list {
		switch {
		case p.Used:
			used = append(used, pluginInfo{shortName(p.Name), p.Path, p.Name})
		case p.Why != "" && p.State != "not installed":
			failed++
		}
	}
	commands := []object{}
	for _, c := range a.Commands() {
		commands = append(commands, object{"name": c.Name, "description": c.Doc, "argumentHint": c.Args})
	}
	servers := []object{}
	if known, err := serverAPI(a).connected(); err == nil {
		for _, st := range known.List() {
			servers = append(servers, status(&st))
		}
	}
	agents := []object{}
	if set := a.Extensions.Agents.Set; set != nil {
		for _, d := range set().Definitions {
			info := object{"name": d.Name, "description": d.Description}
			if d.Model != "" {
				info["model"] = d.Model
			}
			agents = append(agents, info)
		}
	}
	return object{"commands": commands, "agents": agents, "plugins": used, "mcpServers": servers, "error_count": failed}, nil
}

// shortName returns the name of a plugin without its marketplace.
func shortName(id string) string {
	name, _, _ := strings.Cut(id, "@")
	return name
}

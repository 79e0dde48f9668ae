package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/app/cli/actions"
	"adze/internal/app/cli/flags"
	mcpcli "adze/internal/app/cli/mcp"
	"adze/internal/app/wire"
	"adze/internal/feature/mcp"
	"adze/internal/feature/plugins"
	"adze/internal/mcp/roster"
	"adze/internal/settings"
	"adze/internal/setup"
)

// mcpOptions holds the options of adze mcp.
type mcpOptions struct {
	mcpcli.Options
	project settings.Source
	served  mcpcli.ServeOptions
}

func (o *mcpOptions) flags() []flag {
	table := append(o.Options.Table(), serverFlags(&o.Flags)...)
	table = append(table, serveFlags(&o.served)...)
	return append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

func (*mcpOptions) explain() string { return mcpcli.Explanation }

func (*mcpOptions) actions() []action { return mcpActions().Help() }

// mcpActions returns the actions on servers, and serve, which has its own run method.
func mcpActions() actions.Table[*mcpcli.Task] {
	return append(mcpcli.Actions(), actions.Action[*mcpcli.Task]{
		Name: "serve", Args: "[--http HOST:PORT]", Doc: "offer adze's tools to another program, under your permission rules",
	})
}

// advice covers flags meant for a server's own program.
func (*mcpOptions) advice(args []string) string {
	if slices.Contains([]string{"add", "tools", "call"}, args[0]) && !slices.Contains(args, "--") {
		return "; write -- before the command of a server"
	}
	return ""
}

func (o *mcpOptions) offers(env *Env, args []string) (list []offer) {
	if len(args) != 1 || !slices.Contains([]string{"get", "remove", "tools", "call", "login", "logout"}, args[0]) {
		return nil
	}
	p, _ := settings.Open(env.source(o.project)) // ok: then nothing is completed
	o.Flags.Plugins = plugins.Open(plugins.Config{Project: p, Say: env.Say}).Servers
	r, err := mcp.Load(p, o.Flags)
	if err != nil {
		return nil
	}
	for _, e := range r.Entries {
		list = append(list, offer{Word: e.Name, Doc: fmt.Sprintf("%s, %s", e.Scope, e.Type)})
	}
	return list
}

// run runs an action on the servers; the default is list.
func (o *mcpOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	if name == "serve" {
		return o.serve(ctx, env, in)
	}
	a, err := mcpActions().Find("mcp", name)
	if err != nil {
		return err
	}
	p := openLeniently(env, o.project)
	if p.HomeErr != nil {
		return setup.Errorf("%v", p.HomeErr)
	}
	o.Flags.Plugins = plugins.Open(plugins.Config{Project: p, Say: env.Say}).Servers
	t := &mcpcli.Task{
		Console: env.streams(), Options: &o.Options, Project: p, Args: args[:len(args)-min(len(in.Rest), len(args))], Command: in.Rest,
	}
	t.Open = func(entries []*roster.Entry, connect bool) (*mcp.Manager, func(), error) {
		place := env.wire()
		if connect {
			place.Say = func(string) {} // the action reports server states
		}
		place.Servers.Loaded = &roster.Roster{Entries: entries}
		w := wire.Open(place, p)
		f, err := w.MCP()
		if err != nil {
			w.Close()
			return nil, nil, err
		}
		if connect {
			f.Start()
		}
		return f, w.Close, nil
	}
	err = t.Run(ctx, a)
	if errors.Is(err, mcpcli.ErrFailed) {
		return &Ended{}
	}
	return err
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/settings"
	"adze/internal/tool"
)

// toolsOptions holds the options of adze tools.
type toolsOptions struct {
	project settings.Source
	access  wire.AccessSpec
	json    bool
	mcp     bool // include server tools
}

func (o *toolsOptions) flags() []flag {
	table := append([]flag{jsonFlag(&o.json), {Name: "mcp", Doc: "connect to the MCP servers, and list their tools, too", Set: flags.SetBool(&o.mcp)}}, flags.Only(accessFlags(&o.access), "allowed-tools", "disallowed-tools", "tools")...)
	return append(table, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

func toolOffers(env *Env) (list []offer) {
	p, _ := settings.Open(env.source(settings.Source{})) // ok: problems don't matter here
	w := wire.Open(env.wire(), p)
	defer w.Close()
	bench, err := w.Bench(wire.AccessSpec{})
	if err != nil {
		return nil
	}
	for _, t := range bench.Tools {
		list = append(list, offer{Word: t.Spec().Name, Doc: t.Traits().Hint})
	}
	slices.SortFunc(list, func(a, b offer) int { return strings.Compare(a.Word, b.Word) })
	return list
}

// run prints the tools with their states.
func (o *toolsOptions) run(ctx context.Context, env *Env, in invocation) error {
	w, err := openWorkspace(env, o.project, in)
	if err != nil {
		return err
	}
	defer w.Close()
	var served []tool.Tool
	if o.mcp {
		fleet, err := w.MCP()
		if err != nil {
			return err
		}
		served = fleet.Listed(ctx)
	}
	list, err := w.Tools(ctx, o.access, served)
	if err != nil {
		return err
	}
	if o.json {
		return env.printJSON(list)
	}
	var out strings.Builder
	for _, l := range list {
		about := l.Doc
		if l.Reason != "" {
			about += " (" + l.Reason + ")"
		}
		fmt.Fprintf(&out, "%-20s %-9s %-9s %s\n", l.Name, l.Origin, l.State, about)
	}
	return env.page(out.String())
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/app/wire"
)

// toolsOptions belong to adze tools.
type toolsOptions struct {
	project settings.Source
	access  wire.AccessSpec
	json    bool
}

func (o *toolsOptions) flags() []flag {
	table := append([]flag{jsonFlag(&o.json)}, only(accessFlags(&o.access), "allowed-tools", "disallowed-tools", "tools")...)
	return append(table, only(projectFlags(&o.project), "settings", "setting-sources", "trust")...)
}

// A listedTool is one line of the list.
type listedTool struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Doc    string `json:"description"`
}

// run prints the tools and the state of each.
func (o *toolsOptions) run(_ context.Context, env *Env, in invocation) error {
	w, err := openWorkspace(env, o.project, in)
	if err != nil {
		return err
	}
	defer w.Close()
	bench, err := w.Bench(o.access)
	if err != nil {
		return err
	}
	list := make([]listedTool, 0, len(bench.Tools))
	for _, t := range bench.Tools {
		l := listedTool{Name: t.Spec().Name, Origin: "built-in", State: "core", Doc: t.Traits().Hint}
		if origin := t.Traits().Origin; origin != "" {
			l.Origin = origin
		}
		if reason, denied := bench.Unavailable(l.Name); reason != "" {
			l.State, l.Reason = "disabled", reason
			if denied {
				l.State = "denied"
			}
		}
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b listedTool) int { return strings.Compare(a.Name, b.Name) })
	if o.json {
		return env.print(marshal(list))
	}
	var out strings.Builder
	for _, l := range list {
		about := l.Doc
		if l.Reason != "" {
			about += " (" + l.Reason + ")"
		}
		fmt.Fprintf(&out, "%-20s %-9s %-9s %s\n", l.Name, l.Origin, l.State, about)
	}
	return env.print(out.String())
}

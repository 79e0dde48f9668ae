package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/tool"
)

func toolsFlags() []flag {
	flags := []flag{{name: "json", doc: "print JSON", set: setBool(func(o *options) *bool { return &o.json })}}
	for _, f := range supportedFlags() {
		if slices.Contains([]string{"allowed-tools", "disallowed-tools", "tools", "settings", "setting-sources", "trust", "help"}, f.name) {
			flags = append(flags, f)
		}
	}
	return flags
}

// A listed tool is one line of the list.
type listed struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Doc    string `json:"description"`
}

// listTools prints the tools and the state of each.
func listTools(_ context.Context, env *Env, o *options) error {
	b, err := newBuilder(env, o)
	if err != nil {
		return err
	}
	defer b.close()
	tools := b.tools()
	pool, _ := tool.Assemble(tools, nil, b.denied(tools))
	list := make([]listed, 0, len(tools))
	for _, t := range tools {
		list = append(list, b.describe(t, pool))
	}
	slices.SortFunc(list, func(a, b listed) int { return strings.Compare(a.Name, b.Name) })
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

// describe says of t where it comes from and whether it is offered.
func (b *builder) describe(t tool.Tool, pool *tool.Pool) listed {
	name := t.Spec().Name
	l := listed{Name: name, Origin: "built-in", State: "core", Doc: t.Traits().Hint}
	if o := t.Traits().Origin; o != "" {
		l.Origin = o
	}
	if err := pool.Disabled(name); err != nil {
		l.State, l.Reason = "disabled", err.Error()
	}
	if rule := b.gate.denyRule(name); rule != "" {
		l.State, l.Reason = "denied", rule
	}
	return l
}

package plugin

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"adze/internal/feature/plugins"
	"adze/internal/platform/text/amount"
	"adze/internal/setup"
	"adze/internal/tool"
)

// A pluginOutput is a plugin in JSON output.
type pluginOutput struct {
	ID      string        `json:"id"`
	Version string        `json:"version,omitempty"`
	State   plugins.State `json:"state"`
	Why     string        `json:"why,omitempty"`
	Scope   string        `json:"scope,omitempty"`
	Commit  string        `json:"commit,omitempty"`
	Hash    string        `json:"hash,omitempty"`
	Path    string        `json:"path,omitempty"`
}

// Maximum lengths of text from plugins, in characters.
const (
	maxVersion = 40
	maxWhy     = 500
)

func list(_ context.Context, t *Task) error {
	all, err := t.Plugins.All()
	if err != nil {
		return err
	}
	for _, text := range t.Plugins.Set().Problems {
		t.Say(text)
	}
	rows := make([]pluginOutput, len(all))
	for i, x := range all {
		rows[i] = pluginOutput{ID: x.ID.String(), State: x.State, Why: tool.OneLine(x.Why, maxWhy), Scope: x.Scope.Short()}
		if p := x.Read; p != nil {
			rows[i].Version, rows[i].Commit, rows[i].Hash, rows[i].Path = tool.OneLine(p.Version, maxVersion), p.Commit, p.Hash, p.Dir
		}
	}
	if t.JSON {
		return t.PrintJSON(rows)
	}
	if len(rows) == 0 {
		t.Say("no plugins are installed; adze plugin marketplace add SOURCE adds a marketplace, and adze plugin install NAME a plugin of it")
		return nil
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, cmp.Or(r.Version, "-"), r.State, cmp.Or(r.Scope, "-"))
	}
	w.Flush() // ok: to memory
	for _, r := range rows {
		if r.Why != "" {
			fmt.Fprintf(&b, "%s: %s\n", r.ID, r.Why)
		}
	}
	return t.Page(b.String())
}

func details(ctx context.Context, t *Task) error {
	fields, lines, err := t.Plugins.Describe(ctx, t.Args[0])
	if err != nil {
		return err
	}
	if t.JSON {
		object := map[string]any{"brings": lines}
		for _, f := range fields {
			object[strings.ToLower(f.Name)] = f.Value
		}
		return t.PrintJSON(object)
	}
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%-12s %s\n", f.Name, f.Value)
	}
	if len(lines) > 0 {
		fmt.Fprintf(&b, "It brings:\n  %s\n", strings.Join(lines, "\n  "))
	}
	return t.Page(b.String())
}

// validate prints the problems of a plugin or marketplace.
func validate(ctx context.Context, t *Task) error {
	dir := t.Dir
	if len(t.Args) > 0 {
		dir = t.Args[0]
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(t.Dir, dir)
		}
	}
	what, problems, err := plugins.Validate(ctx, dir)
	for _, p := range problems {
		t.Say(p)
	}
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		if err := t.Show(fmt.Sprintf("%s: %s\n", what, amount.Of(len(problems), "problem", "problems"))); err != nil {
			return err
		}
		return ErrFailed
	}
	return t.Show(what + ": nothing is wrong\n")
}

// marketplace shows or changes marketplaces.
func marketplace(ctx context.Context, t *Task) error {
	verb := "list"
	if len(t.Args) > 0 {
		verb = t.Args[0]
	}
	name := ""
	if len(t.Args) > 1 {
		name = t.Args[1]
	}
	switch {
	case verb == "list" && name == "":
		return markets(t)
	case verb == "update":
		return t.told(t.Plugins.UpdateMarket(ctx, name))
	case name == "":
	case verb == "add":
		return t.told(t.Plugins.AddMarket(ctx, name, t.Dir))
	case verb == "remove" || verb == "rm":
		return t.told(t.Plugins.RemoveMarket(ctx, name))
	}
	return setup.Errorf("usage: adze plugin marketplace add SOURCE, list, update [NAME] or remove NAME")
}

func (t *Task) told(text string, err error) error {
	if text != "" {
		if err := t.Show(text + "\n"); err != nil {
			return err
		}
	}
	return err
}

func markets(t *Task) error {
	all, err := t.Plugins.Markets()
	if err != nil {
		return err
	}
	if t.JSON {
		return t.PrintJSON(all)
	}
	if len(all) == 0 {
		t.Say("no marketplaces are known; adze plugin marketplace add SOURCE adds one: OWNER/REPOSITORY, an address or a folder")
		return nil
	}
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%s  %s\n", m.Name, m.Source)
		for _, p := range m.Plugins {
			line := "  " + p.Name
			if p.Description != "" {
				line += ": " + p.Description
			}
			fmt.Fprintln(&b, line)
		}
		if m.Problem != "" {
			fmt.Fprintf(&b, "  %s\n", m.Problem)
		}
	}
	return t.Page(b.String())
}

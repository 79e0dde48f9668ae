package extensions

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"adze/internal/commands"
	"adze/internal/mcp/editor"
)

func ideCommand() commands.Command {
	return commands.Command{Name: "ide", Doc: "show the editors open here, and whether one is connected",
		Run: func(_ context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			if arg != "" {
				return nil, errors.New("usage: /ide")
			}
			return editorsPage(r), nil
		}}
}

// editorsPage shows the editors, whether one is connected, and how to connect one.
func editorsPage(r *commands.Registry) commands.Page {
	var all []editor.Editor
	if r.Extensions.Editors != nil {
		all = r.Extensions.Editors()
	}
	state := connection(r)
	p := commands.Page{Blocks: []commands.Block{commands.Fields{{Name: "Editor", Value: cmp.Or(state, "not connected")}}}}
	if len(all) == 0 {
		p.Add(commands.Text("No editor found. Editors with a Claude Code extension write a file to ~/.claude/ide while they run."))
		return p
	}
	table := commands.Table{Columns: []commands.Column{{Name: "Editor"}, {Name: "state"}, {Name: "folders", Cut: true}}}
	usable := false
	for _, e := range all {
		what := "has this directory open"
		if usable = usable || e.Unfit == nil; e.Unfit != nil {
			what = e.Unfit.Error()
		}
		table.Rows = append(table.Rows, []string{cmp.Or(e.Name, e.File), what, strings.Join(e.Folders, ", ")})
	}
	p.Add(table)
	if usable && state == "" {
		p.Add(commands.Text("To connect: adze --ide at the start, or always with adze config set autoConnectIde true"))
	}
	return p
}

// connection returns the state of the connection to an editor, or "" if none was requested.
func connection(r *commands.Registry) string {
	if r.Extensions.Servers.All == nil {
		return ""
	}
	all := r.Extensions.Servers.All()
	if all == nil {
		return ""
	}
	list := all.List()
	for i := range list {
		if list[i].Name == editor.Name {
			return serverState(&list[i])
		}
	}
	return ""
}

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
		Run: func(_ context.Context, d *commands.Desk, arg string) (commands.Answer, error) {
			if arg != "" {
				return nil, errors.New("usage: /ide")
			}
			return editorsPage(d), nil
		}}
}

// editorsPage shows the editors, whether one is connected, and how to connect one.
func editorsPage(d *commands.Desk) commands.Page {
	var all []editor.Editor
	if d.Extensions.Editors != nil {
		all = d.Extensions.Editors()
	}
	state := connection(d)
	p := commands.Page{Blocks: []commands.Block{commands.Fields{{Name: "Editor", Value: cmp.Or(state, "not connected")}}}}
	if len(all) == 0 {
		p.Add(commands.Text("No editor can be seen. One that has an extension for it leaves a file in ~/.claude/ide when it runs."))
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
func connection(d *commands.Desk) string {
	if d.Extensions.Servers.All == nil {
		return ""
	}
	all := d.Extensions.Servers.All()
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

package extensions

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/mcp/editor"
)

// TestEditors checks that /ide names the editors, marks the one for this directory, and
// explains how to connect it.
//
// Proves CMD-04, MCP-51.
func TestEditors(t *testing.T) {
	var all []editor.Editor
	r := commands.New(commands.Config{Env: commands.Env{Sections: Sections()}, Extensions: commands.Extensions{Editors: func() []editor.Editor { return all }}})
	show := func(want ...commands.Block) {
		t.Helper()
		a, err := r.Run(t.Context(), "ide", "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(commands.Answer(commands.Page{Blocks: want}), a); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	state := commands.Fields{{Name: "Editor", Value: "not connected"}}
	show(state, commands.Text("No editor found. Editors with a Claude Code extension write a file to ~/.claude/ide while they run."))
	all = []editor.Editor{{Name: "Some Editor", File: "1.lock", Folders: []string{"/a", "/b"}}, {File: "2.lock", Unfit: errors.New("the editor is gone")}}
	table := commands.Table{
		Columns: []commands.Column{{Name: "Editor"}, {Name: "state"}, {Name: "folders", Cut: true}},
		Rows:    [][]string{{"Some Editor", "has this directory open", "/a, /b"}, {"2.lock", "the editor is gone", ""}},
	}
	show(state, table, commands.Text("To connect: adze --ide at the start, or always with adze config set autoConnectIde true"))
	all = all[1:]
	table.Rows = table.Rows[1:]
	show(state, table)
	if _, err := r.Run(t.Context(), "ide", "now"); err == nil {
		t.Error("it takes an argument")
	}
}

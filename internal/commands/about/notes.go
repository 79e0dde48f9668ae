package about

import (
	"context"
	"fmt"
	"strings"

	"adze/changelog"
	"adze/internal/commands"
	"adze/internal/platform/text/amount"
	"adze/internal/tool"
)

func releaseNotesCommand() commands.Command {
	return commands.Command{Name: "release-notes", Args: "[WORD|all]", Doc: "show the release notes of this version, entries matching a word, or all",
		Run: func(_ context.Context, r *commands.Registry, word string) (commands.Answer, error) {
			notes, err := changelog.Notes()
			if err != nil {
				return nil, err
			}
			return notesPage(notes, r.Version, word)
		}}
}

// shownNotes is the number of notes shown by default.
const shownNotes = 15

// notesPage shows the titles of recent notes, or the texts of notes that match a word.
func notesPage(notes []changelog.Note, version, word string) (commands.Answer, error) {
	if len(notes) == 0 {
		return commands.Say("No notes on adze " + version + "."), nil
	}
	if word == "" {
		p := commands.Say(fmt.Sprintf("%s in adze %s:", amount.Of(len(notes), "thing is new", "things are new"), version))
		var items commands.Items
		for _, n := range notes[:min(shownNotes, len(notes))] {
			items = append(items, n.Title)
		}
		p.Add(items)
		if more := len(notes) - len(items); more > 0 {
			p.Add(commands.Text(fmt.Sprintf("And %d more. /release-notes WORD searches, /release-notes all shows everything.", more)))
		}
		return p, nil
	}
	var p commands.Page
	for _, n := range notes {
		if word == "all" || strings.Contains(strings.ToLower(n.Title+" "+n.Text), strings.ToLower(word)) {
			p.Add(commands.Text(n.Kind+": "+n.Title), commands.Items{n.Text})
		}
	}
	if len(p.Blocks) == 0 {
		return nil, fmt.Errorf("no release notes match %s; /release-notes lists them", tool.OneLine(word, 60))
	}
	return p, nil
}

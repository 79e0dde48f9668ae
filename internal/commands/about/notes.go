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
	return commands.Command{Name: "release-notes", Args: "[WORD|all]", Doc: "show what is new in this version, entries matching a word, or all",
		Run: func(_ context.Context, d *commands.Desk, word string) (commands.Answer, error) {
			notes, err := changelog.Notes()
			if err != nil {
				return nil, err
			}
			return notesPage(notes, d.Version, word)
		}}
}

// shownNotes is the number of notes shown by default.
const shownNotes = 15

// notesPage shows the titles of recent notes, or the texts of notes that match a word.
func notesPage(notes []changelog.Note, version, word string) (commands.Answer, error) {
	if len(notes) == 0 {
		return commands.Say("There are no notes on adze " + version + "."), nil
	}
	if word == "" {
		p := commands.Say(fmt.Sprintf("%s in adze %s:", amount.Of(len(notes), "thing is new", "things are new"), version))
		var items commands.Items
		for _, n := range notes[:min(shownNotes, len(notes))] {
			items = append(items, n.Title)
		}
		p.Add(items)
		if more := len(notes) - len(items); more > 0 {
			p.Add(commands.Text(fmt.Sprintf("And %d more. /release-notes WORD shows what is new about something, /release-notes all everything.", more)))
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
		return nil, fmt.Errorf("nothing is new about %s; /release-notes lists what is", tool.OneLine(word, 60))
	}
	return p, nil
}

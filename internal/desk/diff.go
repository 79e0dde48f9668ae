package desk

import (
	"bytes"
	"context"
	"fmt"

	"adze/internal/platform/amount"
	"adze/internal/platform/edit"
	"adze/internal/platform/filehistory"
	"adze/internal/tool/change"
)

func diffCommand() Command {
	return Command{Name: "diff", Args: "[N]", Doc: "show what this session has changed in files, or what was changed since message N",
		Run: func(_ context.Context, d *Desk, which string) (Answer, error) { return diffPage(d, which) }, Complete: completeRewind}
}

// diffPage shows the changes since a message of the user, or since the session began.
func diffPage(d *Desk, which string) (Answer, error) {
	id, since := "", "in this session"
	var later []string
	if which != "" {
		turns := d.Session.Turns()
		i := turnAt(turns, which)
		if i < 0 {
			return nil, fmt.Errorf("there is no message %s; /rewind lists them", which)
		}
		id, later, since = turns[i].ID, laterThan(turns, i), "since that message"
	}
	pairs, left, err := filehistory.Between(d.Files.History, filehistory.Point{ID: id, Later: later}, filehistory.Point{})
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 && len(left) == 0 {
		return Say("No file was edited " + since + ". Changes made by shell commands are not tracked; !git diff shows them in a repository."), nil
	}
	var p Page
	added, removed := 0, 0
	for _, pair := range pairs {
		if isBinary(pair.Then) || isBinary(pair.Now) {
			p.Add(Items{d.Files.Short(pair.Path) + ": not text, changed"})
			continue
		}
		hunks, whole := edit.Diff(pair.Then, pair.Now)
		view := change.Display(pair.Path, pair.Then == nil, hunks)
		if pair.Now == nil {
			p.Add(Items{d.Files.Short(pair.Path) + ": removed"})
			removed += view.Removed
			continue
		}
		view.Partial = !whole
		added, removed = added+view.Added, removed+view.Removed
		p.Add(Output{view})
	}
	for _, path := range left {
		p.Add(Items{d.Files.Short(path) + ": too large to show, or cannot be read"})
	}
	files := amount.Of(len(pairs)+len(left), "file", "files")
	p.Add(Text(fmt.Sprintf("%s changed %s: %s added, %d removed. Changes made by shell commands are not tracked.", files, since, amount.Of(added, "line", "lines"), removed)))
	return p, nil
}

// isBinary reports whether data is not text, by the way git does.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/edit"
	"adze/internal/tool/change"
)

func diffCommand() Command {
	return Command{Name: "diff", Args: "[N [M]]", Doc: "show this session's file changes, since message N, or from message N to M",
		Run: func(_ context.Context, r *Registry, which string) (Answer, error) { return r.diffPage(which) }, Complete: (*Registry).completeDiff}
}

// completeDiff offers the numbers of the messages.
func (r *Registry) completeDiff(arg string) []string {
	before := ""
	if first, _, second := strings.Cut(arg, " "); second {
		before = first + " "
	}
	var numbers []string
	for i := range r.Session.Turns() {
		numbers = append(numbers, before+fmt.Sprint(i+1))
	}
	return numbers
}

// diffPoints returns the times named by the argument of /diff, the earlier one first, and a
// description of the span between them.
func (r *Registry) diffPoints(arg string) (from, to filehistory.Point, between string, err error) {
	words := strings.Fields(arg)
	if len(words) > 2 {
		return from, to, "", errors.New("usage: /diff, /diff N or /diff N M; /rewind lists the messages")
	}
	turns := r.Session.Turns()
	var places []int
	for _, which := range words {
		i := turnAt(turns, which)
		if i < 0 {
			return from, to, "", fmt.Errorf("no message %s; /rewind lists them", which)
		}
		places = append(places, i)
	}
	slices.Sort(places) // newest first
	slices.Reverse(places)
	point := func(i int) filehistory.Point { return filehistory.Point{ID: turns[i].ID, Later: laterThan(turns, i)} }
	switch len(places) {
	case 0:
		return from, to, "in this session", nil
	case 1:
		return point(places[0]), to, "since that message", nil
	}
	return point(places[0]), point(places[1]), "between these messages", nil
}

// diffPage shows the changes since a message of the user, or up to another one, or since the
// session began.
func (r *Registry) diffPage(which string) (Answer, error) {
	from, to, since, err := r.diffPoints(which)
	if err != nil {
		return nil, err
	}
	pairs, left, err := filehistory.Between(r.Files.History, from, to)
	if err != nil {
		return nil, err
	}
	missing := filehistory.Missing(r.Files.History, from)
	if len(pairs) == 0 && len(left) == 0 && !missing {
		return Say("No file was edited " + since + ". Changes made by shell commands are not tracked; !git diff shows them in a repository."), nil
	}
	var p Page
	added, removed := 0, 0
	for _, pair := range pairs {
		if isBinary(pair.Then) || isBinary(pair.Now) {
			p.Add(Items{r.Files.Short(pair.Path) + ": not text, changed"})
			continue
		}
		if len(p.Blocks) > 0 {
			p.Add(Text(""))
		}
		hunks, whole := edit.Diff(pair.Then, pair.Now)
		view := change.Display(pair.Path, pair.Then == nil, hunks)
		if pair.Now == nil {
			p.Add(Items{r.Files.Short(pair.Path) + ": removed"})
			removed += view.Removed
			continue
		}
		view.Partial = !whole
		added, removed = added+view.Added, removed+view.Removed
		p.Add(Output{view})
	}
	for _, path := range left {
		p.Add(Items{r.Files.Short(path) + ": too large to show, or cannot be read"})
	}
	if missing {
		p.Add(Notice(damagedHistory))
	}
	p.Add(Text(""))
	files := amount.Of(len(pairs)+len(left), "file", "files")
	p.Add(Text(fmt.Sprintf("%s changed %s: %s added, %d removed. Changes made by shell commands are not tracked.", files, since, amount.Of(added, "line", "lines"), removed)))
	return p, nil
}

// isBinary reports whether data is not text, using git's heuristic.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

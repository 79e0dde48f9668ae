package desk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/session"
)

func compactCommand() Command {
	return Command{Name: "compact", Kind: Work, Args: "[FOCUS]", Doc: "replace the conversation with a summary; up-to N or from N: a part of it", Run: compact}
}

func snipCommand() Command {
	return Command{Name: "force-snip", Kind: Work, Doc: "remove what the model has marked as stale (experimental)",
		Run: func(context.Context, *Desk, string) (Answer, error) {
			return Operation{Op: session.Snip{}, Entries: true}, nil
		}}
}

func summaryCommand() Command {
	return Command{Name: "summary", Kind: Work, Doc: "update the notes about this session and show them",
		Run: func(context.Context, *Desk, string) (Answer, error) {
			return Operation{Op: session.Notes{}, Entries: true}, nil
		}}
}

// compact has the conversation summarised, or the part before or after a prompt.
func compact(_ context.Context, d *Desk, arg string) (Answer, error) {
	op := session.Compact{Focus: arg}
	side, rest, _ := strings.Cut(arg, " ")
	if side == "up-to" || side == "from" {
		which, focus, _ := strings.Cut(strings.TrimSpace(rest), " ")
		id := turn(d, which)
		if id == "" {
			return turns(d, which)
		}
		op = session.Compact{Focus: strings.TrimSpace(focus), UpTo: id}
		if side == "from" {
			op.UpTo, op.From = "", id
		}
	}
	return Operation{Op: op, Entries: true}, nil
}

const (
	most  = 20 // entries of a list
	minID = 8  // characters of an id that are shown, and the least that identify it
)

// turn returns the id of a prompt, which is given by its number, counted from the end, or by a prefix of its id. It
// returns "" if no prompt matches, or more than one does.
func turn(d *Desk, which string) string {
	turns := d.Session.Turns()
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(turns) {
		return turns[n-1].ID
	}
	found := ""
	for _, t := range turns {
		if len(which) < minID || !strings.HasPrefix(t.ID, which) {
			continue
		}
		if found != "" {
			return ""
		}
		found = t.ID
	}
	return found
}

// turns lists the prompts at which a conversation can be divided.
func turns(d *Desk, which string) (Answer, error) {
	turns := d.Session.Turns()
	if len(turns) == 0 {
		return nil, errors.New("there is nothing to compact yet")
	}
	var p Page
	if which != "" {
		p.Add(Text("There is no message " + which + "."))
	}
	table := Table{Columns: []Column{{Right: true}, {}, {Cut: true}}, Indented: true}
	for i, t := range turns[:min(most, len(turns))] {
		table.Rows = append(table.Rows, []string{fmt.Sprint(i + 1), t.ID[:min(minID, len(t.ID))], t.Text})
	}
	p.Add(table, Text("/compact up-to N summarises everything before message N; /compact from N summarises message N and everything after it. The rest is kept."))
	return p, nil
}

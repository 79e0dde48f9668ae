package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/session"
)

func compactCommand() Command {
	return Command{Name: "compact", Kind: Work, Args: "[FOCUS]", Doc: "replace the conversation with a summary; up-to N or from N: a part of it", Run: runCompact}
}

func snipCommand() Command {
	return Command{Name: "force-snip", Kind: Work, Switch: "snip.enabled", Doc: "remove steps that the model has marked as stale from the context (experimental)",
		Run: func(context.Context, *Registry, string) (Answer, error) {
			return Operation{Op: session.Snip{}, Entries: true}, nil
		}}
}

func summaryCommand() Command {
	return Command{Name: "summary", Kind: Work, Doc: "update the notes about this session and show them",
		Run: func(context.Context, *Registry, string) (Answer, error) {
			return Operation{Op: session.Notes{}, Entries: true}, nil
		}}
}

// runCompact summarizes the conversation, or the part before or after a prompt.
func runCompact(_ context.Context, r *Registry, arg string) (Answer, error) {
	op := session.Compact{Focus: arg}
	side, rest, _ := strings.Cut(arg, " ")
	if side == "up-to" || side == "from" {
		which, focus, _ := strings.Cut(strings.TrimSpace(rest), " ")
		id := r.turn(which)
		if id == "" {
			return r.turns(which)
		}
		op = session.Compact{Focus: strings.TrimSpace(focus), UpTo: id}
		if side == "from" {
			op.UpTo, op.From = "", id
		}
	}
	return Operation{Op: op, Entries: true}, nil
}

const (
	most    = 20 // entries of a list
	shownID = 8  // characters shown of an ID
	minID   = 4  // minimum characters that identify it
)

// turn returns the ID of a prompt, named as for [turnAt], or "".
func (r *Registry) turn(which string) string {
	turns := r.Session.Turns()
	if i := turnAt(turns, which); i >= 0 {
		return turns[i].ID
	}
	return ""
}

// turns lists the prompts at which a conversation can be split.
func (r *Registry) turns(which string) (Answer, error) {
	turns := r.Session.Turns()
	if len(turns) == 0 {
		return nil, errors.New("there is nothing to compact yet")
	}
	var p Page
	if which != "" {
		p.Add(Text("No message " + which + "."))
	}
	table := Table{Columns: []Column{{Right: true}, {}, {Cut: true}}, Indented: true}
	for i, t := range turns[:min(most, len(turns))] {
		table.Rows = append(table.Rows, []string{fmt.Sprint(i + 1), t.ID[:min(shownID, len(t.ID))], t.Text})
	}
	p.Add(table, Text("/compact up-to N summarises everything before message N; /compact from N summarises message N and everything after it. The rest is kept."))
	return p, nil
}

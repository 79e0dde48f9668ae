package commands

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
)

// mostAgents is the maximum number of agents in the /rewind list.
const mostAgents = 5

// An agentUndo undoes an agent's changes.
type agentUndo struct {
	registry *Registry
	by       filehistory.Author
}

// agentChoices returns the agents that have changed files, most recently started first, as
// choices for /rewind.
func (r *Registry) agentChoices() []Choice {
	agents, paths := filehistory.Agents(r.Files.History)
	slices.Reverse(agents)
	var choices []Choice
	for _, a := range agents[:min(mostAgents, len(agents))] {
		var names []string
		files := paths[a.ID]
		for _, path := range files[:min(3, len(files))] {
			names = append(names, r.Files.Short(path))
		}
		if more := len(files) - len(names); more > 0 {
			names = append(names, amount.Of(more, "more file", "more files"))
		}
		choices = append(choices, Choice{ID: a.ID, Title: "what " + a.String() + " changed", About: strings.Join(names, ", ")})
	}
	return choices
}

// listed returns how many messages the /rewind list shows, leaving room for agents.
func listed(messages, agents int) int { return min(most-agents, messages) }

// agentNamed returns the agent named by an argument of /rewind: an ID, or a number in the list
// after the messages.
func (r *Registry) agentNamed(which string) (u agentUndo, ok bool) {
	agents, _ := filehistory.Agents(r.Files.History)
	if n, err := strconv.Atoi(which); err == nil {
		choices := r.agentChoices()
		n -= listed(len(r.Session.Turns()), len(choices)) + 1
		if n >= 0 && n < len(choices) {
			which = choices[n].ID
		}
	}
	i := slices.IndexFunc(agents, func(a filehistory.Author) bool { return a.ID == which })
	if i < 0 {
		return agentUndo{}, false
	}
	return agentUndo{r, agents[i]}, true
}

// run shows the effect of undoing, or does it.
func (u agentUndo) run(ctx context.Context, words []string) (Answer, error) {
	force := len(words) == 2 && words[1] == "force"
	switch {
	case len(words) == 0:
		return u.offer(ctx)
	case words[0] == "files" && (len(words) == 1 || force):
		return u.operation(force), nil
	}
	return nil, fmt.Errorf("usage: /rewind %s, or /rewind %s files", u.by.ID, u.by.ID)
}

// offer describes the effect of undoing, and lets the user choose.
func (u agentUndo) offer(ctx context.Context) (Answer, error) {
	report, err := u.registry.Files.History.Rewind(ctx, u.by.ID, filehistory.Options{DryRun: true, Force: true})
	if err != nil {
		return nil, err
	}
	if len(report.Changes) == 0 && len(report.Later) == 0 && len(report.Left) == 0 {
		return Say(fmt.Sprintf("All changes by %s have been reverted.", u.by)), nil
	}
	list := List{
		Page:   Say("What " + u.by.String() + " changed:"),
		Title:  "Rewind",
		Usage:  fmt.Sprintf("/rewind %s files", u.by.ID),
		Choose: func(context.Context, Choice) (Answer, error) { return u.operation(true), nil },
	}
	if len(report.Changes) > 0 {
		table := Table{Columns: []Column{{}, {Cut: true}}, Indented: true}
		for _, f := range report.Changes {
			table.Rows = append(table.Rows, []string{u.registry.Files.Short(f.Path) + "  " + lineCounts(f), ""})
		}
		list.Add(Text("This will undo:"), table)
		list.Choices = []Choice{{ID: "files", Title: "take these changes back", About: amount.Of(len(report.Changes), "file", "files") + "; the conversation stays as it is"}}
	}
	for _, text := range limits(report, u.registry.Files.Short) {
		list.Add(Notice(text))
	}
	if len(list.Choices) == 0 {
		return list.Page, nil
	}
	return list, nil
}

// operation returns the operation that undoes the changes, and records the information needed
// to reverse that.
func (u agentUndo) operation(force bool) Operation {
	r := u.registry
	files := func(ctx context.Context) (string, error) {
		report, err := r.Files.History.Rewind(ctx, u.by.ID, filehistory.Options{Force: force})
		if err != nil {
			return "", cannotRewind(err)
		}
		text := r.restored(report)
		if report.Undo == "" {
			return text, nil
		}
		tellRestored(ctx, r, text)
		r.undo.set(rewindState{files: report.Undo, last: lastBefore(r.Session.Conversation(), "")})
		return text + "\n" + takenBack, nil
	}
	return Operation{Op: session.Rewind{Files: files}, Entries: true}
}

// LaterText explains why a rewind left a file unchanged.
func LaterText(l filehistory.LaterChange, short func(string) string) string {
	var who []string
	for _, a := range l.By {
		who = append(who, a.String())
	}
	if l.Outside {
		who = append(who, "you or a program")
	}
	if len(who) == 0 { // the agent's final content is unknown
		return short(l.Path) + " stays unchanged: the result of reverting it is uncertain."
	}
	return fmt.Sprintf("%s stays as it is: it was changed later by %s.", short(l.Path), strings.Join(who, " and by "))
}

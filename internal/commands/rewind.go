package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent/compact"
	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/tool"
)

func rewindCommand() Command {
	return Command{Name: "rewind", Aliases: []string{"undo"}, Kind: Work, Args: "[N]",
		Doc: "return to the state before a message, or revert an agent's changes; /rewind undo reverses that", Run: runRewind, Complete: (*Registry).completeRewind}
}

// completeRewind offers the numbers of the messages and the rewind options.
func (r *Registry) completeRewind(arg string) []string {
	which, _, chosen := strings.Cut(arg, " ")
	if chosen {
		return []string{which + " both", which + " conversation", which + " files"}
	}
	numbers := []string{"undo"}
	for i := range r.Session.Turns() {
		numbers = append(numbers, fmt.Sprint(i+1))
	}
	agents, _ := filehistory.Agents(r.Files.History)
	for _, a := range agents {
		numbers = append(numbers, a.ID)
	}
	return numbers
}

const rewindUsage = "/rewind N conversation, /rewind N files or /rewind N both; /rewind undo takes it back"

// runRewind lists the messages to go back to, shows the effect of going back to one, or does
// it.
func runRewind(ctx context.Context, r *Registry, arg string) (Answer, error) {
	words := strings.Fields(arg)
	switch {
	case len(words) == 0:
		return r.rewindList()
	case arg == "undo":
		return r.undoRewind()
	}
	if agent, ok := r.agentNamed(words[0]); ok {
		return agent.run(ctx, words[1:])
	}
	turns := r.Session.Turns()
	i := turnAt(turns, words[0])
	if i < 0 {
		return nil, fmt.Errorf("no message %s to go back to; /rewind lists them", words[0])
	}
	back := rewinding{registry: r, to: turns[i], later: laterThan(turns, i)}
	force := len(words) == 3 && words[2] == "force"
	if len(words) > 2 && !force {
		return nil, errors.New("usage: " + rewindUsage)
	}
	if len(words) == 1 {
		return back.offer(ctx)
	}
	switch words[1] {
	case "both":
		return back.operation(true, true, force), nil
	case "conversation":
		return back.operation(true, false, false), nil
	case "files":
		return back.operation(false, true, force), nil
	}
	return nil, errors.New("usage: " + rewindUsage)
}

// rewindList lists the user's messages with the changes made in response, newest first, and the
// agents that have changed files.
func (r *Registry) rewindList() (Answer, error) {
	turns, agents := r.Session.Turns(), r.agentChoices()
	if len(turns)+len(agents) == 0 {
		return nil, errors.New("no message to go back to yet")
	}
	list := List{
		Page:  Say("Rewind to before which message?"),
		Usage: rewindUsage,
		Title: "Rewind", Verb: "continues",
		Preview: func(ctx context.Context, c Choice) (Page, error) { return rewindPreview(ctx, r, c.ID) },
		Choose: func(ctx context.Context, c Choice) (Answer, error) {
			if agent, ok := r.agentNamed(c.ID); ok {
				return agent.offer(ctx)
			}
			turns := r.Session.Turns()
			i := turnAt(turns, c.ID)
			if i < 0 {
				return nil, errors.New("this message is no longer in the conversation")
			}
			return rewinding{registry: r, to: turns[i], later: laterThan(turns, i)}.offer(ctx)
		},
	}
	shown := listed(len(turns), len(agents))
	list.Choices = append(r.turnChoices(turns[:shown]), agents...)
	if len(agents) > 0 {
		list.Usage += "; of an agent only the files"
	}
	if len(turns) > shown {
		list.Views = []View{{Load: func(context.Context) ([]Choice, error) { return append(r.turnChoices(turns), agents...), nil }}}
	}
	return list, nil
}

// turnChoices returns the user's messages as choices, with the changes made in response to
// each.
func (r *Registry) turnChoices(turns []compact.Turn) []Choice {
	var ids []string
	for _, t := range turns {
		ids = append(ids, t.ID)
	}
	changes := r.Files.History.Changes(ids)
	said := r.Session.Conversation()
	var choices []Choice
	for _, t := range turns {
		var about []string
		if t.At < len(said) { // the conversation may have been rewound in the meantime
			about = append(about, amount.Age(r.Now().Sub(said[t.At].Time)))
		}
		if files := changes[t.ID]; len(files) > 0 {
			about = append(about, r.changed(files))
		}
		choices = append(choices, Choice{ID: t.ID, Title: tool.OneLine(t.Text, 60), About: strings.Join(about, "; ")})
	}
	return choices
}

// rewindPreview shows the changes that rewinding to before a message would undo.
func rewindPreview(ctx context.Context, r *Registry, id string) (Page, error) {
	var answer Answer
	var err error
	if agent, ok := r.agentNamed(id); ok {
		answer, err = agent.offer(ctx)
	} else if i := turnAt(r.Session.Turns(), id); i >= 0 {
		turns := r.Session.Turns()
		answer, err = rewinding{registry: r, to: turns[i], later: laterThan(turns, i)}.offer(ctx)
	}
	list, _ := answer.(List)
	return list.Page, err
}

// changed lists a few of the files, with their line counts.
func (r *Registry) changed(files []filehistory.FileChange) string {
	const named = 3
	var names []string
	for _, f := range files[:min(named, len(files))] {
		names = append(names, r.Files.Short(f.Path)+" "+lineCounts(f))
	}
	if more := len(files) - named; more > 0 {
		names = append(names, amount.Of(more, "more file", "more files"))
	}
	return strings.Join(names, ", ")
}

func lineCounts(f filehistory.FileChange) string {
	switch {
	case f.Mode:
		return "(permissions)"
	case f.Binary:
		return "(changed)"
	}
	return fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
}

// turnAt returns the index of a user message, given by its number counted from the end or by a
// prefix of its ID. It returns -1 without a match, or with several.
func turnAt(turns []compact.Turn, which string) int {
	for i, t := range turns {
		if fmt.Sprint(i+1) == which || t.ID == which {
			return i
		}
	}
	found := -1
	for i, t := range turns {
		if len(which) < minID || !strings.HasPrefix(t.ID, which) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// laterThan returns the IDs of the messages after the given index, oldest first.
func laterThan(turns []compact.Turn, at int) []string {
	later := []string{}
	for _, t := range slices.Backward(turns[:at]) {
		later = append(later, t.ID)
	}
	return later
}

// MessageNamed resolves an ID or ID prefix to the user message it identifies in a conversation,
// and returns that message's ID and the IDs of later ones. The ID of an answer identifies the
// message it answers. An unknown ID is returned unchanged.
func MessageNamed(entries []msg.Entry, id string) (full string, later []string) {
	turns := compact.Turns(entries)
	found := -1
	for i, e := range entries {
		at := slices.IndexFunc(turns, func(t compact.Turn) bool { return t.At <= i })
		if len(id) < minID || at < 0 || at == found || !strings.HasPrefix(e.ID, id) {
			continue
		}
		if found >= 0 {
			return id, nil
		}
		found = at
	}
	if found < 0 {
		return id, nil
	}
	return turns[found].ID, laterThan(turns, found)
}

// A rewinding goes back to before a user message.
type rewinding struct {
	registry *Registry
	to       compact.Turn
	later    []string // messages after it
}

// takenBack explains how to undo a rewind.
const takenBack = "To take this back before you send another message: /rewind undo"

// untracked is a limitation the user should know about.
const untracked = "Changes by shell commands are kept."

// offer describes the effect of going back, and lets the user choose.
func (r rewinding) offer(ctx context.Context) (Answer, error) {
	talk := Choice{ID: "conversation", Title: "conversation only", About: "the files stay as they are"}
	sum := Choice{ID: "summary", Title: "summarise from here", About: "the files stay"}
	list := List{
		Page:    Say("Back to before: " + tool.OneLine(r.to.Text, 200)),
		Title:   "Rewind",
		Choices: []Choice{talk, sum},
		Usage:   fmt.Sprintf("/rewind %s conversation|files|both", r.to.ID[:min(shownID, len(r.to.ID))]),
		Choose: func(_ context.Context, c Choice) (Answer, error) {
			if c.ID == sum.ID {
				return Operation{Op: session.Compact{From: r.to.ID}, Entries: true}, nil
			}
			return r.operation(c.ID != "files", c.ID != "conversation", true), nil
		},
	}
	report, err := r.registry.Files.History.Rewind(ctx, r.to.ID, filehistory.Options{DryRun: true, Force: true, Later: r.later})
	switch {
	case err != nil:
		list.Add(Notice("The files cannot be restored: " + err.Error()))
		return list, nil
	case len(report.Changes) == 0 && len(report.Left) == 0 && report.Damaged:
		list.Add(Notice(damagedHistory), Text("No file can be restored. "+untracked))
		list.Choices[0].Title, list.Choices[0].About = "conversation", ""
		return list, nil
	case len(report.Changes) == 0 && len(report.Left) == 0:
		list.Add(Text("No file was edited since. " + untracked))
		list.Choices[0].Title, list.Choices[0].About = "conversation", ""
		return list, nil
	}
	table := Table{Columns: []Column{{}, {Cut: true}}, Indented: true}
	for _, f := range report.Changes {
		about := ""
		if f.Foreign {
			about = "changed by something else since, which would be lost"
		}
		table.Rows = append(table.Rows, []string{r.registry.Files.Short(f.Path) + "  " + lineCounts(f), about})
	}
	list.Add(Text("This will undo:"), table)
	for _, text := range limits(report, r.registry.Files.Short) {
		list.Add(Notice(text))
	}
	files := amount.Of(len(report.Changes), "file", "files")
	list.Choices = []Choice{
		{ID: "both", Title: "conversation and files", About: files},
		talk,
		{ID: "files", Title: "files only", About: files + "; the conversation stays as it is"},
		sum,
	}
	return list, nil
}

const damagedHistory = "The file history is damaged: files may have changed that are not listed here."

// limits describes the limitations of a rewind.
func limits(report filehistory.Report, short func(string) string) []string {
	texts := []string{untracked}
	if report.Damaged {
		texts = append(texts, damagedHistory)
	}
	for _, path := range report.Left {
		texts = append(texts, short(path)+" stays unchanged: its earlier content is uncertain.")
	}
	for _, l := range report.Later {
		texts = append(texts, LaterText(l, short))
	}
	return texts
}

// operation returns the operation that performs the rewind, and records the information needed
// to undo it.
func (r rewinding) operation(talk, files, force bool) Operation {
	op := session.Rewind{}
	if talk {
		op.To = r.to.ID
	}
	op.Files = func(ctx context.Context) (string, error) {
		done := rewindState{talk: talk, last: lastBefore(r.registry.Session.Conversation(), op.To)}
		text := ""
		if files {
			report, err := r.registry.Files.History.Rewind(ctx, r.to.ID, filehistory.Options{Force: force, Later: r.later})
			if err != nil {
				return "", cannotRewind(err)
			}
			text, done.files = r.registry.restored(report), report.Undo
			if !talk && report.Undo != "" {
				tellRestored(ctx, r.registry, text)
			}
		}
		if !talk && done.files == "" {
			return text, nil
		}
		r.registry.undo.set(done)
		return strings.TrimSpace(text + "\n" + takenBack), nil
	}
	o := Operation{Op: op, Entries: true}
	if talk {
		o.Draft, o.Pasted = r.to.Text, r.to.Pasted
	}
	return o
}

// lastBefore returns the ID of the last entry before the one with the given ID, or of the last
// entry if the ID is unknown.
func lastBefore(entries []msg.Entry, id string) string {
	last := ""
	for _, e := range entries {
		if e.ID == id {
			break
		}
		last = e.ID
	}
	return last
}

// cannotRewind adds advice to the error of a refused rewind.
func cannotRewind(err error) error {
	var conflict *filehistory.Conflict
	var incomplete *filehistory.Incomplete
	switch {
	case errors.As(err, &conflict):
		return fmt.Errorf("%w. Nothing was restored; add force to restore these files, too", err)
	case errors.As(err, &incomplete):
		return fmt.Errorf("%w. Nothing was restored; add force to restore the files that are known for sure", err)
	}
	return err
}

// restored describes the restored files.
func (r *Registry) restored(report filehistory.Report) string {
	if len(report.Changes)+len(report.Later) == 0 {
		if report.Damaged {
			return "No file was restored. " + damagedHistory
		}
		return "No file had to be restored."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s restored:\n", amount.Of(len(report.Changes), "file was", "files were"))
	for _, f := range report.Changes {
		fmt.Fprintf(&b, "  %s\n", r.Files.Short(f.Path))
	}
	b.WriteString(strings.Join(limits(report, r.Files.Short), "\n"))
	return b.String()
}

// tellRestored notifies the model, which knows of the changes, that files were restored.
func tellRestored(ctx context.Context, r *Registry, text string) {
	r.Session.Submit(ctx, session.Notify{ // ok: a closed session does not need it
		Text: "The user has restored files to an earlier state. Read a file again before you rely on its content.\n" + text,
	})
}

// An undo holds the last rewind as long as it can be undone. It is safe for concurrent use.
type undo struct {
	mu      sync.Mutex
	rewound *rewindState
}

// A rewindState holds the information needed to undo a rewind.
type rewindState struct {
	talk  bool   // the conversation was rewound
	files string // ID that undoes the file changes; empty without any
	last  string // ID of the last entry of the conversation
}

func (u *undo) set(r rewindState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.rewound = &r
}

// take returns the last rewind, once; nil without one.
func (u *undo) take() *rewindState {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.rewound
	u.rewound = nil
	return r
}

// undoRewind undoes the last rewind.
func (r *Registry) undoRewind() (Answer, error) {
	back := r.undo.take()
	if back == nil {
		return nil, errors.New("nothing to undo")
	}
	restore := func(ctx context.Context) (string, error) {
		if lastBefore(r.Session.Conversation(), "") != back.last {
			return "", errors.New("the conversation has continued since: the last /rewind can no longer be undone")
		}
		if back.files == "" {
			return "", nil
		}
		report, err := r.Files.History.Rewind(ctx, back.files, filehistory.Options{Force: true, UndoRewind: true})
		if err != nil {
			return "", err
		}
		text := r.restored(report)
		if !back.talk {
			tellRestored(ctx, r, text)
		}
		return text, nil
	}
	return Operation{Op: session.Rewind{Undo: back.talk, Files: restore}, Entries: true}, nil
}

package worktrees

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/git/worktree"
)

// Worktrees manages the worktrees of the session's repository.
type Worktrees interface {
	List(ctx context.Context) []worktree.Entry
	// RemoveNamed removes a worktree that no session uses. The note describes anything that
	// remains.
	RemoveNamed(ctx context.Context, name string, c worktree.Changes) (note string, err error)
}

// Sections returns the command in its /help section.
func Sections(trees Worktrees, now func() time.Time) []commands.Section {
	return []commands.Section{{Name: "Conversation", Commands: []commands.Command{{
		Name: "worktrees", Kind: commands.Change, Args: "[remove NAME|discard NAME]",
		Doc: "list adze's git worktrees with their users and uncommitted or unmerged work; remove one, or discard it with its changes",
		Run: func(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
			if strings.HasPrefix(arg, "discard") && !r.Terminal { // others may have written the prompt
				return nil, fmt.Errorf("/worktrees discard: %w", commands.ErrTerminal)
			}
			return run(ctx, trees, arg, now)
		},
		Complete: func(*commands.Registry, string) []string {
			var all []string
			for _, e := range trees.List(context.Background()) {
				all = append(all, "remove "+e.Name, "discard "+e.Name)
			}
			return all
		}}}}}
}

func run(ctx context.Context, trees Worktrees, arg string, now func() time.Time) (commands.Answer, error) {
	words := strings.Fields(arg)
	switch {
	case len(words) == 0 || arg == "list":
		return page(trees.List(ctx), now()), nil
	case len(words) == 2 && words[0] == "remove":
		return remove(ctx, trees, words[1], worktree.Keep)
	case len(words) == 2 && words[0] == "discard":
		return remove(ctx, trees, words[1], worktree.Discard)
	}
	return nil, errors.New("usage: /worktrees, /worktrees remove NAME, or /worktrees discard NAME to remove it with its changes")
}

func remove(ctx context.Context, trees Worktrees, name string, c worktree.Changes) (commands.Answer, error) {
	note, err := trees.RemoveNamed(ctx, name, c)
	var changed *worktree.ChangedError
	switch {
	case errors.As(err, &changed) && changed.State.Locked == "":
		return nil, fmt.Errorf("%w\n/worktrees discard %s removes it with them", changed, name)
	case errors.Is(err, worktree.ErrNone):
		return nil, fmt.Errorf("%w; /worktrees lists them", err)
	case err != nil:
		return nil, err
	}
	text := fmt.Sprintf("Removed the worktree %s.", name)
	if note != "" {
		text += " Note: " + note + "."
	}
	return commands.Say(text), nil
}

// page lists worktrees.
func page(all []worktree.Entry, now time.Time) commands.Page {
	var p commands.Page
	if len(all) == 0 {
		p.Add(commands.Text("No worktrees. adze --worktree starts a session in one; agents can get their own."))
		return p
	}
	table := commands.Table{Columns: []commands.Column{{Name: "name"}, {Name: "for"}, {Name: "last used"}, {Name: "used by"}, {Name: "state", Cut: true}}}
	for _, e := range all {
		state := e.State.String()
		switch {
		case e.Err != nil:
			state = e.Err.Error()
		case e.ByHook:
			state = "made by a hook, at " + e.Path
		case e.Branch != "" && e.Branch != "worktree-"+e.Name:
			state = "on the branch " + e.Branch + ", " + state
		}
		table.Rows = append(table.Rows, []string{e.Name, string(e.For), since(e.Used, now), e.User, state})
	}
	p.Add(table, commands.Text("They are in "+worktree.Folder+" of the main working tree, on branch worktree-NAME. Run adze --worktree NAME to return to one, /worktrees remove NAME to remove one that is not in use."))
	return p
}

// since returns how long ago t was.
func since(t, now time.Time) string {
	const day = 24 * time.Hour
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < time.Hour:
		return "just now"
	case d < day:
		return t.Format("15:04")
	}
	return t.Format("2 Jan 2006")
}

// Package sessions implements adze sessions: it lists, shows, finds, exports and removes stored
// sessions.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/internal/app/cli/actions"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/setup"
	"adze/internal/ui/console"
)

// Actions returns the actions of adze sessions.
func Actions() actions.Table[*Task] {
	return actions.Table[*Task]{
		{Name: "list", Doc: "list this directory's sessions, most recent first; --all lists all sessions", Run: listSessions},
		{Name: "show", Args: "SESSION", Doc: "show details of a session and its last messages", Least: 1, Most: actions.Any, Run: showSession},
		{Name: "search", Args: "TEXT", Doc: "find text in the conversations of all sessions", Least: 1, Most: actions.Any, Run: searchSessions},
		{Name: "export", Args: "SESSION", Doc: "export a session as Markdown, JSON or HTML; apparent secrets are removed", Least: 1, Most: actions.Any, Run: exportSession},
		{Name: "fork", Args: "SESSION", Doc: "copy a session into a new one; --at names the last message to copy", Least: 1, Most: actions.Any, Run: forkSession},
		{Name: "rename", Args: "SESSION TITLE", Doc: "set the title of a session", Least: 2, Most: actions.Any, Run: renameSession},
		{Name: "tag", Args: "SESSION [TAG]", Doc: "set the tag of a session, or remove it", Least: 1, Most: actions.Any, Run: tagSession},
		{Name: "rm", Args: "SESSION...", Doc: "delete sessions permanently; asks first, unless --force is given", Least: 1, Most: actions.Any, Run: removeSessions},
	}
}

// Options are the flags of the actions.
type Options struct {
	All, JSON, MatchCase, Secrets, Force bool
	Limit                                int
	Format                               archive.Format
	Output, At, Tag                      string
}

// A Task is one action on stored sessions, with its arguments.
type Task struct {
	*console.Console
	*Options
	Dir, Home string // working directory and state home
	Args      []string
	Version   string
	Now       func() time.Time
	// Inherit copies a session's files to its copy.
	Inherit func(from *archive.Info, id, dir string) error
}

// Run runs an action.
func (t *Task) Run(ctx context.Context, a *actions.Action[*Task]) error {
	if err := a.Check("sessions", len(t.Args)); err != nil {
		return err
	}
	err := a.Run(ctx, t)
	var locked *store.LockedError
	var unknown *archive.UnknownError
	var ambiguous *archive.AmbiguousError
	switch {
	case errors.As(err, &locked):
		return fmt.Errorf("%w; end it there first", locked)
	case errors.As(err, &unknown), errors.As(err, &ambiguous), errors.Is(err, store.ErrUnknownMessage):
		return setup.Wrap(err)
	}
	return err
}

// find returns the session named by an argument.
func (t *Task) find(what string) (*archive.Info, error) {
	return archive.Find(t.Home, t.Dir, what)
}

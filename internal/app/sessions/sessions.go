// Package sessions runs the actions of adze sessions: it lists, shows, finds, exports and removes stored sessions.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/internal/app/console"
	"adze/internal/app/setup"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// An Action is one of the actions.
type Action struct {
	Name, Args string
	Doc        string
	Least      int // arguments
	run        func(context.Context, *Task) error
}

// Actions returns all actions.
func Actions() []Action {
	return []Action{
		{"list", "", "list the sessions of this folder, most recent first; --all lists those of all folders", 0, listSessions},
		{"show", "SESSION", "show details of a session and its last messages", 1, showSession},
		{"search", "TEXT", "find text in the conversations of all sessions", 1, searchSessions},
		{"export", "SESSION", "export a session as Markdown, JSON or HTML; apparent secrets are removed", 1, exportSession},
		{"fork", "SESSION", "copy a session into a new one; --at names the last message to copy", 1, forkSession},
		{"rename", "SESSION TITLE", "set the title of a session", 2, renameSession},
		{"tag", "SESSION [TAG]", "set the tag of a session, or remove it", 1, tagSession},
		{"rm", "SESSION...", "delete sessions permanently; asks first, unless --force is given", 1, removeSessions},
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
	Dir, Home string // the working directory and the state home
	Args      []string
	Version   string
	Now       func() time.Time
	// Inherit hands what belongs to a session on to its copy.
	Inherit func(from *archive.Info, id, dir string) error
}

// Run runs an action.
func (t *Task) Run(ctx context.Context, a Action) error {
	err := a.run(ctx, t)
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

// find returns the session that an argument names.
func (t *Task) find(what string) (*archive.Info, error) {
	return archive.Find(t.Home, t.Dir, what)
}

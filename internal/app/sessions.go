package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/fsys"
	"adze/internal/platform/spell"
	"adze/internal/platform/term"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

// sessionOptions are the flags of adze sessions.
type sessionOptions struct {
	All, MatchCase, Secrets bool
	Limit                   int
	Format                  archive.Format
	Output, At              string
}

// A sessionAction is something to do with sessions.
type sessionAction struct {
	name, args string
	doc        string
	least      int // arguments
	run        func(context.Context, *sessionTask) error
}

func sessionActions() []sessionAction {
	return []sessionAction{
		{"list", "", "list the sessions of this folder, the one that changed last first; --all lists all", 0, listSessions},
		{"show", "SESSION", "tell about a session, and how its conversation ends", 1, showSession},
		{"search", "TEXT", "find text in the conversations of all sessions", 1, searchSessions},
		{"export", "SESSION", "write a session as Markdown, JSON or HTML; what looks like a secret is replaced", 1, exportSession},
		{"fork", "SESSION", "copy a session into a new one; --at ends it with a message", 1, forkSession},
		{"rename", "SESSION TITLE", "give a session a title", 2, renameSession},
		{"tag", "SESSION [TAG]", "give a session a tag, or take it away", 1, tagSession},
		{"rm", "SESSION...", "remove sessions for good; asks first, unless --force is given", 1, removeSessions},
	}
}

func sessionFlags() []flag {
	of := func(field func(*sessionOptions) *bool) func(*options, string) error {
		return setBool(func(o *options) *bool { return field(&o.sessions) })
	}
	flags := []flag{
		{name: "all", short: "a", doc: "with list, the sessions of all folders", set: of(func(s *sessionOptions) *bool { return &s.All })},
		{name: "json", doc: "with list, show and search, print JSON", set: setBool(func(o *options) *bool { return &o.json })},
		{name: "limit", value: "N", doc: "with list, at most N sessions; with search, at most N places of each; with show, the last N messages",
			set: setCount(func(o *options) *int { return &o.sessions.Limit }, 1)},
		{name: "match-case", doc: "with search, tell capitals from small letters", set: of(func(s *sessionOptions) *bool { return &s.MatchCase })},
		{name: "format", value: "FORMAT", doc: "with export, markdown, json or html; follows from the name of the file if not given",
			set: setChoice(func(o *options) *archive.Format { return &o.sessions.Format }, archive.Markdown, archive.JSON, archive.HTML)},
		{name: "output", short: "o", value: "FILE", doc: "with export, where to; standard output if not given",
			set: setText(func(o *options) *string { return &o.sessions.Output })},
		{name: "secrets", doc: "with export, leave in what looks like a secret", set: of(func(s *sessionOptions) *bool { return &s.Secrets })},
		{name: "at", value: "MESSAGE", doc: "with fork, the id of the last message to copy", set: setText(func(o *options) *string { return &o.sessions.At })},
		{name: "force", doc: "with rm, do not ask; with export, replace a file", set: setBool(func(o *options) *bool { return &o.force })},
	}
	return append(flags, helpFlags()...)
}

// A sessionTask is what an action works with.
type sessionTask struct {
	*sessionOptions
	env  *Env
	json bool
	// force does what would otherwise be asked about.
	force bool
	home  string
	args  []string
	o     *options
}

// runSessions does something with the sessions on disk. Without a word it lists them.
func runSessions(ctx context.Context, env *Env, o *options) error {
	home, err := fsys.StateHome(env.Getenv)
	if err != nil {
		return setupErrorf("%v", err)
	}
	name, args := "list", o.args
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	var names []string
	for _, a := range sessionActions() {
		names = append(names, a.name)
		if a.name != name {
			continue
		}
		if len(args) < a.least || a.args == "" && len(args) > 0 {
			return setupErrorf("write adze sessions %s", strings.TrimSpace(a.name+" "+a.args))
		}
		return sessionError(a.run(ctx, &sessionTask{&o.sessions, env, o.json, o.force, home, args, o}))
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return setupErrorf("there is no adze sessions %s; did you mean %s?", name, near[0])
	}
	return setupErrorf("there is no adze sessions %s; write adze sessions %s", name, strings.Join(names, "|"))
}

// sessionError says what to do about errors whose remedy is not a matter of files.
func sessionError(err error) error {
	var locked *store.LockedError
	if errors.As(err, &locked) {
		return fmt.Errorf("%w", locked)
	}
	return err
}

// find returns the session that the first argument names.
func (t *sessionTask) find(what string) (*archive.Info, error) {
	return archive.Find(t.home, t.env.Dir, what)
}

// out prints text that others wrote: a terminal must not obey it.
func (t *sessionTask) out(text string) error {
	if t.env.StdoutTerminal {
		text = term.Sanitize(text)
	}
	return t.env.print(text)
}

// sessionHelp is the part of the help text that tells the actions apart.
func sessionHelp() string {
	var b strings.Builder
	var rows [][2]string
	for _, a := range sessionActions() {
		rows = append(rows, [2]string{strings.TrimSpace(a.name + " " + a.args), a.doc})
	}
	writeRows(&b, rows)
	return b.String()
}

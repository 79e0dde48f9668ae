package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/platform/fsys"
	"adze/internal/platform/spell"
	"adze/internal/session/archive"
	"adze/internal/session/store"
)

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

// sessionsOptions belong to adze sessions.
type sessionsOptions struct {
	all, json, matchCase, secrets, force bool
	limit                                int
	format                               archive.Format
	output, at                           string
}

func (o *sessionsOptions) flags() []flag {
	return []flag{
		{name: "all", short: "a", doc: "with list, the sessions of all folders", set: setBool(&o.all)},
		{name: "json", doc: "with list, show and search, print JSON", set: setBool(&o.json)},
		{name: "limit", value: "N", doc: "with list, at most N sessions; with search, at most N places of each; with show, the last N messages",
			set: setCount(&o.limit, 1)},
		{name: "match-case", doc: "with search, tell capitals from small letters", set: setBool(&o.matchCase)},
		{name: "format", value: "FORMAT", doc: "with export, markdown, json or html; follows from the name of the file if not given",
			set: setChoice(&o.format, archive.Markdown, archive.JSON, archive.HTML)},
		{name: "output", short: "o", value: "FILE", doc: "with export, where to; standard output if not given", set: setText(&o.output)},
		{name: "secrets", doc: "with export, leave in what looks like a secret", set: setBool(&o.secrets)},
		{name: "at", value: "MESSAGE", doc: "with fork, the id of the last message to copy", set: setText(&o.at)},
		{name: "force", doc: "with rm, do not ask; with export, replace a file", set: setBool(&o.force)},
	}
}

// A sessionTask is what an action works with.
type sessionTask struct {
	*sessionsOptions
	env  *Env
	home string
	args []string
}

// run does something with the sessions on disk. Without a word it lists them.
func (o *sessionsOptions) run(ctx context.Context, env *Env, in invocation) error {
	home, err := fsys.StateHome(env.Getenv)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	name, args := "list", in.args
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
			return setup.Errorf("write adze sessions %s", strings.TrimSpace(a.name+" "+a.args))
		}
		return sessionError(a.run(ctx, &sessionTask{o, env, home, args}))
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return setup.Errorf("there is no adze sessions %s; did you mean %s?", name, near[0])
	}
	return setup.Errorf("there is no adze sessions %s; write adze sessions %s", name, strings.Join(names, "|"))
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

// explain tells the actions apart.
func (*sessionsOptions) explain() string {
	var b strings.Builder
	b.WriteString("A session is named by its id, its title, the beginning of either, or the path of its file.\n\n")
	var rows [][2]string
	for _, a := range sessionActions() {
		rows = append(rows, [2]string{strings.TrimSpace(a.name + " " + a.args), a.doc})
	}
	writeRows(&b, rows)
	return b.String()
}

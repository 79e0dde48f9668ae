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

// A sessionAction is an action of adze sessions.
type sessionAction struct {
	name, args string
	doc        string
	least      int // arguments
	run        func(context.Context, *sessionTask) error
}

func sessionActions() []sessionAction {
	return []sessionAction{
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
		{name: "limit", value: "N", doc: "with list, at most N sessions; with search, at most N matches per session; with show, the last N messages",
			set: setCount(&o.limit, 1)},
		{name: "match-case", doc: "with search, match upper and lower case exactly", set: setBool(&o.matchCase)},
		{name: "format", value: "FORMAT", doc: "with export, markdown, json or html; by default, the extension of the file decides",
			set: setChoice(&o.format, archive.Markdown, archive.JSON, archive.HTML)},
		{name: "output", short: "o", value: "FILE", doc: "with export, the file to write; standard output by default", set: setText(&o.output)},
		{name: "secrets", doc: "with export, keep apparent secrets", set: setBool(&o.secrets)},
		{name: "at", value: "MESSAGE", doc: "with fork, the id of the last message to copy", set: setText(&o.at)},
		{name: "force", doc: "with rm, do not ask first; with export, overwrite a file", set: setBool(&o.force)},
	}
}

// A sessionTask is one action on stored sessions, with its arguments.
type sessionTask struct {
	*sessionsOptions
	env  *Env
	home string
	args []string
}

// run runs an action on the stored sessions; without a name, it lists them.
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
			return setup.Errorf("usage: adze sessions %s", strings.TrimSpace(a.name+" "+a.args))
		}
		return sessionError(a.run(ctx, &sessionTask{o, env, home, args}))
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return setup.Errorf("there is no command adze sessions %s; did you mean %s?", name, near[0])
	}
	return setup.Errorf("there is no command adze sessions %s; usage: adze sessions %s", name, strings.Join(names, "|"))
}

// sessionError adds advice to errors that a user of adze sessions can act on.
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

// explain lists the actions.
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

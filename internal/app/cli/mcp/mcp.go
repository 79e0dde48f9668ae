// Package mcp implements adze mcp: it lists, adds, removes and tests MCP servers.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/app/cli/actions"
	"adze/internal/app/cli/flags"
	"adze/internal/feature/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/text/rank"
	"adze/internal/settings"
	"adze/internal/ui/console"
)

// Actions returns the actions of adze mcp.
func Actions() actions.Table[*Task] {
	return actions.Table[*Task]{
		{Name: "list", Doc: "list the servers, and connect to each to see whether it works; --no-connect does not", Run: list},
		{Name: "get", Args: "NAME", Doc: "show the entry of a server, without secrets, and its state", Least: 1, Most: 1, Run: get},
		{Name: "add", Args: "NAME URL | NAME -- COMMAND [ARG...]", Doc: "add a server", Least: 2, Most: actions.Any, Run: add},
		{Name: "add-json", Args: "NAME JSON", Doc: "add a server from its entry as JSON", Least: 2, Most: 2, Run: addJSON},
		{Name: "add-from-desktop", Alias: "add-from-claude-desktop", Args: "[NAME...]", Doc: "add servers from the desktop app's configuration", Most: actions.Any, Run: addFromDesktop},
		{Name: "remove", Args: "NAME", Doc: "remove a server", Least: 1, Most: 1, Run: remove},
		{Name: "reset-project-choices", Doc: "forget which servers of this project you approved or refused", Run: reset},
		{Name: "tools", Args: "NAME", Doc: "list a server's tools; --url URL or -- COMMAND tries an unconfigured server", Most: actions.Any, Run: tools},
		{Name: "call", Args: "NAME TOOL [JSON]", Doc: "call a server's tool; --url URL or -- COMMAND tries an unconfigured server", Most: actions.Any, Run: call},
		{Name: "login", Args: "NAME", Doc: "sign in to a server, with a web browser", Least: 1, Most: 1, Run: login},
		{Name: "logout", Args: "NAME", Doc: "forget the token for a server, and revoke it", Least: 1, Most: 1, Run: logout},
	}
}

// Options are the flags of the actions.
type Options struct {
	Scope, Transport string
	Env, Headers     []string
	ClientID         string
	CallbackPort     int
	URL              string
	JSON, NoConnect  bool
	Login            bool
	Yes              bool
	Flags            mcp.Flags
}

// Table returns the flags of the actions, except for server configuration.
func (o *Options) Table() []flags.Flag {
	add := func(list *[]string) func(string) error {
		return func(v string) error { *list = append(*list, v); return nil }
	}
	return []flags.Flag{
		{Name: "scope", Short: "s", Value: "SCOPE", Choices: []string{"local", "project", "user"}, Set: flags.SetText(&o.Scope),
			Doc: "with add and remove, whose server it is: local (yours, in this project; the default), project (in .mcp.json, for everyone) or user (yours, everywhere)"},
		flags.OneOf(flags.Flag{Name: "transport", Short: "t", Value: "TYPE", Doc: "with add, how to speak to the server: stdio, http, sse or ws; by default stdio for a command and http for a URL"},
			&o.Transport, "stdio", "http", "sse", "ws"),
		{Name: "env", Short: "e", Value: "NAME=VALUE", Doc: "with add, a variable for the server's program; may be repeated", Set: add(&o.Env)},
		{Name: "header", Short: "H", Value: "'NAME: VALUE'", Doc: "with add, a header for requests to the server; may be repeated", Set: add(&o.Headers)},
		{Name: "client-id", Value: "ID", Doc: "with add, the OAuth client to sign in as, if the server does not register clients", Set: flags.SetText(&o.ClientID)},
		{Name: "callback-port", Value: "PORT", Doc: "with add, the port on this machine where signing in ends", Set: flags.SetCount(&o.CallbackPort, 1)},
		{Name: "no-connect", Doc: "with list and get, do not connect to servers", Set: flags.SetBool(&o.NoConnect)},
		{Name: "yes", Doc: "with add-from-desktop, add all servers without asking", Set: flags.SetBool(&o.Yes)},
		{Name: "url", Value: "URL", Doc: "with tools and call, the server to try, in place of a name", Set: flags.SetText(&o.URL)},
		{Name: "login", Doc: "with tools and call, sign in with a web browser if the server wants that", Set: flags.SetBool(&o.Login)},
		{Name: "json", Doc: "with list, get, tools and call, print JSON", Set: flags.SetBool(&o.JSON)},
	}
}

// Explanation is the introductory help text.
const Explanation = `  adze mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/documents
  adze mcp add tracker https://tracker.example/mcp --header 'Authorization: Bearer ${TRACKER_TOKEN}'

${NAME} and ${NAME:-default} are replaced by variables of your environment when the server is used. Servers of a project's
.mcp.json are started only after you have approved them.
`

// A Task is one action, with its arguments.
type Task struct {
	*console.Console
	*Options
	Project *settings.Project
	Args    []string // arguments before --
	Command []string // arguments after --
	// Open returns the servers for entries. If connect is true, it connects to them; otherwise
	// they are only used for sign-in, and no messages are shown. The caller closes them.
	Open func(entries []*roster.Entry, connect bool) (*mcp.Manager, func(), error)
}

// ErrFailed reports that an action failed and that the user has been notified.
var ErrFailed = errors.New("failed")

// Run runs an action.
func (t *Task) Run(ctx context.Context, a *actions.Action[*Task]) error {
	if err := a.Check("mcp", len(t.Args)+len(t.Command)); err != nil {
		return err
	}
	if a.Most != actions.Any { // no command is expected
		t.Args, t.Command = slices.Concat(t.Args, t.Command), nil
	}
	return a.Run(ctx, t)
}

// load returns the configured servers, and reports problems.
func (t *Task) load() (*roster.Roster, error) {
	r, err := mcp.Load(t.Project, t.Flags)
	if err != nil {
		return nil, err
	}
	for _, p := range r.Problems {
		t.Say(p.String())
	}
	return r, nil
}

// find returns a server's entry.
func find(r *roster.Roster, name string) (*roster.Entry, error) {
	if e := r.Find(name); e != nil {
		return e, nil
	}
	var names []string
	for _, e := range r.Entries {
		names = append(names, e.Name)
	}
	switch near := rank.Closest(name, names, 1); {
	case len(names) == 0:
		return nil, fmt.Errorf("no server %s: no servers are configured; adze mcp add adds one", roster.Shown(name))
	case len(near) > 0:
		return nil, fmt.Errorf("no server %s; did you mean %s? The servers are %s", roster.Shown(name), near[0], strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no server %s; the servers are %s", roster.Shown(name), strings.Join(names, ", "))
}

// scope returns the scope from --scope, or usual.
func (t *Task) scope(usual roster.Scope) (roster.Scope, error) {
	if t.Scope == "" {
		return usual, nil
	}
	s := roster.Scope(t.Scope)
	if !slices.Contains(mcp.Writable(), s) {
		return "", fmt.Errorf("unknown scope %s; the scopes are local, project and user", roster.Shown(t.Scope))
	}
	return s, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adze/internal/app/mcpcmd"
	"adze/internal/app/servers"
	"adze/internal/app/serving"
	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/app/syntax"
	"adze/internal/app/wire"
	"adze/internal/mcp/roster"
)

// mcpOptions belong to adze mcp.
type mcpOptions struct {
	mcpcmd.Options
	project settings.Source
	served  serving.Options
}

func (o *mcpOptions) flags() []flag {
	add := func(list *[]string) func(string) error {
		return func(v string) error { *list = append(*list, v); return nil }
	}
	table := []flag{
		{Name: "scope", Short: "s", Value: "SCOPE", Choices: []string{"local", "project", "user"}, Set: syntax.SetText(&o.Scope),
			Doc: "with add and remove, whose server it is: local (yours, in this project; the default), project (in .mcp.json, for everyone) or user (yours, everywhere)"},
		syntax.OneOf(flag{Name: "transport", Short: "t", Value: "TYPE", Doc: "with add, how to speak to the server: stdio, http, sse or ws; by default stdio for a command and http for a URL"},
			&o.Transport, "stdio", "http", "sse", "ws"),
		{Name: "env", Short: "e", Value: "NAME=VALUE", Doc: "with add, a variable for the server's program; may be repeated", Set: add(&o.Env)},
		{Name: "header", Short: "H", Value: "'NAME: VALUE'", Doc: "with add, a header for requests to the server; may be repeated", Set: add(&o.Headers)},
		{Name: "client-id", Value: "ID", Doc: "with add, the OAuth client to sign in as, if the server does not register clients", Set: syntax.SetText(&o.ClientID)},
		{Name: "callback-port", Value: "PORT", Doc: "with add, the port on this machine where signing in ends", Set: syntax.SetCount(&o.CallbackPort, 1)},
		{Name: "no-connect", Doc: "with list and get, do not connect to servers", Set: syntax.SetBool(&o.NoConnect)},
		{Name: "yes", Doc: "with add-from-desktop, add all servers without asking", Set: syntax.SetBool(&o.Yes)},
		{Name: "url", Value: "URL", Doc: "with tools and call, the server to try, in place of a name", Set: syntax.SetText(&o.URL)},
		{Name: "login", Doc: "with tools and call, sign in with a web browser if the server wants that", Set: syntax.SetBool(&o.Login)},
		{Name: "json", Doc: "with list, get, tools and call, print JSON", Set: syntax.SetBool(&o.JSON)},
	}
	table = append(table, serverFlags(&o.Flags)...)
	table = append(table, serveFlags(&o.served)...)
	return append(table, syntax.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

// explain says how to begin.
func (*mcpOptions) explain() string {
	return `adze mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/documents
adze mcp add tracker https://tracker.example/mcp --header 'Authorization: Bearer ${TRACKER_TOKEN}'

${NAME} and ${NAME:-default} are replaced by variables of your environment when the server is used. Servers of a project's
.mcp.json are started only after you have approved them.
`
}

func (*mcpOptions) actions() (list []action) {
	for _, a := range mcpcmd.Actions() {
		list = append(list, action{Name: a.Name, Args: a.Args, Doc: a.Doc})
	}
	return append(list, action{Name: "serve", Args: "[--http HOST:PORT]", Doc: "offer adze's tools to another program, under your permission rules"})
}

// advice is for the flags of a server's own program.
func (*mcpOptions) advice(args []string) string {
	if slices.Contains([]string{"add", "tools", "call"}, args[0]) && !slices.Contains(args, "--") {
		return "; write -- before the command of a server"
	}
	return ""
}

// offers completes the names of servers.
func (o *mcpOptions) offers(env *Env, args []string) (list []offer) {
	if len(args) != 1 || !slices.Contains([]string{"get", "remove", "tools", "call", "login", "logout"}, args[0]) {
		return nil
	}
	p, _ := settings.Open(env.source(o.project)) // ok: nothing is completed then
	r, err := servers.Load(p, o.Flags)
	if err != nil {
		return nil
	}
	for _, e := range r.Entries {
		list = append(list, offer{Word: e.Name, Doc: fmt.Sprintf("%s, %s", e.Scope, e.Type)})
	}
	return list
}

// run runs an action on the servers; without a name, it lists them.
func (o *mcpOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	if name == "serve" {
		return o.serve(ctx, env, in)
	}
	a := mcpcmd.Find(name)
	if a == nil {
		var names []string
		for _, a := range o.actions() {
			names = append(names, a.Name)
		}
		return noAction("mcp", name, names)
	}
	p := openLeniently(env, o.project)
	if p.HomeErr != nil {
		return setup.Errorf("%v", p.HomeErr)
	}
	t := &mcpcmd.Task{
		Console: env.streams(), Options: &o.Options, Project: p, Args: args[:len(args)-min(len(in.Rest), len(args))], Command: in.Rest,
	}
	t.Open = func(entries []*roster.Entry, connect bool) (*servers.Fleet, func(), error) {
		place := env.wire()
		if connect {
			place.Say = func(string) {} // the action says how servers stand
		}
		place.Servers.Loaded = &roster.Roster{Entries: entries}
		w := wire.Open(place, p)
		f, err := w.Fleet()
		if err != nil {
			w.Close()
			return nil, nil, err
		}
		if connect {
			f.Start()
		}
		return f, w.Close, nil
	}
	err := t.Run(ctx, a)
	if errors.Is(err, mcpcmd.ErrFailed) {
		return &Ended{}
	}
	return err
}

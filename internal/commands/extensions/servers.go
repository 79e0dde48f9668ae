package extensions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/mcp"
	"adze/internal/platform/text/amount"
	"adze/internal/platform/text/rank"
	"adze/internal/platform/text/redact"
)

func mcpCommand() commands.Command {
	return commands.Command{Name: "mcp", Kind: commands.Change, Args: "[NAME|reconnect|enable|disable|auth|approve NAME]",
		Doc: "show the MCP servers, or one with its tools; reconnect, enable or disable one, sign in to it, or approve it",
		Run: runServers, Complete: completeServers}
}

// serverVerbs are the actions on a server.
var serverVerbs = []string{"reconnect", "enable", "disable", "auth", "approve"}

var errServers = errors.New("usage: /mcp, /mcp NAME, or /mcp reconnect, enable, disable, auth or approve NAME")

// runServers shows or changes servers.
func runServers(ctx context.Context, r *commands.Registry, arg string) (commands.Answer, error) {
	words := strings.Fields(arg)
	if len(words) > 2 {
		return nil, errServers
	}
	var all *mcp.Servers
	if r.Extensions.Servers.All != nil {
		all = r.Extensions.Servers.All()
	}
	if all == nil || len(all.List()) == 0 {
		p := commands.Say("No MCP servers are configured. adze mcp add NAME -- COMMAND adds one.")
		addServerProblems(r, &p)
		return p, nil
	}
	if r.Extensions.Servers.Await != nil {
		r.Extensions.Servers.Await(ctx)
	}
	switch len(words) {
	case 0:
		if r.Terminal {
			return serversList(r, all), nil
		}
		return serversPage(r, all.List()), nil
	case 1:
		s, err := findServer(all, words[0])
		switch {
		case err != nil && slices.Contains(serverVerbs, words[0]):
			return nil, errServers
		case err != nil:
			return nil, err
		}
		return serverPage(ctx, r, all, s), nil
	}
	s, err := findServer(all, words[1])
	if err != nil {
		return nil, err
	}
	return changeServer(ctx, r, all, words[0], s)
}

// changeServer performs an action on a server.
func changeServer(ctx context.Context, r *commands.Registry, all *mcp.Servers, verb string, s *mcp.Status) (commands.Answer, error) {
	var do func(context.Context, string) error
	switch verb {
	case "reconnect":
		do = all.Reconnect
	case "approve":
		if !r.Terminal { // others may have written the prompt
			return nil, commands.ErrTerminal
		}
		do = r.Extensions.Servers.Approve
	case "enable", "disable":
		if change := r.Extensions.Servers.Enable; change != nil {
			do = func(ctx context.Context, name string) error { return change(ctx, name, verb == "enable") }
		}
	case "auth":
		if r.Extensions.Servers.SignIn == nil {
			break
		}
		address, err := r.Extensions.Servers.SignIn(ctx, s.Name)
		if err != nil {
			return nil, err
		}
		return commands.Say("To sign in to "+s.Name+", open:", address, "The server is connected to when you are done."), nil
	default:
		return nil, errServers
	}
	if do == nil {
		return nil, fmt.Errorf("/mcp %s is not available in this session", verb)
	}
	if err := do(ctx, s.Name); err != nil {
		return nil, err
	}
	now, err := findServer(all, s.Name)
	if err != nil {
		return nil, err
	}
	p := commands.Say(now.Name + ": " + serverState(now))
	addTrouble(r, &p, now)
	return p, nil
}

// findServer returns the status of a server by its name.
func findServer(all *mcp.Servers, name string) (*mcp.Status, error) {
	var names []string
	list := all.List()
	for i := range list {
		if s := &list[i]; s.Name == name || s.Given == name {
			return s, nil
		}
		names = append(names, list[i].Name)
	}
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		return nil, fmt.Errorf("no server %q; did you mean %s?", name, near[0])
	}
	return nil, fmt.Errorf("no server %q; %s", name, amount.There(names))
}

// serverState describes the state of a server.
func serverState(s *mcp.Status) string {
	switch s.State {
	case mcp.Connected:
		return "connected"
	case mcp.Pending:
		return "connecting"
	case mcp.NeedsAuth:
		return "needs a login"
	}
	return string(s.State)
}

// serversPage lists the servers, with advice for broken ones.
func serversPage(r *commands.Registry, list []mcp.Status) commands.Page {
	var p commands.Page
	table := commands.Table{Columns: []commands.Column{{Name: "Server"}, {Name: "state"}, {Name: "tools", Right: true}, {Name: "from"}, {Name: "what", Cut: true}}}
	for i := range list {
		s := &list[i]
		tools := "-"
		if len(s.Tools) > 0 || s.State == mcp.Connected {
			tools = fmt.Sprint(len(s.Tools))
		}
		table.Rows = append(table.Rows, []string{s.Name, serverState(s), tools, string(s.Scope), s.Summary()})
	}
	p.Add(table)
	for i := range list {
		addTrouble(r, &p, &list[i])
	}
	addServerProblems(r, &p)
	p.Add(commands.Text("/mcp NAME shows the tools of a server and more."))
	return p
}

// addTrouble adds a server's problem, with advice.
func addTrouble(r *commands.Registry, p *commands.Page, s *mcp.Status) {
	advice := ""
	switch s.State {
	case mcp.Failed:
		advice = "/mcp reconnect " + s.Name + " tries again"
	case mcp.NeedsAuth:
		advice = "/mcp auth " + s.Name + " signs in"
	case mcp.Unapproved:
		advice = "/mcp approve " + s.Name + " starts it, now and in the future; /mcp " + s.Name + " shows its configuration"
	case mcp.Disabled:
		if s.Same != "" {
			p.Add(commands.Text(s.Name + " is the same server as " + s.Same + ", which is used."))
		}
	}
	text := ""
	if s.Err != nil {
		text = redact.String(s.Err.Error())
	}
	switch {
	case text != "" && advice != "":
		p.Add(commands.Notice(s.Name + ": " + text + "; " + advice))
	case text+advice != "":
		p.Add(commands.Notice(s.Name + ": " + text + advice))
	}
	for _, w := range slices.Concat(s.Warnings, s.Cut, s.Changes, leftOut(r, s.Name)) {
		p.Add(commands.Notice(s.Name + ": " + w))
	}
}

// leftOut lists the tools of a server that cannot be called because of their names.
func leftOut(r *commands.Registry, server string) (lines []string) {
	if r.Session == nil {
		return nil
	}
	for _, x := range r.Session.Pool().Problems() {
		if x.Origin == "mcp:"+server {
			lines = append(lines, "the tool "+x.Name+" is left out: "+x.Reason)
		}
	}
	if more := len(lines) - shownLeftOut; more > 0 {
		lines = append(lines[:shownLeftOut], amount.Of(more, "more tool is left out because of its name", "more tools are left out because of their names"))
	}
	return lines
}

// addServerProblems adds configuration problems.
func addServerProblems(r *commands.Registry, p *commands.Page) {
	if r.Extensions.Servers.Problems == nil {
		return
	}
	for _, text := range r.Extensions.Servers.Problems() {
		p.Add(commands.Notice(text))
	}
}

// Limits on the display of a server.
const (
	shownTools    = 100
	shownLeftOut  = 10
	shownLogLines = 15
	resourceWait  = 3 * time.Second
)

// serverPage shows one server.
func serverPage(ctx context.Context, r *commands.Registry, all *mcp.Servers, s *mcp.Status) commands.Page {
	var p commands.Page
	f := commands.Fields{{Name: "Server", Value: s.Name}, {Name: "State", Value: serverState(s)}, {Name: "From", Value: cmp.Or(r.Files.Short(s.File), string(s.Scope))}, {Name: "Type", Value: string(s.Type)}, {Name: "Runs", Value: s.Summary()}}
	if s.Remote() {
		f[4].Name = "URL"
	}
	if a := s.About; a.Name != "" {
		f = append(f, commands.Field{Name: "About", Value: strings.TrimSpace(cmp.Or(a.Title, a.Name) + " " + a.Version)}, commands.Field{Name: "Protocol", Value: a.Protocol})
	}
	p.Add(f)
	addTrouble(r, &p, s)
	var tools commands.Terms
	for _, t := range s.Tools[:min(len(s.Tools), shownTools)] {
		first, _, _ := strings.Cut(t.Description, "\n")
		tools = append(tools, commands.Term{Name: t.Name, Text: first})
	}
	if len(tools) > 0 {
		p.Add(commands.Text(amount.Of(len(s.Tools), "tool", "tools")+":"), tools)
	}
	if more := len(s.Tools) - len(tools); more > 0 {
		p.Add(commands.Text("and " + amount.Of(more, "more tool", "more tools") + "."))
	}
	if len(s.Prompts) > 0 {
		var prompts commands.Items
		for _, x := range s.Prompts {
			prompts = append(prompts, "/mcp__"+s.Name+"__"+x.Name)
		}
		p.Add(commands.Text(amount.Of(len(s.Prompts), "prompt", "prompts")+":"), prompts)
	}
	if s.State == mcp.Connected && s.About.Resources {
		ctx, cancel := context.WithTimeout(ctx, resourceWait)
		defer cancel()
		if list, err := all.Resources(ctx, s.Name); err == nil {
			p.Add(commands.Text(amount.Of(len(list), "resource", "resources") + "."))
		}
	}
	if s.Log != "" {
		lines := strings.Split(strings.TrimRight(s.Log, "\n"), "\n")
		p.Add(commands.Text("Its standard error ends with:"), commands.Items(lines[max(0, len(lines)-shownLogLines):]))
	}
	return p
}

// completeServers completes actions and the names of servers.
func completeServers(r *commands.Registry, arg string) (list []string) {
	verb, _, second := strings.Cut(arg, " ")
	if !second {
		for _, v := range serverVerbs {
			list = append(list, v+" ")
		}
	}
	if r.Extensions.Servers.All == nil {
		return list
	}
	all := r.Extensions.Servers.All()
	if all == nil {
		return list
	}
	for _, s := range all.List() {
		switch {
		case !second:
			list = append(list, s.Name)
		case slices.Contains(serverVerbs, verb):
			list = append(list, verb+" "+s.Name)
		}
	}
	return list
}

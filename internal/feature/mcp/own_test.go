package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adze/internal/domain/agentdef"
	"adze/internal/mcp/roster"
	"adze/internal/session/elicit"
	"adze/internal/settings"
)

func agentOf(k agentdef.Kind, servers ...agentdef.Server) *agentdef.Definition {
	return &agentdef.Definition{Name: "a", Source: agentdef.Source{Kind: k}, Access: agentdef.Access{Servers: servers}}
}

func inline(name, config string) agentdef.Server {
	return agentdef.Server{Name: name, Config: json.RawMessage(config)}
}

// TestOwn checks that an agent's servers are judged like file entries from the same source: by
// trust, by user choice, and by the administrator, who may allow only managed agents' servers.
//
// Proves AGENT-14, AGENT-20.
func TestOwn(t *testing.T) {
	p := newPlace(t)
	x := inline("x", `{"command":"prog","args":["${NAME}"]}`)
	p.Vars["NAME"] = "value"
	check := func(what, want string, flags Flags, d *agentdef.Definition) {
		t.Helper()
		var parts []string
		for _, e := range Own(p.open(settings.Source{}), flags, d) {
			text := e.Name + "=" + string(e.Scope) + ":" + strings.TrimSpace(e.Command+" "+strings.Join(e.Args, " "))
			switch {
			case e.Disabled:
				text += "-"
			case e.Unapproved:
				text += "?"
			case e.Problem != nil:
				text += "! " + e.Problem.Error()
			}
			parts = append(parts, text)
		}
		if got := strings.Join(parts, ", "); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	check("none", "", Flags{}, nil)
	check("names", "", Flags{}, agentOf(agentdef.User, agentdef.Server{Name: "x"}))
	check("user", "x=user:prog value", Flags{}, agentOf(agentdef.User, x, agentdef.Server{Name: "y"}))
	check("project", "x=project:prog value?", Flags{}, agentOf(agentdef.Project, x))
	check("plugin", "x=plugin:prog value! agents of plugins may not bring servers", Flags{}, agentOf(agentdef.Plugin, x))
	check("wrong", "x=user:! command is missing", Flags{}, agentOf(agentdef.User, inline("x", `{}`)))
	check("host", "", Flags{}, agentOf(agentdef.Flag, inline("x", `{"type":"sdk"}`)))
	check("not host", "x=user:! the type sdk is for programs that start adze", Flags{}, agentOf(agentdef.User, inline("x", `{"type":"sdk"}`)))
	strict := "--strict-mcp-config allows only servers from the command line"
	check("strict", "x=user:prog value! "+strict, Flags{Strict: true}, agentOf(agentdef.User, x))
	check("strict flag", "x=flag:prog value", Flags{Strict: true}, agentOf(agentdef.Flag, x))

	if err := SetDisabled(t.Context(), p.open(settings.Source{}), "x", true); err != nil {
		t.Fatal(err)
	}
	check("disabled", "x=user:prog value-", Flags{}, agentOf(agentdef.User, x))
	if err := SetDisabled(t.Context(), p.open(settings.Source{}), "x", false); err != nil {
		t.Fatal(err)
	}

	p.Write("etc/managed-settings.json", `{"deniedMcpServers":[{"serverName":"x"}]}`)
	check("denied", "x=user:prog value! an administrator has denied this server (deniedMcpServers)", Flags{}, agentOf(agentdef.User, x))
	p.Write("etc/managed-settings.json", `{"deniedMcpServers":7}`)
	for _, e := range Own(p.open(settings.Source{}), Flags{}, agentOf(agentdef.User, x)) {
		if e.Problem == nil {
			t.Error("a server is used though it is unknown which are denied")
		}
	}
	p.Write("etc/managed-settings.json", `{}`)
	p.Write("etc/managed-mcp.json", server("theirs", "x"))
	check("exclusive", "x=user:prog value! an administrator manages the MCP servers", Flags{}, agentOf(agentdef.User, x))
	check("exclusive, managed", "x=managed:prog value", Flags{}, agentOf(agentdef.Managed, x))
	p.Write("etc/managed-mcp.json", `{`)
	for _, e := range Own(p.open(settings.Source{}), Flags{}, agentOf(agentdef.Managed, x)) {
		if e.Problem == nil {
			t.Error("a server is used though the administrator's file cannot be read")
		}
	}
}

// TestAbsent checks that an agent's unavailable servers are listed with the reason.
//
// Proves AGENT-14.
func TestAbsent(t *testing.T) {
	p := newPlace(t)
	f := p.fleet(settings.Source{}, Flags{Loaded: &roster.Roster{Entries: []*roster.Entry{
		{Name: "off", Given: "off", Type: roster.Stdio, Command: "x", Disabled: true},
		{Name: "new", Given: "new", Type: roster.Stdio, Command: "x", Unapproved: true},
	}}})
	s := f.Share(ClientConfig{Asker: elicit.New(elicit.Config{}), Patience: time.Second, Agent: agentOf(agentdef.User,
		agentdef.Server{Name: "off"}, agentdef.Server{Name: "new"}, agentdef.Server{Name: "no\x1bwhere"}, inline("bad", `{}`), inline("gone", `{"command":"no-such-program"}`))})
	s.Begin()
	s.Wait(t.Context())
	got := strings.Join(s.Absent(), "; ")
	for _, want := range []string{`"off" (it is disabled)`, `"new" (the user has not approved it)`, "(no such server is configured)", `"bad" (command is missing)`, `"gone" (program`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	s.Leave()
	if n := len(s.List()); n != 2 {
		t.Errorf("%d servers are left", n)
	}
	if (*Client)(nil).Absent() != nil {
		t.Error("nothing has servers")
	}
}

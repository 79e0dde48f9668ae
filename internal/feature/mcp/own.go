package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/agentdef"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/settings"
	"adze/internal/tool"
)

// Own returns the servers an agent configures for itself, read, expanded and checked like file
// entries from the same source. flags are the workspace's. Entries that must not be used carry
// a problem with the reason; d may be nil.
func Own(p *settings.Project, flags Flags, d *agentdef.Definition) []*roster.Entry {
	if d == nil || !slices.ContainsFunc(d.Servers, func(s agentdef.Server) bool { return s.Config != nil }) {
		return nil
	}
	l := &loader{p: p, getenv: variables(p)}
	policy, barred := l.judge(flags, d.Source.Kind)
	if l.p.Home != "" {
		l.disabled, _ = readDisabled(LocalFile(l.p)) // ok: reported with the workspace's servers
	}
	src := l.source(scopeOf(d.Source.Kind), d.File)
	for _, s := range d.Servers {
		if s.Config == nil {
			continue
		}
		e := src.Entry(s.Name, s.Config)
		if e.Type == roster.Host && src.Scope == roster.Flag {
			continue // the host has this name
		}
		if barred != nil {
			e.Problem = barred
		}
		l.entries = append(l.entries, e)
	}
	l.decide()
	return roster.Merge(l.entries, policy).Entries
}

// judge returns the administrator's server policy, and the reason why an agent of a kind must
// not bring its own servers, or nil. If the policy cannot be determined, they are barred.
func (l *loader) judge(flags Flags, from agentdef.Kind) (policy *roster.Policy, barred error) {
	policy, err := l.policy()
	if err != nil {
		return nil, err
	}
	exclusive, err := l.managed()
	l.entries = nil
	switch {
	case err != nil:
		return policy, err
	case from == agentdef.Plugin || from == agentdef.BuiltIn:
		return policy, errors.New("agents of plugins may not bring servers")
	case exclusive && from != agentdef.Managed:
		return policy, errors.New("an administrator manages the MCP servers")
	case flags.Strict && from != agentdef.Managed && from != agentdef.Flag:
		return policy, errors.New("--strict-mcp-config allows only servers from the command line")
	}
	return policy, nil
}

// scopeOf returns the scope of an agent's servers.
func scopeOf(k agentdef.Kind) roster.Scope {
	switch k {
	case agentdef.Managed:
		return roster.Managed
	case agentdef.Flag:
		return roster.Flag
	case agentdef.User:
		return roster.User
	case agentdef.Plugin:
		return roster.Plugin
	}
	return roster.Project
}

// maxReason is the maximum length of the reason for a missing server, in characters.
const maxReason = 200

// An agentServers holds the servers requested by a conversation's agent.
type agentServers struct {
	agent *agentdef.Definition // nil without an agent
	own   []*roster.Entry
	told  sync.Once // missing servers were announced to the model
}

// absent returns the agent's unavailable servers, each with the reason.
func (o *agentServers) absent(all *mcp.Servers) (list []string) {
	if o.agent == nil || len(o.agent.Servers) == 0 {
		return nil
	}
	known := all.List()
	for _, wanted := range o.agent.Servers {
		i := slices.IndexFunc(known, func(st mcp.Status) bool { return st.Given == wanted.Name || st.Name == roster.Name(wanted.Name) })
		why := "no such server is configured"
		if i >= 0 {
			if why = absence(&known[i]); why == "" {
				continue
			}
		}
		list = append(list, fmt.Sprintf("%s (%s)", roster.Shown(wanted.Name), tool.OneLine(msg.Neutralise(why), maxReason)))
	}
	return list
}

// absence returns why a server is unavailable, or "". A server with known tools counts as
// available: it is restarted when they are called.
func absence(st *mcp.Status) string {
	switch {
	case st.State == mcp.Connected || len(st.Tools) > 0:
		return ""
	case st.Err != nil:
		return st.Err.Error()
	case st.State == mcp.Pending:
		return "it is still connecting"
	case st.State == mcp.NeedsAuth:
		return "it wants the user to sign in"
	case st.State == mcp.Unapproved:
		return "the user has not approved it"
	}
	return "it is disabled"
}

// news returns a reminder about missing servers, once.
func (o *agentServers) news(all *mcp.Servers) (parts []msg.Part) {
	o.told.Do(func() {
		if list := o.absent(all); len(list) > 0 {
			parts = append(parts, msg.Reminder("These MCP servers, which your definition names, are not available: "+strings.Join(list, ", ")+
				". Work without them, and say in your report what that kept you from doing."))
		}
	})
	return parts
}

// missing waits for the servers the agent requires and returns why it cannot start, or "".
func (o *agentServers) missing(ctx context.Context, s *Client) string {
	if o.agent == nil || len(o.agent.Required) == 0 {
		return ""
	}
	if err := require(ctx, s, o.agent.Required); err != nil {
		return upper(err.Error())
	}
	return ""
}

// Absent returns the unavailable servers of the conversation's agent, each with the reason.
func (s *Client) Absent() []string {
	if s == nil {
		return nil
	}
	return s.agentServers.absent(s.Servers)
}

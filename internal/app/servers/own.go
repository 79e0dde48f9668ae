package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/agentdef"
	"adze/internal/app/settings"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Own returns the servers that an agent configures for itself: read, expanded and judged like those of the files of the same
// source. Flags are those of the workspace. What must not be used has a problem that says why; d may be nil.
func Own(p *settings.Project, flags Flags, d *agentdef.Definition) []*roster.Entry {
	if d == nil || !slices.ContainsFunc(d.Servers, func(s agentdef.Server) bool { return s.Config != nil }) {
		return nil
	}
	l := &loader{p: p, getenv: variables(p)}
	policy, barred := l.judge(flags, d.Source.Kind)
	if l.p.Home != "" {
		l.disabled, _ = readDisabled(LocalFile(l.p)) // ok: said where the servers of the workspace are read
	}
	src := l.source(scopeOf(d.Source.Kind), d.File)
	for _, s := range d.Servers {
		if s.Config == nil {
			continue
		}
		e := src.Entry(s.Name, s.Config)
		if e.Type == roster.Host && src.Scope == roster.Flag {
			continue // the host has it, under that name
		}
		if barred != nil {
			e.Problem = barred
		}
		l.entries = append(l.entries, e)
	}
	l.decide()
	return roster.Merge(l.entries, policy).Entries
}

// judge returns what the administrator says of servers, and why an agent of a kind must not bring its own, or nil. What cannot
// be found out bars them.
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
		return policy, errors.New("an administrator says which servers there are")
	case flags.Strict && from != agentdef.Managed && from != agentdef.Flag:
		return policy, errors.New("--strict-mcp-config leaves out all servers but those of the command line")
	}
	return policy, nil
}

// scopeOf returns the scope of the servers of an agent.
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

// maxReason bounds what is said of why a server is missing, in characters.
const maxReason = 200

// An outfit is the servers that the agent of a conversation wants.
type outfit struct {
	agent *agentdef.Definition // nil if there is none
	own   []*roster.Entry
	told  sync.Once // the model was told which are missing
}

// absent returns the servers of the agent that cannot be used, each with the reason.
func (o *outfit) absent(all *mcp.Servers) (list []string) {
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

// absence says why a server cannot be used, or nothing. One that has tools is started again when they are called.
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

// news returns what the model is told of servers that it has to do without, once.
func (o *outfit) news(all *mcp.Servers) (parts []msg.Part) {
	o.told.Do(func() {
		if list := o.absent(all); len(list) > 0 {
			parts = append(parts, msg.Reminder("These MCP servers, which your definition names, are not available: "+strings.Join(list, ", ")+
				". Work without them, and say in your report what that kept you from doing."))
		}
	})
	return parts
}

// missing waits for the servers that the agent cannot do without, and returns why it cannot begin, or nothing.
func (o *outfit) missing(ctx context.Context, s *Share) string {
	if o.agent == nil || len(o.agent.Required) == 0 {
		return ""
	}
	if err := require(ctx, s, o.agent.Required); err != nil {
		return upper(err.Error())
	}
	return ""
}

// Absent returns the servers of the conversation's agent that cannot be used, each with the reason.
func (s *Share) Absent() []string {
	if s == nil {
		return nil
	}
	return s.outfit.absent(s.Servers)
}

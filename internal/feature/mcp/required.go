package mcp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"adze/internal/domain/agentdef"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
)

// Timeout and polling interval for an agent's required servers.
const (
	requiredWait = 30 * time.Second
	requiredLook = 500 * time.Millisecond
)

// Require returns a function that waits for an agent's required servers, other than its own:
// each pattern must match a server that offers a tool. It does not wait for failed servers.
func Require(s *Client) func(ctx context.Context, d *agentdef.Definition) error {
	return func(ctx context.Context, d *agentdef.Definition) error { return require(ctx, s, requiredOf(d, false)) }
}

// RequireOwn waits for the required servers that the conversation's agent brings itself.
func RequireOwn(ctx context.Context, s *Client, d *agentdef.Definition) error {
	if d == nil || len(d.Required) == 0 {
		return nil
	}
	return require(ctx, s, requiredOf(d, true))
}

// Lacking returns a predicate that reports whether a required server, other than the agent's
// own, is unavailable and not pending.
func Lacking(s *Client) func(d *agentdef.Definition) bool {
	return func(d *agentdef.Definition) bool {
		return slices.ContainsFunc(requiredOf(d, false), func(pattern string) bool { return !expects(s, pattern) })
	}
}

// expects reports whether a pattern matches a server that offers a tool, or may still do so.
func expects(s *Client, pattern string) bool {
	if s == nil {
		return false
	}
	started := map[string]bool{}
	for _, status := range s.List() {
		started[status.Name] = true
		if names(pattern, status.Name) && (len(status.Tools) > 0 || status.State == mcp.Pending) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(s.configured().Entries, s.agentServers.own), func(e *roster.Entry) bool {
		return names(pattern, e.Name) && !started[e.Name] && !e.Disabled && !e.Unapproved && e.Problem == nil
	})
}

// requiredOf returns the required patterns that match the agent's own servers, or all others.
func requiredOf(d *agentdef.Definition, own bool) (patterns []string) {
	for _, p := range d.Required {
		brings := slices.ContainsFunc(d.Servers, func(s agentdef.Server) bool { return s.Config != nil && names(p, roster.Name(s.Name)) })
		if brings == own {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// names reports whether a pattern matches a server name, ignoring case.
func names(pattern, server string) bool {
	named, err := path.Match(strings.ToLower(pattern), strings.ToLower(server))
	return named && err == nil
}

func require(ctx context.Context, s *Client, patterns []string) error {
	ctx, cancel := context.WithTimeout(ctx, requiredWait)
	defer cancel()
	look := time.NewTicker(requiredLook)
	defer look.Stop()
	for {
		missing, pending := missingOf(s, patterns)
		if len(missing) == 0 {
			return nil
		}
		if pending {
			select {
			case <-look.C:
				continue
			case <-ctx.Done():
			}
		}
		return fmt.Errorf("the agent needs MCP servers that are not available: %s; available are: %s", strings.Join(missing, ", "), availableOf(s))
	}
}

// missingOf returns the patterns that match no server with tools, and whether any missing
// server is still pending.
func missingOf(s *Client, patterns []string) (missing []string, pending bool) {
	var all []mcp.Status
	if s != nil {
		all = s.List()
	}
	for _, p := range patterns {
		found := false
		for _, status := range all {
			if !names(p, status.Name) {
				continue
			}
			found = found || len(status.Tools) > 0
			pending = pending || status.State == mcp.Pending
		}
		if !found {
			missing = append(missing, p)
		}
	}
	return missing, pending
}

// availableOf returns the names of the servers that offer tools.
func availableOf(s *Client) string {
	var names []string
	if s != nil {
		for _, status := range s.List() {
			if len(status.Tools) > 0 {
				names = append(names, status.Name)
			}
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

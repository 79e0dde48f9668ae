// Package mcptool implements tools backed by MCP servers. A server's annotations are hints:
// they are shown, and grant nothing.
package mcptool

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/mcp/roster"
	"adze/internal/tool"
)

// Config configures the server tools of a conversation. Only Call is required.
type Config struct {
	// Call calls a server's tool by the server's name for it.
	Call func(ctx context.Context, server, tool string, input json.RawMessage, progress func(mcp.Progress)) (*mcp.Result, error)
	// Content configures the handling of results.
	Content content.Config
	// Say shows a line to the user; may be nil.
	Say func(string)
	// IgnoreAlwaysLoad lists servers whose always-load setting is ignored.
	IgnoreAlwaysLoad []string

	output json.RawMessage // schema of results, shared by all tools
}

// A Set creates the server tools of a conversation. It is safe for concurrent use.
type Set struct {
	cfg Config

	mu      sync.Mutex
	offered []mcp.OfferedTool // last argument of Tools
	tools   []tool.Tool
	made    map[origin]*serverTool
}

// An origin is a server and its name for a tool.
type origin struct {
	server *roster.Entry
	name   string
}

// NewSet returns an empty Set.
func NewSet(c Config) *Set {
	c.output = json.RawMessage(outputSchema)
	return &Set{cfg: c}
}

// Tools returns the tools for offered: the same slice for the same argument, and the same tool
// while its definition is unchanged.
func (s *Set) Tools(offered []mcp.OfferedTool) []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(offered) == len(s.offered) && (len(offered) == 0 || &offered[0] == &s.offered[0]) {
		return s.tools
	}
	byServer := map[*roster.Entry][]string{}
	for _, o := range offered {
		byServer[o.Server] = append(byServer[o.Server], o.Tool.Name)
	}
	names := make(map[*roster.Entry]map[string]string, len(byServer))
	for server, tools := range byServer {
		names[server] = mcp.Names(server.Name, tools)
	}
	made := make(map[origin]*serverTool, len(offered))
	tools := make([]tool.Tool, 0, len(offered))
	for _, o := range offered {
		from := origin{o.Server, o.Tool.Name}
		if made[from] != nil {
			continue // the server lists a tool twice
		}
		name := names[o.Server][o.Tool.Name]
		t := s.made[from]
		if t == nil || t.name != name || !same(&t.about, &o.Tool) {
			t = newTool(&s.cfg, o, name)
		}
		made[from] = t
		tools = append(tools, t)
	}
	s.offered, s.tools, s.made = offered, tools, made
	return tools
}

// same reports whether two definitions of a tool are equal.
func same(a, b *mcp.Tool) bool {
	return a.Title == b.Title && a.Description == b.Description && slices.Equal(a.Schema, b.Schema) && slices.Equal(a.Output, b.Output) &&
		a.AlwaysLoad == b.AlwaysLoad && a.Hint == b.Hint &&
		sameHint(a.ReadOnly, b.ReadOnly) && sameHint(a.Destructive, b.Destructive) && sameHint(a.OpenWorld, b.OpenWorld)
}

func sameHint(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

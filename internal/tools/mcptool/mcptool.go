// Package mcptool makes tools of what servers of the Model Context Protocol offer. What a server says of its tools is a
// hint: it is shown, and grants nothing. How servers are reached is left to package mcp, what becomes of their results
// to mcp/content, and which calls may run to the permission rules.
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

// A Config is what the tools of a conversation work with. Only Call is required.
type Config struct {
	// Call calls a tool of a server by the server's own name for it.
	Call func(ctx context.Context, server, tool string, input json.RawMessage, progress func(mcp.Progress)) (*mcp.Result, error)
	// Content says what becomes of results.
	Content content.Config
	// Say tells the user something in one line; may be nil.
	Say func(string)
	// IgnoreAlwaysLoad are servers whose wish to have tools in every request is not granted.
	IgnoreAlwaysLoad []string

	output json.RawMessage // the schema of results, once for all tools
}

// A Set makes the tools of a conversation. It is safe for concurrent use.
type Set struct {
	cfg Config

	mu      sync.Mutex
	offered []mcp.Offered // that tools were made of last
	tools   []tool.Tool
	made    map[origin]*serverTool
}

// An origin is what a tool is made of, with what the server calls it.
type origin struct {
	server *roster.Entry
	name   string
}

// NewSet returns a set without tools.
func NewSet(c Config) *Set {
	c.output = json.RawMessage(outputSchema)
	return &Set{cfg: c}
}

// Tools returns the tools for what is offered: the same slice for the same slice, and the same tool as long as what is
// offered of it is the same.
func (s *Set) Tools(offered []mcp.Offered) []tool.Tool {
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
			continue // a server that lists a tool twice
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

// same reports whether a server says the same of a tool.
func same(a, b *mcp.Tool) bool {
	return a.Title == b.Title && a.Description == b.Description && slices.Equal(a.Schema, b.Schema) && slices.Equal(a.Output, b.Output) &&
		a.AlwaysLoad == b.AlwaysLoad && a.Hint == b.Hint &&
		sameHint(a.ReadOnly, b.ReadOnly) && sameHint(a.Destructive, b.Destructive) && sameHint(a.OpenWorld, b.OpenWorld)
}

func sameHint(a, b *bool) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

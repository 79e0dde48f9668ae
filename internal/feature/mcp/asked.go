package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/mcp"
	"adze/internal/permission"
	"adze/internal/session"
)

// All returns the servers; nil if s is nil.
func (s *Client) All() *mcp.Servers {
	if s == nil {
		return nil
	}
	return s.Servers
}

// OnComplete registers a function to call when a server reports that a requested browser visit
// is complete.
func (s *Client) OnComplete(tell func(server, id string)) { s.cfg.Asker.OnComplete(tell) }

// Awaited waits for the servers and returns their status.
func (s *Client) Awaited(ctx context.Context) []mcp.Status {
	if s == nil {
		return nil
	}
	s.Await(ctx)
	return s.List()
}

// CallText calls a tool on behalf of the program and returns the text of its result. An error
// result is returned as an error.
func (s *Client) CallText(ctx context.Context, server, tool string, input json.RawMessage) (string, error) {
	if s == nil {
		return "", errors.New("no MCP servers here")
	}
	r, err := s.Session.Call(ctx, server, tool, input, nil)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, part := range r.Content {
		if part.Kind == mcp.TextContent && part.Text != "" {
			texts = append(texts, part.Text)
		}
	}
	text := strings.Join(texts, "\n")
	switch {
	case r.IsError:
		return "", fmt.Errorf("%s of the server %s failed: %s", tool, server, text)
	case text == "":
		text = string(r.Structured)
	}
	return text, nil
}

// Answering returns an Asker that answers permission prompts with a server tool, named as the
// model would name it. Anything but a clear answer denies, and a tool cannot answer prompts
// that need a person.
func (s *Client) Answering(name string) permission.Asker {
	const by = "permission tool"
	return func(ctx context.Context, q permission.Question) (permission.Answer, error) {
		if q.NeedsPerson {
			return permission.Answer{Behavior: permission.Deny, By: permission.Headless}, nil
		}
		of := s.named(name)
		if of == nil {
			text := fmt.Sprintf("The tool %s, which answers permission questions, is not there: no connected server has it.", name)
			return permission.Answer{Behavior: permission.Deny, By: by, Message: text}, nil
		}
		server, tool := of.Remote()
		input, err := json.Marshal(map[string]any{"tool_name": q.Tool, "input": q.Input, "tool_use_id": q.ID})
		if err != nil {
			return permission.Answer{}, err
		}
		text, err := s.CallText(ctx, server, tool, input)
		if err != nil {
			return permission.Answer{}, err
		}
		a := session.ReadDecision([]byte(text), by).Answer
		a.Updates = nil // a tool answers one prompt; it can't change rules
		return a, nil
	}
}

// named returns the server tool with the model-facing name, or nil.
func (s *Client) named(name string) mcp.Remote {
	if s == nil {
		return nil
	}
	for _, t := range s.tools.Tools(s.Tools()) {
		if r, ok := t.(mcp.Remote); ok && t.Spec().Name == name {
			return r
		}
	}
	return nil
}

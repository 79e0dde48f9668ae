package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Tool is a function that the model can call.
type Tool struct {
	name string
	add  func(*mcp.Server)
}

// NewTool returns a tool for a function. In is a struct: its fields are the parameters, with
// their names in json tags and descriptions in jsonschema tags. A string is returned to the
// model as it is, any other value as JSON. An error is reported to the model.
func NewTool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) Tool {
	return Tool{name, func(server *mcp.Server) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: description}, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			out, err := f(ctx, in)
			if err != nil {
				return nil, nil, err
			}
			text, ok := any(out).(string)
			if !ok {
				data, err := json.Marshal(out)
				if err != nil {
					return nil, nil, err
				}
				text = string(data)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	}}
}

// toolServer is the name of the server with the tools of [Options.Tools].
const toolServer = "sdk"

// Rule returns the permission rule that allows a tool, for [Options.AllowedTools].
func (t Tool) Rule() string { return "mcp__" + toolServer + "__" + t.name }

// allServers returns the servers of the caller, with one for its tools.
func (o *Options) allServers() map[string]*mcp.Server {
	if len(o.Tools) == 0 {
		return o.Servers
	}
	all := map[string]*mcp.Server{toolServer: mcp.NewServer(&mcp.Implementation{Name: toolServer, Version: "1"}, nil)}
	for _, t := range o.Tools {
		t.add(all[toolServer])
	}
	maps.Copy(all, o.Servers)
	return all
}

// A bridge is the transport between a server of the caller and adze: messages travel in
// requests of the control protocol.
type bridge struct {
	s        *Session
	name     string
	incoming chan jsonrpc.Message
	closed   chan struct{}
	close    sync.Once

	mu      sync.Mutex
	waiting map[string]chan json.RawMessage // key: request ID
}

// serve runs a server until ctx is done.
func (s *Session) serve(ctx context.Context, name string, server *mcp.Server) *bridge {
	b := &bridge{s: s, name: name, incoming: make(chan jsonrpc.Message), closed: make(chan struct{}), waiting: map[string]chan json.RawMessage{}}
	go server.Run(ctx, b) // ok: it ends with the session
	return b
}

// Connect implements [mcp.Transport].
func (b *bridge) Connect(context.Context) (mcp.Connection, error) { return b, nil }

// SessionID implements [mcp.Connection].
func (b *bridge) SessionID() string { return "" }

// Read implements [mcp.Connection].
func (b *bridge) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-b.incoming:
		return m, nil
	case <-b.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements [mcp.Connection].
func (b *bridge) Close() error {
	b.close.Do(func() { close(b.closed) })
	return nil
}

// Write implements [mcp.Connection]: it passes a message of the server on.
func (b *bridge) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		if answer := b.waiting[fmt.Sprint(r.ID.Raw())]; answer != nil {
			answer <- data
		}
		return nil
	}
	return b.s.Request(ctx, "mcp_message", map[string]any{"server_name": b.name, "message": json.RawMessage(data)}, nil)
}

// exchange passes a message to the server, and returns the response if it is a request.
func (b *bridge) exchange(ctx context.Context, data json.RawMessage) (json.RawMessage, error) {
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, err
	}
	var answer chan json.RawMessage
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		id := fmt.Sprint(r.ID.Raw())
		answer = make(chan json.RawMessage, 1)
		b.mu.Lock()
		b.waiting[id] = answer
		b.mu.Unlock()
		defer func() {
			b.mu.Lock()
			delete(b.waiting, id)
			b.mu.Unlock()
		}()
	}
	select {
	case b.incoming <- m:
	case <-b.closed:
		return nil, errors.New("the server has ended")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if answer == nil {
		return nil, nil
	}
	select {
	case data := <-answer:
		return data, nil
	case <-b.closed:
		return nil, errors.New("the server has ended")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

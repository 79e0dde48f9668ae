package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/client"
	"adze/internal/mcp/roster"
	"adze/internal/platform/proc/osproc"
)

// echoCommand makes the program a server with a tool that echoes.
const echoCommand = "__echo"

type echoInput struct {
	Text string `json:"text"`
}

// serveEcho runs the server used for measuring calls.
func serveEcho() error {
	s := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Returns a text"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoInput) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// runServers compares a call of an MCP server tool with a call through the protocol library
// alone, to the same program.
func runServers(runs int) error {
	ctx := context.Background()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bare, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: exec.Command(self, echoCommand)}, nil)
	if err != nil {
		return err
	}
	defer bare.Close()
	r := &osproc.Runner{}
	defer r.Close()
	servers := mcp.New(mcp.Config{Dialer: client.New(client.Config{Runner: r, Env: os.Environ(), Version: "1"})})
	defer servers.Close()
	servers.Start([]*roster.Entry{{Name: "echo", Given: "echo", Type: roster.Stdio, Command: self, Args: []string{echoCommand}}})
	servers.Wait(ctx)
	if list := servers.List(); list[0].State != mcp.Connected {
		return errors.Join(errors.New("the server is not connected"), list[0].Err)
	}
	input := json.RawMessage(`{"text":"a text of the usual length, to be returned as it is"}`)
	var theirs, ours []time.Duration
	for range 25 * runs {
		began := time.Now()
		if _, err := bare.CallTool(ctx, &sdk.CallToolParams{Name: "echo", Arguments: input}); err != nil {
			return err
		}
		theirs = append(theirs, time.Since(began))
		began = time.Now()
		if _, err := servers.Call(ctx, "echo", "echo", input, func(mcp.Progress) {}); err != nil {
			return err
		}
		ours = append(ours, time.Since(began))
	}
	b := &bench{}
	b.report("a call by the protocol library alone", " ms", median(theirs), 0)
	b.report("a call of a server's tool", " ms", median(ours), 0)
	b.report("the difference", " ms", median(ours)-median(theirs), 1)
	if err := fleet(b, self, max(3, runs/8)); err != nil {
		return err
	}
	if b.missed > 0 {
		return errors.New("a figure is over its limit")
	}
	return nil
}

// toolsCommand makes the program a server with many tools.
const toolsCommand = "__tools"

// serveTools runs a server with many tools.
func serveTools() error {
	s := sdk.NewServer(&sdk.Implementation{Name: "tools", Version: "1"}, nil)
	for i := range 50 {
		t := &sdk.Tool{Name: fmt.Sprint("tool_", i), Description: fmt.Sprintf("Does the thing number %d with the items of a project, and returns what it found as text.", i)}
		sdk.AddTool(s, t, func(context.Context, *sdk.CallToolRequest, echoInput) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{}, nil, nil
		})
	}
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// fleet compares a run with 40 servers of 50 tools each with a run without servers: the size of
// the first request, and memory.
func fleet(b *bench, self string, runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built, err := build(dir)
	if err != nil {
		return err
	}
	servers := map[string]any{}
	for i := range 40 {
		servers[fmt.Sprint("server", i)] = map[string]any{"command": self, "args": []string{toolsCommand, fmt.Sprint(i)}}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "home", "mcp.json")
	var size, memory [2][]time.Duration // bytes and KB, without and with servers
	for range runs {
		for i, data := range []string{"{}", string(config)} {
			if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
				return err
			}
			srv, err := newServer("say Done.")
			if err != nil {
				return err
			}
			srv.probeAt = 1
			_, err = built.prompt(srv, "hello")
			srv.close()
			if err != nil {
				return err
			}
			size[i] = append(size[i], time.Duration(len(srv.lastBody()))*time.Millisecond)
			memory[i] = append(memory[i], time.Duration(srv.peakKB)*time.Millisecond)
		}
	}
	b.report("40 servers of 50 tools: the first request grows by", " B", median(size[1])-median(size[0]), 1000)
	b.report("40 servers of 50 tools: memory grows by (VmHWM)", " MB", (median(memory[1])-median(memory[0]))/1024, 15)
	return nil
}

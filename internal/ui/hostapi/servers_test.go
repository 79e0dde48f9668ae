package hostapi

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"adze/internal/commands"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// A conn simulates a server.
type conn struct {
	mcp.Conn
	done chan struct{}
	once sync.Once
}

func (c *conn) About() mcp.ServerInfo {
	return mcp.ServerInfo{Name: "Docs", Version: "2", Tools: true, Resources: true}
}

func (c *conn) Tools(context.Context) ([]mcp.Tool, string, error) {
	yes := true
	return []mcp.Tool{{Name: "find", Description: "Finds.", ReadOnly: &yes}, {Name: "drop"}}, "", nil
}

func (c *conn) Read(_ context.Context, uri string) ([]mcp.Content, error) {
	switch uri {
	case "doc://1":
		return []mcp.Content{{Kind: mcp.ResourceText, URI: uri, Text: "one", MIME: "text/plain"}, {Kind: mcp.ResourceBlob, URI: uri, Data: []byte("x")}}, nil
	case "doc://long":
		return []mcp.Content{{Kind: mcp.ResourceText, URI: uri, Text: strings.Repeat("x", maxCall+1)}}, nil
	}
	return nil, errors.New("no such resource")
}

func (c *conn) Call(_ context.Context, tool string, input json.RawMessage, _ func(mcp.Progress)) (*mcp.Result, error) {
	return &mcp.Result{Structured: input, Content: []mcp.Content{
		{Text: tool}, {Kind: mcp.ImageContent, Data: []byte("x"), MIME: "image/png"}, {Kind: mcp.AudioContent, MIME: "audio/wav"}, {Flaw: "broken"},
		{Kind: mcp.ResourceText, URI: "u", Text: "t"}, {Kind: mcp.ResourceBlob, URI: "u"}, {Kind: mcp.ResourceLink, URI: "u", Name: "n"},
	}}, nil
}

func (c *conn) Done() <-chan struct{} { return c.done }
func (c *conn) Err() error            { return nil }
func (c *conn) Log() string           { return "" }
func (c *conn) Close() error          { c.once.Do(func() { close(c.done) }); return nil }

type dialer struct{}

func (dialer) Dial(_ context.Context, e *roster.Entry, _ mcp.Client) (mcp.Conn, error) {
	if e.Name == "broken" {
		return nil, errors.New("refused")
	}
	return &conn{done: make(chan struct{})}, nil
}

// A remote is a tool of a server.
type remote struct{ tool.Tool }

func (remote) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: "mcp__my_docs__find", Schema: json.RawMessage(`{"type":"object"}`)}
}
func (remote) Traits() tool.Traits                           { return tool.Traits{Origin: "mcp:my_docs"} }
func (remote) Remote() (server, tool string)                 { return "my_docs", "find" }
func (remote) Bind(input json.RawMessage) (tool.Call, error) { return nil, nil }

// TestServers checks that hosts see the configured servers without secrets, and address them by
// their configured names.
//
// Proves MCP-11.
func TestServers(t *testing.T) {
	servers := mcp.New(mcp.Config{Dialer: dialer{}})
	defer servers.Close()
	servers.Start([]*roster.Entry{
		{Name: "my_docs", Given: "my docs", Scope: roster.Flag, Type: roster.Stdio, Command: "docs", Env: map[string]string{"KEY": "secret"}},
		{Name: "broken", Given: "broken", Scope: roster.Project, Type: roster.HTTP, URL: "https://example.com", Headers: map[string]string{"Authorization": "secret"}},
		{Name: "own", Given: "own", Scope: roster.Flag, Type: roster.Host, Disabled: true},
		{Name: "new", Given: "new", Scope: roster.Project, Type: roster.Stdio, Command: "x", Unapproved: true},
	})
	servers.Wait(t.Context())
	s := session.Open(t.Context(), session.Config{ID: "id", Tools: session.Tools{Registry: tool.NewRegistry(), Dynamic: func() []tool.Tool { return []tool.Tool{remote{}} }}})
	defer s.Close()
	r := commands.New(commands.Config{Session: s, Extensions: commands.Extensions{Servers: commands.Servers{All: func() *mcp.Servers { return servers }}}})
	ask := func(subtype, body string) string {
		request := Queries(r)[subtype]
		if request == nil {
			request = Actions(r)[subtype]
		}
		v, err := request(t.Context(), json.RawMessage(body))
		if err != nil {
			return err.Error()
		}
		data, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	const list = `{"mcpServers":[` +
		`{"config":{"args":[],"command":"docs","type":"stdio"},"name":"my docs","scope":"dynamic","serverInfo":{"name":"Docs","version":"2"},"source":"dynamic","status":"connected",` +
		`"tools":[{"annotations":{"readOnly":true},"description":"Finds.","name":"find"},{"annotations":{},"name":"drop"}]},` +
		`{"config":{"type":"http","url":"https://example.com"},"error":"refused","name":"broken","scope":"project","source":"project","status":"failed"},` +
		`{"config":{"name":"own","type":"sdk"},"name":"own","scope":"sdk","source":"sdk","status":"disabled"},` +
		`{"config":{"args":[],"command":"x","type":"stdio"},"name":"new","scope":"project","source":"project","status":"pending"}]}`
	for _, tt := range []struct{ subtype, body, want string }{
		{"mcp_status", `{}`, list},
		{"mcp_reconnect", `{"serverName":"my docs"}`, `{}`},
		{"mcp_reconnect", `{"serverName":"broken"}`, `refused`},
		{"mcp_reconnect", `{"serverName":"none"}`, `no MCP server "none"`},
		{"mcp_read_resource", `{"serverName":"my docs","uri":"doc://1"}`, `{"contents":[{"mimeType":"text/plain","text":"one","uri":"doc://1"},{"blob":"eA==","uri":"doc://1"}]}`},
		{"mcp_read_resource", `{"serverName":"my docs","uri":"doc://2"}`, `no such resource`},
		{"mcp_read_resource", `{"serverName":"my docs","uri":"doc://long"}`, `the answer of the server has more than 8 MB`},
		{"mcp_call", `{"tool":"mcp__my_docs__find","arguments":{"a":1}}`, `{"content":[{"text":"find","type":"text"},{"data":"eA==","mimeType":"image/png","type":"image"},` +
			`{"data":"","mimeType":"audio/wav","type":"audio"},{"text":"broken","type":"text"},{"resource":{"mimeType":"","text":"t","uri":"u"},"type":"resource"},` +
			`{"resource":{"blob":"","mimeType":"","uri":"u"},"type":"resource"},{"description":"","mimeType":"","name":"n","type":"resource_link","uri":"u"}],"isError":false,"structuredContent":{"a":1}}`},
		{"mcp_call", `{"tool":"mcp__my_docs__drop"}`, `no connected MCP server has the tool "mcp__my_docs__drop", or a rule denies it`},
		{"mcp_call", `{"tool":"mcp__my_docs__find","check_permissions":true}`, `check_permissions is not available in this version`},
		{"mcp_toggle", `{"serverName":"my docs"}`, `enabled is missing`},
		{"mcp_toggle", `{"serverName":"my docs","enabled":false}`, `{}`},
		{"mcp_toggle", `{"serverName":"x","enabled":false}`, `no MCP server "x"`},
	} {
		if got := ask(tt.subtype, tt.body); got != tt.want && !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s", tt.subtype, tt.body, got)
		}
	}
	if st := servers.List()[0].State; st != mcp.Disabled {
		t.Errorf("it is %s", st)
	}
	r.Extensions.Servers.All = func() *mcp.Servers { return nil }
	for _, subtype := range []string{"mcp_reconnect", "mcp_read_resource", "mcp_call"} {
		if got := ask(subtype, `{}`); got != "no MCP servers" {
			t.Errorf("%s: %s", subtype, got)
		}
	}
}

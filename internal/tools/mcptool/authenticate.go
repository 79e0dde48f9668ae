package mcptool

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/tool"
)

// authenticate is the name of the tool offered for a server that requires sign-in.
const authenticate = "authenticate"

// A SignIn starts signing in to a server, and returns the URL to open in a web browser.
type SignIn func(ctx context.Context, server string) (address string, err error)

// NewAuthenticate returns the tool offered for a server that requires sign-in. If begin is nil,
// the run cannot wait for it, and the tool describes an alternative for the user.
func NewAuthenticate(server *roster.Entry, begin SignIn) tool.Tool {
	return &signInTool{server: server, begin: begin, name: mcp.Names(server.Name, []string{authenticate})[authenticate]}
}

type signInTool struct {
	server *roster.Entry
	begin  SignIn
	name   string
}

// Spec implements [tool.Tool].
func (t *signInTool) Spec() msg.ToolSpec {
	return msg.ToolSpec{
		Name: t.name, Schema: json.RawMessage(`{"type":"object","properties":{}}`),
		Description: fmt.Sprintf("Begins signing in to the server %s, whose tools are there only once the user has signed in. Returns an address for the user to open.", t.server.Name),
	}
}

// Traits implements [tool.Tool].
func (t *signInTool) Traits() tool.Traits {
	return tool.Traits{Origin: "mcp:" + t.server.Name, Hint: "sign in, log in to, authenticate with " + t.server.Name}
}

// Remote implements [mcp.Remote].
func (t *signInTool) Remote() (server, tool string) { return t.server.Name, authenticate }

// Bind implements [tool.Tool]. It ignores the input.
func (t *signInTool) Bind(json.RawMessage) (tool.Call, error) { return signInCall{t}, nil }

// A signInCall is a call of the tool; it is its own input.
type signInCall struct{ tool *signInTool }

// MarshalJSON returns an empty object: the tool has no input.
func (signInCall) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func (c signInCall) Input() any      { return c }
func (c signInCall) OpenWorld() bool { return true }
func (c signInCall) DisplayName() string {
	return tool.OneLine(c.tool.server.Name, 30) + " - sign in (MCP)"
}
func (c signInCall) Title() string    { return c.DisplayName() }
func (c signInCall) Activity() string { return c.DisplayName() }

// Run starts the sign-in.
func (c signInCall) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	name := c.tool.server.Name
	if c.tool.begin == nil {
		return tool.Result{}, fmt.Errorf("the user has to sign in to %s first, which this run cannot wait for. Tell them to run `adze mcp login %s` and to try again", name, name)
	}
	address, err := c.tool.begin(ctx, name)
	if err != nil {
		return tool.Result{}, err
	}
	text := fmt.Sprintf("Give the user this address, exactly as it is, to open in a web browser on this machine within 5 minutes:\n\n%s\n\n"+
		"The tools of %s become available when they have signed in; you will be notified. If the browser is on another machine, they can run `adze mcp login %s` at a terminal instead. Do not open the address yourself.", address, name, name)
	return tool.Result{Parts: []msg.Part{&msg.Text{Text: text}}, Display: tool.Plain{Text: "waiting for you to sign in with a web browser"}}, nil
}

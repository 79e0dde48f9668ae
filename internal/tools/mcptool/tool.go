package mcptool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/schema/draft"
)

// maxTitle is the maximum length of a displayed title, chosen so that it fits into a line
// together with the server's name.
const maxTitle = 40

// A serverTool is a server's tool.
type serverTool struct {
	cfg    *Config
	server *roster.Entry
	about  mcp.Tool
	name   string // name for models and rules
	doc    string
	input  json.RawMessage // schema for the model
	origin string
	always bool

	schema func() *draft.Schema // nil if it cannot be compiled
}

func newTool(cfg *Config, o mcp.OfferedTool, name string) *serverTool {
	t := &serverTool{cfg: cfg, server: o.Server, about: o.Tool, name: name, doc: strings.TrimSpace(o.Tool.Description)}
	t.origin = "mcp:" + o.Server.Name
	if t.doc == "" {
		t.doc = t.about.Name
	}
	t.about.Schema = tidy(t.about.Schema)
	if t.input = unversioned(t.about.Schema); len(bytes.TrimSpace(t.input)) == 0 {
		t.input = json.RawMessage(`{"type":"object"}`)
	}
	t.always = (o.Tool.AlwaysLoad || o.Server.AlwaysLoad) && !slices.Contains(cfg.IgnoreAlwaysLoad, o.Server.Name)
	t.schema = sync.OnceValue(t.compile)
	return t
}

// compile compiles the schema. If it is invalid, only the server validates the input.
func (t *serverTool) compile() *draft.Schema {
	source := t.about.Schema // includes the version
	if len(bytes.TrimSpace(source)) == 0 {
		source = t.input
	}
	s, err := draft.Compile(source)
	if err == nil {
		return s
	}
	if t.cfg.Say != nil {
		t.cfg.Say(fmt.Sprintf("The schema of %s is unusable, so only the server checks its input: %s", t.name, tool.OneLine(err.Error(), 200)))
	}
	return nil
}

// Spec implements [tool.Tool].
func (t *serverTool) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: t.name, Description: t.doc, Schema: t.input}
}

// Traits implements [tool.Tool].
func (t *serverTool) Traits() tool.Traits {
	return tool.Traits{
		Origin: t.origin, Hint: t.about.Hint, Core: t.always, Clearable: true,
		MaxChars: max(tool.DefaultMaxChars, charsPerToken*t.cfg.Content.MaxTokens), Output: t.cfg.output,
	}
}

// Remote implements [mcp.Remote].
func (t *serverTool) Remote() (server, tool string) { return t.server.Name, t.about.Name }

// charsPerToken is an upper bound: results are limited in tokens before, unless a hook replaces
// them.
const charsPerToken = 6

// Bind implements [tool.Tool]: it validates the input against the server's schema.
func (t *serverTool) Bind(input json.RawMessage) (tool.Call, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(input, &object); err != nil || object == nil {
		return nil, &tool.InputError{Err: fmt.Errorf("invalid input for %s: not a JSON object", t.name)}
	}
	if draft.Deep(input) {
		return nil, &tool.InputError{Err: fmt.Errorf("invalid input for %s: it is nested too deeply", t.name)}
	}
	s := t.schema()
	if s == nil {
		return &call{t, Input{input}}, nil
	}
	err := s.Check(input)
	if err == nil || errors.Is(err, draft.ErrCost) {
		return &call{t, Input{input}}, nil
	}
	if fixed, ok := s.Repair(input); ok {
		return &call{t, Input{fixed}}, nil
	}
	return nil, &tool.InputError{Err: fmt.Errorf("invalid input for %s: %w", t.name, err)}
}

// title returns the server's title for the tool.
func (t *serverTool) title() string {
	title := tool.OneLine(t.about.Title, maxTitle)
	if title == "" {
		title = tool.OneLine(t.about.Name, maxTitle)
	}
	return title
}

// displayName starts with the server's name and ends with "(MCP)", so that no title can pass
// for a built-in tool.
func (t *serverTool) displayName() string {
	return tool.OneLine(t.server.Name, 30) + " - " + t.title() + " (MCP)"
}

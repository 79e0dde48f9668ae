package wire

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// A strangeTool is one that is not there now: a server's that is not connected, or one of another
// version. It is judged by its name and by what its input says.
type strangeTool string

// Spec names the tool.
func (t strangeTool) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: string(t), Schema: json.RawMessage(`{"type":"object"}`)}
}

// Traits says whose tool it is, as far as the name does.
func (t strangeTool) Traits() tool.Traits {
	if rest, ok := strings.CutPrefix(string(t), "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return tool.Traits{Origin: "mcp:" + server}
	}
	return tool.Traits{}
}

// Bind takes any object.
func (t strangeTool) Bind(input json.RawMessage) (tool.Call, error) {
	c := &strangeCall{name: string(t)}
	if err := json.Unmarshal(input, &c.in); err != nil {
		return nil, err
	}
	return c, nil
}

// A strangeCall knows of itself what rules may ask: where it connects to, and which agent or skill it
// names.
type strangeCall struct {
	name string
	in   map[string]any
}

func (c *strangeCall) Input() any { return c.in }

// Run fails: there is nothing to run.
func (c *strangeCall) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	return tool.Result{}, errors.New("there is no such tool")
}

// Access names the page that is fetched, if it is one.
func (c *strangeCall) Access() []tool.Access {
	if url, ok := c.in["url"].(string); ok {
		return []tool.Access{{Verb: tool.Connect, Target: url}}
	}
	return nil
}

// Match compares the name of an agent or a skill; name:* is all names that begin so.
func (c *strangeCall) Match(content string) (bool, error) {
	for _, key := range []string{"subagent_type", "skill", "command", "name"} {
		value, ok := c.in[key].(string)
		if !ok {
			continue
		}
		if prefix, open := strings.CutSuffix(content, ":*"); open {
			return strings.HasPrefix(value, prefix), nil
		}
		return value == content, nil
	}
	return false, nil
}

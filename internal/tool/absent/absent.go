// Package absent provides placeholders for unavailable tools, so that rules can be evaluated
// for their calls.
package absent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// A Tool is a placeholder for a currently unavailable tool: one from a disconnected server or
// another version. It is judged by its name and input.
type Tool string

// Spec names the tool.
func (t Tool) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: string(t), Schema: json.RawMessage(`{"type":"object"}`)}
}

// Traits returns the tool's origin, as far as the name reveals it.
func (t Tool) Traits() tool.Traits {
	if rest, ok := strings.CutPrefix(string(t), "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return tool.Traits{Origin: "mcp:" + server}
	}
	return tool.Traits{}
}

// Bind accepts any object.
func (t Tool) Bind(input json.RawMessage) (tool.Call, error) {
	c := &call{name: string(t)}
	if err := json.Unmarshal(input, &c.in); err != nil {
		return nil, err
	}
	return c, nil
}

// A call answers the questions rules may have: the host it connects to, and the agent or skill
// it names.
type call struct {
	name string
	in   map[string]any
}

func (c *call) Input() any { return c.in }

// Run always fails.
func (c *call) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	return tool.Result{}, errors.New("no such tool")
}

// Access returns the page that is fetched, if any.
func (c *call) Access() []tool.Access {
	if url, ok := c.in["url"].(string); ok {
		return []tool.Access{{Verb: tool.Connect, Target: url}}
	}
	return nil
}

// Match compares the name of an agent or a skill; name:* matches all names with that prefix.
func (c *call) Match(content string) (bool, error) {
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

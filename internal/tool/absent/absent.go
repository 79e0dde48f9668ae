// Package absent stands in for tools that are not there now, so that rules can be asked about calls of them.
package absent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"adze/internal/msg"
	"adze/internal/tool"
)

// A Tool is one that is not there now: a server's that is not connected, or one of another
// version. It is judged by its name and by what its input says.
type Tool string

// Spec names the tool.
func (t Tool) Spec() msg.ToolSpec {
	return msg.ToolSpec{Name: string(t), Schema: json.RawMessage(`{"type":"object"}`)}
}

// Traits says whose tool it is, as far as the name does.
func (t Tool) Traits() tool.Traits {
	if rest, ok := strings.CutPrefix(string(t), "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return tool.Traits{Origin: "mcp:" + server}
	}
	return tool.Traits{}
}

// Bind takes any object.
func (t Tool) Bind(input json.RawMessage) (tool.Call, error) {
	c := &call{name: string(t)}
	if err := json.Unmarshal(input, &c.in); err != nil {
		return nil, err
	}
	return c, nil
}

// A call knows of itself what rules may ask: where it connects to, and which agent or skill it
// names.
type call struct {
	name string
	in   map[string]any
}

func (c *call) Input() any { return c.in }

// Run fails: there is nothing to run.
func (c *call) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	return tool.Result{}, errors.New("there is no such tool")
}

// Access names the page that is fetched, if it is one.
func (c *call) Access() []tool.Access {
	if url, ok := c.in["url"].(string); ok {
		return []tool.Access{{Verb: tool.Connect, Target: url}}
	}
	return nil
}

// Match compares the name of an agent or a skill; name:* is all names that begin so.
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

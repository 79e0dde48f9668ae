package bash

import (
	"bytes"
	"encoding/json"
	"strings"

	"adze/internal/tool"
)

// leaveField is the field by which the model asks for a command outside the sandbox.
const leaveField = "dangerouslyDisableSandbox"

// A LeavingInput is what the model gives where it may ask to leave the sandbox.
type LeavingInput struct {
	Input
	Leave bool `json:"dangerouslyDisableSandbox,omitempty"`
}

// schemaOf returns the input schema: with the field only if what it asks for can be granted.
func schemaOf(c Config) json.RawMessage {
	text := strings.TrimSpace(inputSchema)
	if c.MayLeave {
		text = strings.Replace(text, `},"required"`, `,"`+leaveField+`":{"type":"boolean","description":"Run the command outside the sandbox. The person is asked each time: only if it failed because of the sandbox."}},"required"`, 1)
	}
	return json.RawMessage(text)
}

// A tolerant tool takes the field although its schema does not have it: other programs offer it, and
// models remember it. It changes nothing, and the result says so.
type tolerant struct{ tool.Tool }

func (t tolerant) Bind(input json.RawMessage) (tool.Call, error) {
	if !bytes.Contains(input, []byte(leaveField)) {
		return t.Tool.Bind(input)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil || fields[leaveField] == nil {
		return t.Tool.Bind(input)
	}
	asked := string(fields[leaveField]) == "true"
	delete(fields, leaveField)
	rest, err := json.Marshal(fields)
	if err != nil {
		return t.Tool.Bind(input)
	}
	c, err := t.Tool.Bind(rest)
	if own, ok := c.(*call); ok && asked {
		own.ignored = leaveField + " was ignored: nobody allows commands to be run outside the sandbox on request."
		if own.config.Wrap == nil {
			own.ignored = leaveField + " was ignored: there is no sandbox."
		}
	}
	return c, err
}

// Unsandboxed says that the command asks to be run outside the sandbox, which has to be asked about.
func (c *call) Unsandboxed() bool { return c.leave }

// outside reports whether the command runs without a sandbox.
func (c *call) outside() bool {
	return c.config.Wrap == nil || c.leave || c.config.Outside != nil && c.config.Outside(c.script)
}

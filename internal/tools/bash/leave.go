package bash

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"adze/internal/platform/jail"
	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
	"adze/internal/platform/texts"
	"adze/internal/tool"
	"adze/internal/tool/command"
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
	text := command.InputSchema()
	if c.mayLeave {
		text = strings.Replace(text, `},"required"`, `,"`+leaveField+`":{"type":"boolean","description":"`+catalogue.Text(texts.English, leaveField)+`"}},"required"`, 1)
	}
	return json.RawMessage(text)
}

// A lenientTool tool takes the field although its schema does not have it: other programs offer it, and
// models remember it. It changes nothing, and the result says so.
type lenientTool struct{ tool.Tool }

func (t lenientTool) Bind(input json.RawMessage) (tool.Call, error) {
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
		own.ignored = leaveField + " was ignored: the settings do not allow commands outside the sandbox on request."
		if !own.config.confines() {
			own.ignored = leaveField + " was ignored: there is no sandbox."
		}
	}
	return c, err
}

// A Sandbox confines commands. What its methods answer may change with the settings.
type Sandbox interface {
	// On reports whether commands are to be confined.
	On() bool
	// Wrap puts a command into the sandbox, or says why that cannot be done: then it does not run. When it
	// has ended, end is given the last of what it printed and returns what the model has to know about the
	// limits it met, and what was taken back of what it did, or "".
	Wrap(osproc.Cmd) (cmd osproc.Cmd, end func(printed string) (limits, undone string), err error)
	// Aside is called when a command runs outside the sandbox, and resume when it has ended: what it makes is
	// not taken for the work of commands in the sandbox that run meanwhile.
	Aside() (resume func())
	// Read is like Wrap for a command that only reads, and that stays in its jail inside the sandbox. End is called
	// when it has ended.
	Read(cmd osproc.Cmd, p *jail.Policy) (confined osproc.Cmd, end func(), err error)
	// Scratch returns a directory that commands can write to in the sandbox.
	Scratch() (string, error)
	// Outside returns which commands the settings let run outside the sandbox now.
	Outside() func(*shell.Script) bool
	// Leaves reports whether the model may ask for a command outside the sandbox; the user is then asked.
	Leaves() bool
}

// confines reports whether there is a sandbox for commands at the moment.
func (c Config) confines() bool { return c.Sandbox != nil && c.Sandbox.On() }

// decideSandbox prepares the decision whether the command runs without a sandbox. It is made when the
// command runs, once; what was loosened since it was bound, which is before it was judged, does not count.
func (c *call) decideSandbox() {
	box := c.config.Sandbox
	if box == nil {
		c.outside = func() bool { return true }
		return
	}
	bound := box.Outside()
	c.outside = sync.OnceValue(func() bool {
		if c.leave && box.Leaves() {
			return true
		}
		return bound(c.script) && box.Outside()(c.script)
	})
}

package bash

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox/jail"
	"adze/internal/platform/shell"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
	"adze/internal/tool/command"
)

// leaveField is the input field that requests to run a command outside the sandbox.
const leaveField = "dangerouslyDisableSandbox"

// SandboxInput is the input if the model may request to leave the sandbox.
type SandboxInput struct {
	Input
	Leave bool `json:"dangerouslyDisableSandbox,omitempty"`
}

// schemaOf returns the input schema. It has the field only if the request can be granted.
func schemaOf(c Config) json.RawMessage {
	text := command.InputSchema()
	if c.mayLeave {
		text = strings.Replace(text, `},"required"`, `,"`+leaveField+`":{"type":"boolean","description":"`+catalogue.Text(texts.English, leaveField)+`"}},"required"`, 1)
	}
	return json.RawMessage(text)
}

// A lenientTool accepts the field although its schema does not have it: other programs offer
// it, and models remember it. It has no effect, and the result mentions that.
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
			own.ignored = leaveField + " was ignored: no sandbox."
		}
	}
	return c, err
}

// A Sandbox confines commands. Its answers may change with the settings.
type Sandbox interface {
	// On reports whether commands must be confined.
	On() bool
	// Wrap puts a command into the sandbox. If it returns an error, the command is not run.
	// When the command has ended, end is called with the last part of its output. It returns
	// messages for the model about limits that the command hit and changes that were reverted,
	// or "".
	Wrap(osproc.Cmd) (cmd osproc.Cmd, end func(printed string) (limits, undone string), err error)
	// Aside is called when a command runs outside the sandbox, and resume when it has ended.
	// Its files are then not attributed to sandboxed commands that run concurrently.
	Aside() (resume func())
	// Read is like Wrap for a read-only command, which stays in its jail inside the sandbox.
	// End is called when it has ended.
	Read(cmd osproc.Cmd, p *jail.Policy) (confined osproc.Cmd, end func(), err error)
	// Scratch returns a directory that sandboxed commands can write to.
	Scratch() (string, error)
	// Outside returns a predicate for commands that the current settings let run outside the
	// sandbox.
	Outside() func(*shell.Script) bool
	// Leaves reports whether the model may request to run a command outside the sandbox, with
	// the user's confirmation.
	Leaves() bool
}

// confines reports whether commands are currently sandboxed.
func (c Config) confines() bool { return c.Sandbox != nil && c.Sandbox.On() }

// decideSandbox sets c.outside, which decides once, when the command runs, whether it runs
// unsandboxed. Settings loosened after the call was bound, which is before the check, do not
// count.
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

package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/setup"
	"adze/internal/tools/structured"
)

// An Output makes a conversation's turns end in a value matching a schema.
type Output struct {
	structured.Output
	Schemas *structured.Cache // workspace-wide; conversations may share a schema
}

// Open requires values matching the schema from a flag, if there is one.
func (o *Output) Open(schema json.RawMessage) error {
	if err := o.Require(schema); err != nil {
		return setup.Errorf("--json-schema: %v", err)
	}
	return nil
}

// Require requires future turns to end in a value matching a schema; nil changes nothing.
func (o *Output) Require(source json.RawMessage) error {
	if len(source) == 0 || bytes.Equal(source, []byte("null")) {
		return nil
	}
	schema, err := o.Schemas.Compile(source)
	if err != nil {
		return err
	}
	return o.Expect(schema)
}

// Goal returns the goal of a starting turn, or nil.
func (o *Output) Goal() agent.Goal {
	if !o.Begin() {
		return nil
	}
	return &valueGoal{output: &o.Output}
}

// A valueGoal ends a turn when the model has returned a value.
type valueGoal struct {
	output   *structured.Output
	reminded bool
}

// Reached implements [agent.Goal].
func (g *valueGoal) Reached() (agent.Ended, bool) {
	value, err := g.output.Value()
	switch {
	case err != nil:
		return agent.Ended{Reason: agent.StructuredOutputFailed, Detail: err.Error()}, true
	case value != nil:
		return agent.Ended{Reason: agent.Completed, Output: value}, true
	}
	return agent.Ended{}, false
}

// Missed implements [agent.Goal]. A model that returns nothing is reminded once.
func (g *valueGoal) Missed(last msg.Message) (remind string, end agent.Ended) {
	if end, reached := g.Reached(); reached {
		return "", end
	}
	if !g.reminded {
		g.reminded = true
		return fmt.Sprintf("The answer must be given with the tool %s. Call it now with the complete answer.", structured.Name), agent.Ended{}
	}
	detail := "the model did not return a value"
	if text := strings.TrimSpace(last.Text()); text != "" {
		detail += "; it said: " + text
	}
	return "", agent.Ended{Reason: agent.StructuredOutputFailed, Detail: detail}
}

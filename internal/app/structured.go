package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/tools/structured"
)

// expectFlag makes the turns end in a value of the shape that --json-schema gives, as text or as a file.
func (b *builder) expectFlag() error {
	if !b.o.given["json-schema"] {
		return nil
	}
	source := []byte(b.o.schema)
	if !strings.HasPrefix(strings.TrimSpace(b.o.schema), "{") {
		var err error
		source, err = os.ReadFile(b.o.schema)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return setupErrorf("--json-schema: %q is neither a JSON object nor a file", b.o.schema)
		case err != nil:
			return setupErrorf("--json-schema: %v", err)
		}
	}
	if err := b.expect(source); err != nil {
		return setupErrorf("--json-schema: %v", err)
	}
	return nil
}

// expect makes the turns end in a value of the shape that a schema gives; none changes nothing.
func (b *builder) expect(source json.RawMessage) error {
	if len(source) == 0 || bytes.Equal(source, []byte("null")) {
		return nil
	}
	schema, err := b.schemas.Compile(source)
	if err != nil {
		return err
	}
	return b.output.Expect(schema)
}

// goal returns what the turn that begins has to come to, or nil.
func (b *builder) goal() agent.Goal {
	if !b.output.Begin() {
		return nil
	}
	return &valueGoal{output: &b.output}
}

// A valueGoal ends a turn when the model has handed over a value.
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

// Missed implements [agent.Goal]. A model that hands over nothing is reminded once.
func (g *valueGoal) Missed(last msg.Message) (remind string, end agent.Ended) {
	if end, reached := g.Reached(); reached {
		return "", end
	}
	if !g.reminded {
		g.reminded = true
		return fmt.Sprintf("The answer has to be handed over with the tool %s. Call it now with the complete answer.", structured.Name), agent.Ended{}
	}
	detail := "the model did not hand over a value"
	if text := strings.TrimSpace(last.Text()); text != "" {
		detail += "; it said: " + text
	}
	return "", agent.Ended{Reason: agent.StructuredOutputFailed, Detail: detail}
}

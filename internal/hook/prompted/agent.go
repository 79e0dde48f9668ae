package prompted

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/agent/sidequery"
	"adze/internal/hook"
	"adze/internal/platform/text/texts"
)

// maxTurns limits an agent's requests.
const maxTurns = 50

// A Checker uses agents to decide whether conditions are met.
type Checker struct {
	// Run runs an agent until it answers with a value that fits the schema. It must return when
	// ctx is done.
	Run      func(ctx context.Context, i Inquiry) (json.RawMessage, error)
	Language func() texts.Language
}

// An Inquiry is an agent's assignment.
type Inquiry struct {
	System string // system prompt
	Prompt string // the condition, with the event
	Model  string // model name in the hook; empty means the small one
	// Schema is the schema of its answer.
	Schema   json.RawMessage
	MaxTurns int
}

const answerSchema = `{"type":"object","properties":{"reason":{"type":"string"},"ok":{"type":"boolean"},"additionalContext":{"type":"string"}},"required":["reason","ok"],"additionalProperties":false}`

// Ask returns an agent's opinion. It has the signature required by [hook.Judges].
func (c Checker) Ask(ctx context.Context, a hook.PromptRequest) (hook.Opinion, error) {
	if len(a.Input) > maxInput {
		return hook.Opinion{}, fmt.Errorf("the event is too long for an agent (%d bytes)", len(a.Input))
	}
	seal := sidequery.NewNonce()
	answer, err := c.Run(ctx, Inquiry{
		System: catalogue.Text(c.Language(), "agent", string(seal)), Prompt: question(seal, a),
		Model: a.Model, Schema: json.RawMessage(answerSchema), MaxTurns: maxTurns,
	})
	if err != nil {
		return hook.Opinion{}, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(answer, &members); err != nil {
		return hook.Opinion{}, fmt.Errorf("%w: it did not say whether the condition is met", sidequery.ErrUnusable)
	}
	return opinion(members)
}

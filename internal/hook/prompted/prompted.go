// Package prompted asks a model, for prompt hooks, or an agent, for agent hooks, whether an
// event meets the condition stated in the hook. Anything but a clear answer is an error, after
// which the hook counts as giving no verdict.
package prompted

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/hook"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

const (
	// maxInput is the maximum size in bytes of an event that a model reads: it reads all of it
	// or nothing.
	maxInput  = 100_000
	maxTokens = 2048
	// maxTime is longer than any hook's own limit, which applies instead.
	maxTime = time.Hour
)

// Config configures prompt hooks.
type Config struct {
	Small *sidequery.SmallModel
	// Resolve returns the ID of the model that a hook names.
	Resolve  func(name string) (id string, err error)
	Language func() texts.Language
}

const schema = `{"type":"object","properties":{"seal":{"type":"string"},"reason":{"type":"string"},"ok":{"type":"boolean"},"additionalContext":{"type":"string"}},"required":["seal","reason","ok","additionalContext"],"additionalProperties":false}`

// Ask returns a model's opinion. It has the signature required by [hook.Judges].
func (c Config) Ask(ctx context.Context, a hook.PromptRequest) (hook.Opinion, error) {
	if len(a.Input) > maxInput {
		return hook.Opinion{}, fmt.Errorf("the event is too long for a model (%d bytes)", len(a.Input))
	}
	q := sidequery.Question{Purpose: "prompt hooks", MaxTokens: maxTokens, Timeout: maxTime, Format: json.RawMessage(schema)}
	if a.Model != "" {
		id, err := c.Resolve(a.Model)
		if err != nil {
			return hook.Opinion{}, err
		}
		q.Model = id
	}
	seal := sidequery.NewNonce()
	q.System = []msg.Part{&msg.Text{Text: catalogue.Text(c.Language(), "system", string(seal))}}
	q.Messages = []msg.Message{msg.UserText(question(seal, a))}
	answer, err := c.Small.Ask(ctx, q)
	if err != nil {
		return hook.Opinion{}, err
	}
	members, err := seal.Open(answer)
	if err != nil {
		return hook.Opinion{}, err
	}
	return opinion(members)
}

// opinion decodes the members of an answer.
func opinion(members map[string]json.RawMessage) (hook.Opinion, error) {
	var o hook.Opinion
	var ok *bool
	if json.Unmarshal(members["ok"], &ok) != nil || ok == nil {
		return hook.Opinion{}, fmt.Errorf("%w: it does not say whether the condition is met", sidequery.ErrUnusable)
	}
	o.OK = *ok
	for name, into := range map[string]*string{"reason": &o.Reason, "additionalContext": &o.Context} {
		if value, given := members[name]; given && json.Unmarshal(value, into) != nil {
			return hook.Opinion{}, fmt.Errorf("%w: its %s is not a string", sidequery.ErrUnusable, name)
		}
	}
	return o, nil
}

// question returns a hook's prompt with the event inserted or appended.
func question(seal sidequery.Nonce, a hook.PromptRequest) string {
	const place = "$ARGUMENTS"
	event := seal.Quote("event", string(a.Input))
	if !strings.Contains(a.Prompt, place) {
		return a.Prompt + "\n\n" + event
	}
	return strings.ReplaceAll(a.Prompt, place, event)
}

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

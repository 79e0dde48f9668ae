// Package prompted asks a model for hooks of type prompt, and has an agent find out for hooks of type agent: whether what
// happens meets the condition that the hook states in words. How agents run is left to its caller. When hooks run, how long they may take, and what follows from an answer is left to package hook;
// whatever is not a clear answer is an error, after which the hook counts as one that gave no verdict.
package prompted

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/hook"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

const (
	// maxInput is how long an event may be that a model reads, in bytes: it reads all of it or nothing.
	maxInput  = 100_000
	maxTokens = 2048
	// maxTime is more than a hook gets: its own limit counts.
	maxTime = time.Hour
)

// A Config is what the hooks are asked with.
type Config struct {
	Small *aside.Small
	// Resolve returns the id of the model that a hook names.
	Resolve  func(name string) (id string, err error)
	Language func() texts.Language
}

const schema = `{"type":"object","properties":{"seal":{"type":"string"},"reason":{"type":"string"},"ok":{"type":"boolean"},"additionalContext":{"type":"string"}},"required":["seal","reason","ok","additionalContext"],"additionalProperties":false}`

// Ask returns the opinion of a model. It has the form of [hook.Judges].
func (c Config) Ask(ctx context.Context, a hook.Asking) (hook.Opinion, error) {
	if len(a.Input) > maxInput {
		return hook.Opinion{}, fmt.Errorf("the event is too long for a model (%d bytes)", len(a.Input))
	}
	q := aside.Question{Purpose: "prompt hooks", MaxTokens: maxTokens, Timeout: maxTime, Format: json.RawMessage(schema)}
	if a.Model != "" {
		id, err := c.Resolve(a.Model)
		if err != nil {
			return hook.Opinion{}, err
		}
		q.Model = id
	}
	seal := aside.NewSeal()
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

// opinion reads the members of an answer.
func opinion(members map[string]json.RawMessage) (hook.Opinion, error) {
	var o hook.Opinion
	var ok *bool
	if json.Unmarshal(members["ok"], &ok) != nil || ok == nil {
		return hook.Opinion{}, fmt.Errorf("%w: it does not say whether the condition is met", aside.ErrUnusable)
	}
	o.OK = *ok
	for name, into := range map[string]*string{"reason": &o.Reason, "additionalContext": &o.Context} {
		if value, given := members[name]; given && json.Unmarshal(value, into) != nil {
			return hook.Opinion{}, fmt.Errorf("%w: its %s is no text", aside.ErrUnusable, name)
		}
	}
	return o, nil
}

// question returns the prompt of a hook with the event in its place, or behind it.
func question(seal aside.Seal, a hook.Asking) string {
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

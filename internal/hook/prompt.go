package hook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// An Asking is what a hook of type prompt asks a model, or one of type agent an agent.
type Asking struct {
	Prompt string          // as the hook has it; $ARGUMENTS stands for the input
	Input  json.RawMessage // the event
	Model  string          // as the hook names it; empty means the small one
}

// An Opinion is what the model or agent says: whether the condition of the prompt is met. What is not met blocks, with the
// reason; Context is for the conversation. Both may be empty.
type Opinion struct {
	OK              bool
	Reason, Context string
}

// ask runs a hook that puts a condition to a model or an agent; without a way to ask, unable says why. An opinion counts like
// the output of a command that says the same.
func ask(ctx context.Context, j *job, answer func(context.Context, Asking) (Opinion, error), unable string) ending {
	return call(ctx, func(ctx context.Context) (json.RawMessage, error) {
		if answer == nil {
			return nil, errors.New(unable)
		}
		o, err := answer(ctx, Asking{Prompt: j.hook.prompt, Input: j.input, Model: j.hook.model})
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		if !o.OK {
			out["decision"], out["reason"] = "block", firstOf(o.Reason, "the condition of the hook is not met")
		}
		if o.Context != "" && strings.Contains(j.kind.fields, contextField) {
			out["hookSpecificOutput"] = map[string]any{"hookEventName": j.kind.name, "additionalContext": o.Context}
		}
		return json.Marshal(out)
	})
}

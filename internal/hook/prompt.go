package hook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// A PromptRequest is a prompt hook's question to a model, or an agent hook's to an agent.
type PromptRequest struct {
	Prompt string          // hook's prompt; $ARGUMENTS is replaced by the input
	Input  json.RawMessage // the event
	Model  string          // model name in the hook; empty means the small one
}

// An Opinion is the answer of the model or agent: whether the prompt's condition is met. If
// not, it blocks with the reason; Context is for the conversation. Both may be empty.
type Opinion struct {
	OK              bool
	Reason, Context string
}

// ask runs a prompt or agent hook; if answer is nil, unable is the reason it cannot run. An
// opinion is treated like the equivalent command output.
func ask(ctx context.Context, j *job, answer func(context.Context, PromptRequest) (Opinion, error), unable string) ending {
	return call(ctx, func(ctx context.Context) (json.RawMessage, error) {
		if answer == nil {
			return nil, errors.New(unable)
		}
		o, err := answer(ctx, PromptRequest{Prompt: j.hook.prompt, Input: j.input, Model: j.hook.model})
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

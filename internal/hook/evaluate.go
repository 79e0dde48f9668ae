package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxAgentIterations bounds the work of a hook that is a sub-agent.
const maxAgentIterations = 50

// placeholder stands for the input in the prompt of a hook.
const placeholder = "$ARGUMENTS"

// instructions tell a model how to answer.
const instructions = `

Answer with one JSON object and nothing else: {"ok": true} if the condition holds, {"ok": false, "reason": "why not"} if it does not. To tell the assistant something, add "additionalContext".`

// evaluate lets a model or a sub-agent judge the event.
func (r *Runner) evaluate(ctx context.Context, j *job) ending {
	ask := r.cfg.Prompt
	if j.typ == TypeAgent {
		ask = r.cfg.Agent
	}
	if ask == nil {
		return failed(fmt.Errorf("hooks of type %s are not available here", j.typ))
	}
	q := Query{Prompt: fillIn(j.prompt, j.input) + instructions, Model: j.model}
	if j.typ == TypeAgent {
		q.MaxIterations = maxAgentIterations
	}
	return r.call(ctx, func(ctx context.Context) (json.RawMessage, error) {
		text, err := ask(ctx, q)
		if err != nil {
			return nil, err
		}
		return verdict(j.event, text)
	})
}

// fillIn puts the input where the prompt wants it, or after it.
func fillIn(prompt string, input json.RawMessage) string {
	if strings.Contains(prompt, placeholder) {
		return strings.ReplaceAll(prompt, placeholder, string(input))
	}
	return prompt + "\n\n" + string(input)
}

// verdict turns a model's answer into the output of a hook.
func verdict(event Name, text string) (json.RawMessage, error) {
	data := []byte(text)
	if i, n := bytes.IndexByte(data, '{'), bytes.LastIndexByte(data, '}'); i >= 0 && n > i {
		data = data[i : n+1] // models like to put a fence around it
	}
	var answer struct {
		OK      *bool  `json:"ok"`
		Reason  string `json:"reason"`
		Context string `json:"additionalContext"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("the model's answer is not the JSON that was asked for: %w", err)
	}
	if answer.OK == nil {
		return nil, errors.New(`the model's answer has no "ok"`)
	}
	out := map[string]any{}
	if !*answer.OK {
		out["decision"], out["reason"] = "block", firstOf(answer.Reason, "the condition does not hold")
	}
	if answer.Context != "" {
		out["hookSpecificOutput"] = map[string]any{"hookEventName": event, "additionalContext": answer.Context}
	}
	return json.Marshal(out)
}

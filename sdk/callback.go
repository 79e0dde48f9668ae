package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Call is a call of a tool that needs a decision, or was refused.
type Call struct {
	ID    string          `json:"tool_use_id"`
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"input"`
	// Title is a description of one line, Reason the cause of the question, and Warning a danger
	// of the call. All may be empty.
	Title   string `json:"title"`
	Reason  string `json:"decision_reason"`
	Warning string `json:"description"`
	Agent   string `json:"agent_id"` // the sub-agent that calls, or ""
}

// UnmarshalJSON accepts the input under the name that results give it, too.
func (c *Call) UnmarshalJSON(data []byte) error {
	type fields Call
	w := struct {
		*fields
		Denied json.RawMessage `json:"tool_input"`
	}{fields: (*fields)(c)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if c.Input == nil {
		c.Input = w.Denied
	}
	return nil
}

// A Decision allows a call or denies it.
type Decision struct {
	allow     bool
	message   string
	interrupt bool
	input     json.RawMessage
}

// Allow returns the decision that lets a call run.
func Allow() Decision { return Decision{allow: true} }

// AllowWith lets a call run with another input.
func AllowWith(input any) (Decision, error) {
	data, err := json.Marshal(input)
	return Decision{allow: true, input: data}, err
}

// Deny refuses a call. The model gets the reason and continues.
func Deny(why string) Decision { return Decision{message: why} }

// Stop refuses a call and ends the turn.
func Stop(why string) Decision { return Decision{message: why, interrupt: true} }

// MarshalJSON returns the decision as adze reads it.
func (d Decision) MarshalJSON() ([]byte, error) {
	w := map[string]any{"behavior": "deny", "message": d.message}
	switch {
	case d.allow && d.input != nil:
		w = map[string]any{"behavior": "allow", "updatedInput": d.input}
	case d.allow:
		w = map[string]any{"behavior": "allow"}
	case d.interrupt:
		w["interrupt"] = true
	}
	return json.Marshal(w)
}

// A Hook is called at an event of the session, such as PreToolUse or SessionStart; docs/hooks.md
// lists them. An error blocks the action.
type Hook struct {
	Event   string
	Matcher string // such as a tool's name; empty matches everything
	Timeout time.Duration
	Run     func(context.Context, HookInput) (HookOutput, error)
}

// A HookInput describes an event. JSON holds all of its fields.
type HookInput struct {
	Event    string          `json:"hook_event_name"`
	Session  string          `json:"session_id"`
	Dir      string          `json:"cwd"`
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Prompt   string          `json:"prompt"`
	JSON     json.RawMessage `json:"-"`
}

// A HookOutput is the decision of a hook. The zero value changes nothing.
type HookOutput struct {
	// Block refuses the action, with this reason for the model.
	Block string
	// Context is added for the model.
	Context string
	// Permission decides about a call, before PreToolUse: allow, deny or ask.
	Permission string
	// Input replaces the input of a call, before PreToolUse.
	Input any
	// Stop ends the turn, with this reason for the user.
	Stop string
}

// answer returns the output as adze reads it.
func (o HookOutput) answer(event string) map[string]any {
	answer := map[string]any{}
	specific := map[string]any{"hookEventName": event}
	if o.Stop != "" {
		answer["continue"], answer["stopReason"] = false, o.Stop
	}
	if o.Block != "" {
		answer["decision"], answer["reason"] = "block", o.Block
	}
	if o.Context != "" {
		specific["additionalContext"] = o.Context
	}
	if o.Permission != "" {
		specific["permissionDecision"] = o.Permission
	}
	if o.Input != nil {
		specific["updatedInput"] = o.Input
	}
	if len(specific) > 1 {
		answer["hookSpecificOutput"] = specific
	}
	return answer
}

// runHook calls a hook by the ID that initialize gave it.
func (s *Session) runHook(ctx context.Context, id string, data json.RawMessage) (any, error) {
	for i, h := range s.hooks {
		if hookID(i) != id {
			continue
		}
		in := HookInput{JSON: data}
		if err := json.Unmarshal(data, &in); err != nil {
			return nil, fmt.Errorf("the input of the hook: %w", err)
		}
		out, err := h.Run(ctx, in)
		if err != nil {
			out = HookOutput{Block: err.Error()}
		}
		return out.answer(h.Event), nil
	}
	return nil, fmt.Errorf("no hook %q", id)
}

func hookID(i int) string { return fmt.Sprint("hook-", i) }

// hookRequest returns the hooks as initialize lists them.
func hookRequest(hooks []Hook) map[string][]map[string]any {
	all := map[string][]map[string]any{}
	for i, h := range hooks {
		one := map[string]any{"hookCallbackIds": []string{hookID(i)}}
		if h.Matcher != "" {
			one["matcher"] = h.Matcher
		}
		if h.Timeout > 0 {
			one["timeout"] = h.Timeout.Seconds()
		}
		all[h.Event] = append(all[h.Event], one)
	}
	return all
}

// decide answers a question about a call. An error denies.
func (s *Session) decide(ctx context.Context, data json.RawMessage) (any, error) {
	if s.permit == nil {
		return Deny("nobody can allow it"), nil
	}
	var c Call
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	d, err := s.permit(ctx, c)
	if err != nil {
		return Deny(err.Error()), nil
	}
	return d, nil
}

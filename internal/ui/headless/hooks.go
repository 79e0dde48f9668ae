package headless

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/msg"
	"adze/internal/ui/streamjson"
)

// runHook sends a hook callback request to the host and waits for the answer.
func (sv *server) runHook(ctx context.Context, id string, input json.RawMessage, useID string) (json.RawMessage, error) {
	return sv.call(ctx, func(o *streamjson.Object) {
		o.Str("subtype", "hook_callback")
		o.Str("callback_id", id)
		o.Raw("input", input)
		o.StrIf("tool_use_id", useID)
	})
}

// sendMessage forwards a message to a server of the host and returns the host's answer.
func (sv *server) sendMessage(ctx context.Context, name string, message json.RawMessage) (json.RawMessage, error) {
	body, err := sv.call(ctx, func(o *streamjson.Object) {
		o.Str("subtype", "mcp_message")
		o.Str("server_name", name)
		o.Raw("message", message)
	})
	if err != nil {
		return nil, err
	}
	var r struct {
		Response json.RawMessage `json:"mcp_response"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the host's answer for the server %s is not valid", name)
	}
	return r.Response, nil
}

// call sends the host a request and waits for the answer.
func (sv *server) call(ctx context.Context, fill func(*streamjson.Object)) (json.RawMessage, error) {
	request := msg.NewID()
	o := &streamjson.Object{}
	o.Str("type", "control_request")
	o.Str("request_id", request)
	o.Object("request", fill)
	answer, forget, err := sv.pending.call(request)
	if err != nil {
		return nil, err
	}
	defer forget()
	sv.f.out.Write(o.Line())
	select {
	case r := <-answer:
		return r.body, r.err
	case <-ctx.Done():
		o := &streamjson.Object{}
		o.Str("type", "control_cancel_request")
		o.Str("request_id", request)
		sv.f.out.Write(o.Line())
		return nil, context.Cause(ctx)
	}
}

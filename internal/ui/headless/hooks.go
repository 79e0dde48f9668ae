package headless

import (
	"context"
	"encoding/json"

	"adze/internal/msg"
	"adze/internal/ui/streamjson"
)

// runHook asks the host to run one of its hooks and waits for the answer.
func (sv *server) runHook(ctx context.Context, id string, input json.RawMessage, useID string) (json.RawMessage, error) {
	request := msg.NewID()
	o := &streamjson.Object{}
	o.Str("type", "control_request")
	o.Str("request_id", request)
	o.Object("request", func(o *streamjson.Object) {
		o.Str("subtype", "hook_callback")
		o.Str("callback_id", id)
		o.Raw("input", input)
		o.StrIf("tool_use_id", useID)
	})
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

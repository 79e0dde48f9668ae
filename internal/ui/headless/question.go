package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/ui/streamjson"
)

// asked sends a question to the host, or refuses it if there is no host to ask. Hosts are asked about permissions only.
func (f *Front) asked(ctx context.Context, q session.Asked) {
	p, ok := q.Question.(session.Permission)
	if ok && f.host != nil && f.host.ask(question{q, canUseTool(q.ID, p)}) {
		f.host.state(true)
		return
	}
	f.refuse(ctx, q)
}

// refuse answers a question with the reply for when it cannot be asked.
func (f *Front) refuse(ctx context.Context, q session.Asked) {
	f.cfg.Session.Submit(ctx, session.Answer{ID: q.ID, Reply: q.Unanswered()}) // ok: a question that is settled needs no answer
}

// settled withdraws a question that was answered elsewhere or needs no answer any more.
func (f *Front) settled(q session.Settled) {
	if f.host == nil {
		return
	}
	if f.host.pending.drop(q.ID) {
		o := &streamjson.Object{}
		o.Str("type", "control_cancel_request")
		o.Str("request_id", q.ID)
		f.out.Write(o.Line())
	}
	f.host.state(true)
}

// ask sends a question to the host. It reports whether the host can be asked.
func (sv *server) ask(q question) bool {
	if !sv.h.Asks || !sv.pending.ask(q) {
		return false
	}
	sv.f.out.Write(q.request)
	return true
}

// canUseTool returns the request that asks the host whether a call may run.
func canUseTool(id string, q session.Permission) []byte {
	o := &streamjson.Object{}
	o.Str("type", "control_request")
	o.Str("request_id", id)
	o.Object("request", func(o *streamjson.Object) {
		o.Str("subtype", "can_use_tool")
		o.Str("tool_name", q.Tool)
		o.Raw("input", q.Input)
		o.Str("tool_use_id", q.ID)
		o.Value("permission_suggestions", q.Suggestions)
		o.StrIf("blocked_path", q.BlockedPath)
		o.StrIf("decision_reason", q.Reason.Text)
		o.StrIf("decision_reason_type", string(q.Reason.Type))
		o.StrIf("title", q.Title)
		o.StrIf("display_name", q.DisplayName)
		o.StrIf("description", q.Warning)
		if q.Server != "" {
			o.Object("mcp_server", func(o *streamjson.Object) { o.Str("name", q.Server) })
		}
		if q.NeedsPerson {
			o.Bool("requires_user_interaction", true)
		}
	})
	return o.Line()
}

// hangUp notes that the host is gone: open questions are denied, and no more queries are started.
func (sv *server) hangUp() {
	sv.mu.Lock()
	sv.hungUp = true
	sv.mu.Unlock()
	for _, q := range sv.pending.hangUp() {
		sv.f.refuse(sv.ctx, q.Asked)
	}
}

// answered handles the host's answer to a question or a call of a hook. Late and repeated answers are ignored; an
// invalid one denies.
func (sv *server) answered(body json.RawMessage) error {
	var r struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
		Error     string          `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("has no usable response: %w", err)
	}
	if sv.pending.replied(r.RequestID, r.Subtype, bytes.Clone(r.Response), r.Error) || !sv.pending.drop(r.RequestID) {
		return nil
	}
	a := permission.Answer{Behavior: permission.Deny, By: "host"}
	if r.Subtype == "success" {
		a = readAnswer(r.Response)
	} else {
		a.Message = "The host could not answer: " + r.Error
	}
	sv.f.cfg.Session.Submit(sv.ctx, session.Answer{ID: r.RequestID, Reply: session.Decision{Answer: a}}) // ok: it may have been withdrawn meanwhile
	return nil
}

// readAnswer decodes an answer about a permission. An invalid one denies.
func readAnswer(body json.RawMessage) permission.Answer {
	var r struct {
		Behavior    permission.Behavior `json:"behavior"`
		Input       json.RawMessage     `json:"updatedInput"`
		Permissions []permission.Update `json:"updatedPermissions"`
		Message     string              `json:"message"`
		Interrupt   bool                `json:"interrupt"`
	}
	deny := permission.Answer{Behavior: permission.Deny, By: "host"}
	if err := json.Unmarshal(body, &r); err != nil {
		deny.Message = fmt.Sprintf("The host's answer is not valid: %v", err)
		return deny
	}
	switch r.Behavior {
	case permission.Allow:
		if bytes.Equal(r.Input, []byte("null")) {
			r.Input = nil
		}
		return permission.Answer{Behavior: permission.Allow, Input: r.Input, Updates: r.Permissions, By: "host"}
	case permission.Deny:
		deny.Message, deny.Interrupt = r.Message, r.Interrupt
	default:
		deny.Message = fmt.Sprintf("The host answered neither allow nor deny, but %q.", r.Behavior)
	}
	return deny
}

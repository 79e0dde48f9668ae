package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// unavailable lists requests that hosts know and this version does not support.
var unavailable = [...]string{
	"apply_flag_settings", "elicitation", "hook_callback", "register_repo_root",
	"request_user_dialog", "set_color", "set_has_subscribers", "update_settings",
}

// A controlRequest is a request from the host. Each is answered exactly once.
type controlRequest struct {
	Subtype      string `json:"subtype"`
	Model        string `json:"model"`
	Mode         string `json:"mode"`
	CancelQueued bool   `json:"cancel_queued"`
	MessageID    string `json:"message_uuid"`

	Server  string          `json:"server_name"`
	Message json.RawMessage `json:"message"`
}

// request answers one request. It may be called while a turn is running.
func (sv *server) request(id string, body json.RawMessage) {
	var req controlRequest
	err := json.Unmarshal(body, &req)
	if req.Subtype == "initialize" { // initialize has different fields
		sv.f.out.Write(sv.initialize(id, body))
		return
	}
	if err != nil {
		answer := &hostapi.Refusal{Code: hostapi.Invalid, Text: "invalid request: " + hostapi.Mistake(err)}
		if bytes.Contains(bytes.ToLower(body), []byte("initialize")) {
			sv.f.out.Write(sv.refuseStart(id, answer))
			return
		}
		sv.f.out.Write(refusal(id, answer))
		return
	}
	switch req.Subtype {
	case "interrupt":
		sv.f.out.WriteFunc(func() []byte { return sv.interrupt(id, req.CancelQueued) })
	case "cancel_async_message":
		err := sv.f.cfg.Session.Submit(sv.ctx, session.Withdraw{ID: req.MessageID})
		sv.f.out.Write(success(id, func(o *streamjson.Object) { o.Bool("cancelled", err == nil) }))
	case "set_model":
		sv.f.out.WriteFunc(func() []byte { return sv.setModel(id, req.Model) })
	case "mcp_message":
		sv.f.out.Write(sv.receive(id, req))
	case "set_permission_mode":
		sv.f.out.WriteFunc(func() []byte { return sv.setMode(id, req.Mode) })
	default:
		sv.offered(id, req.Subtype, body)
	}
}

// offered answers a request through the host's Actions and Queries.
func (sv *server) offered(id, subtype string, body json.RawMessage) {
	if act, ok := sv.h.Actions[subtype]; ok {
		sv.f.out.Write(perform(sv.ctx, id, act, body))
		return
	}
	if query, ok := sv.h.Queries[subtype]; ok {
		sv.query(id, query, body)
		return
	}
	text := "Unsupported control request subtype: " + subtype
	if slices.Contains(unavailable[:], subtype) {
		text = subtype + " is not available in this version"
	}
	sv.f.out.Write(refusal(id, &hostapi.Refusal{Code: hostapi.Unsupported, Text: text}))
}

// query answers a request in the background.
func (sv *server) query(id string, query hostapi.Request, body json.RawMessage) {
	ctx, cancel := context.WithCancel(sv.ctx)
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if sv.hungUp { // the program is shutting down and accepts no new work
		cancel()
		sv.f.out.Write(refusal(id, &hostapi.Refusal{Code: hostapi.Failed, Text: "the session is closed"}))
		return
	}
	sv.queries[id] = cancel
	body = bytes.Clone(body)
	sv.work.Go(func() {
		defer cancel()
		sv.f.out.Write(perform(ctx, id, query, body))
		sv.mu.Lock()
		defer sv.mu.Unlock()
		delete(sv.queries, id)
	})
}

// withdraw cancels a query, which is still answered.
func (sv *server) withdraw(id string) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if cancel := sv.queries[id]; cancel != nil {
		cancel()
	}
}

// perform executes a request and returns its answer.
func perform(ctx context.Context, id string, do hostapi.Request, body json.RawMessage) []byte {
	value, err := do(ctx, body)
	if err != nil {
		return refusal(id, err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return refusal(id, err)
	}
	return response(func(o *streamjson.Object) {
		o.Str("subtype", "success")
		o.Str("request_id", id)
		o.Raw("response", data)
	})
}

// receive forwards a message from a server that the host runs itself.
func (sv *server) receive(id string, req controlRequest) []byte {
	if sv.h.Receive == nil {
		return refusal(id, &hostapi.Refusal{Code: hostapi.Failed, Text: "no servers of the host"})
	}
	if err := sv.h.Receive(req.Server, bytes.Clone(req.Message)); err != nil {
		return refusal(id, err)
	}
	return success(id, nothing)
}

func (sv *server) interrupt(id string, queued bool) []byte {
	waiting := named(sv.f.cfg.Session.Interrupt(session.Interrupt{Queued: queued}))
	return success(id, func(o *streamjson.Object) {
		if queued {
			o.Strs("still_queued", nil)
			o.Strs("cancelled", waiting)
			return
		}
		o.Strs("still_queued", waiting)
	})
}

// named removes empty IDs, which belong to messages the host has not named.
func named(ids []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

func (sv *server) setModel(id, name string) []byte {
	if name == "" || name == "default" {
		name = sv.h.DefaultModel
	}
	if err := sv.f.cfg.Session.Submit(sv.ctx, session.SetModel{Name: name}); err != nil {
		return refusal(id, &hostapi.Refusal{Code: "invalid_model", Text: err.Error()})
	}
	return success(id, nothing)
}

func (sv *server) setMode(id, mode string) []byte {
	if err := sv.f.cfg.Session.Submit(sv.ctx, session.SetMode{Mode: mode}); err != nil {
		code := "invalid_mode"
		if errors.Is(err, permission.ErrBypass) {
			code = "bypass_not_launched"
		}
		return refusal(id, &hostapi.Refusal{Code: code, Text: err.Error()})
	}
	return success(id, func(o *streamjson.Object) { o.Str("mode", sv.f.cfg.Info().Mode) })
}

func nothing(*streamjson.Object) {}

// success returns the line that answers a request with the fields that fill adds.
func success(id string, fill func(*streamjson.Object)) []byte {
	return response(func(o *streamjson.Object) {
		o.Str("subtype", "success")
		o.Str("request_id", id)
		o.Object("response", fill)
	})
}

// refusal returns the line that answers a request with an error.
func refusal(id string, err error) []byte {
	code := hostapi.Failed
	var known *hostapi.Refusal
	if errors.As(err, &known) {
		code = known.Code
	}
	return response(func(o *streamjson.Object) {
		o.Str("subtype", "error")
		o.Str("request_id", id)
		o.Str("error", err.Error())
		o.Str("error_code", code)
	})
}

func response(fill func(*streamjson.Object)) []byte {
	o := &streamjson.Object{}
	o.Str("type", "control_response")
	o.Object("response", fill)
	return o.Line()
}

package headless

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Refusal is an error of a request with a code that hosts know.
type Refusal struct{ Code, Text string }

func (r *Refusal) Error() string { return r.Text }

// A controlRequest is a request of the host. Each gets exactly one answer.
type controlRequest struct {
	Subtype string `json:"subtype"`
	Model   string `json:"model"`
	Mode    string `json:"mode"`
}

// control answers one request. It runs beside a turn.
func (f *Front) control(in inputLine, q *queue, h Host) {
	var req controlRequest
	if err := json.Unmarshal(in.Request, &req); err != nil {
		f.refuse(in.RequestID, fmt.Sprintf("the request cannot be read: %v", err), "invalid_request")
		return
	}
	switch req.Subtype {
	case "initialize":
		f.answer(in.RequestID, func(o *object) { f.capabilities(o, h) })
	case "interrupt":
		q.interrupt()
		f.answer(in.RequestID, func(o *object) { o.strs("still_queued", nil) })
	case "set_model":
		f.setModel(in.RequestID, req.Model, h)
	case "set_permission_mode":
		f.setMode(in.RequestID, req.Mode, h)
	default:
		f.refuse(in.RequestID, "Unsupported control request subtype: "+req.Subtype, "unsupported_request")
	}
}

func (f *Front) setModel(id, name string, h Host) {
	if name == "" {
		name = h.DefaultModel
	}
	if err := f.cfg.Session.SetModel(name); err != nil {
		f.refuse(id, err.Error(), "invalid_model")
		return
	}
	f.answer(id, func(*object) {})
}

func (f *Front) setMode(id, mode string, h Host) {
	set, err := h.SetMode(mode)
	if err != nil {
		code := "invalid_mode"
		var refusal *Refusal
		if errors.As(err, &refusal) {
			code = refusal.Code
		}
		f.refuse(id, err.Error(), code)
		return
	}
	f.answer(id, func(o *object) { o.str("mode", set) })
	o := system("status")
	o.null("status")
	o.str("permissionMode", set)
	f.emit(o)
}

// capabilities tells the host what there is.
func (f *Front) capabilities(o *object, h Host) {
	info := f.cfg.Info()
	o.strs("commands", nil)
	o.strs("agents", nil)
	o.str("output_style", "default")
	o.strs("available_output_styles", []string{"default"})
	o.list("models", len(h.Models), func(i int, item *object) {
		item.str("value", h.Models[i].Value)
		item.str("displayName", h.Models[i].Name)
		item.str("description", h.Models[i].Description)
	})
	o.object("account", func(o *object) { o.str("apiKeySource", info.KeySource) })
	o.str("claude_code_version", info.Version)
}

func (f *Front) answer(id string, fill func(*object)) {
	f.respond(func(o *object) {
		o.str("subtype", "success")
		o.str("request_id", id)
		o.object("response", fill)
	})
}

func (f *Front) refuse(id, reason, code string) {
	f.respond(func(o *object) {
		o.str("subtype", "error")
		o.str("request_id", id)
		o.str("error", reason)
		o.str("error_code", code)
	})
}

func (f *Front) respond(fill func(*object)) {
	o := &object{}
	o.str("type", "control_response")
	o.object("response", fill)
	f.out.write(append(o.bytes(), '\n'))
}

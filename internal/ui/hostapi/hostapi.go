// Package hostapi answers the requests of a host about a session: it decodes the request, asks the desk and returns the
// answer in the form that hosts expect. Reading lines, and requests about the protocol itself, are left to the front end.
package hostapi

import (
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/desk"
	"adze/internal/session"
)

// A Request answers one request of a host with a value that encodes as a JSON object. The error may be a [Refusal].
type Request func(ctx context.Context, request json.RawMessage) (any, error)

// A Refusal is an error with a code that hosts know.
type Refusal struct{ Code, Text string }

func (r *Refusal) Error() string { return r.Text }

// The codes of refusals.
const (
	Invalid     = "invalid_request"
	Unsupported = "unsupported_request"
	Failed      = "request_failed"
)

// Actions returns the requests that change something, by subtype. They are answered one after the other.
func Actions(d *desk.Desk) map[string]Request {
	a := api{d}
	return map[string]Request{
		"set_max_thinking_tokens": asked(a.think),
		"rename_session":          asked(a.rename),
		"rewind_files":            asked(a.rewind),
		"seed_read_state":         asked(a.seed),
		"background_tasks":        asked(a.detach),
		"stop_task":               asked(a.stopTask),
	}
}

// Queries returns the requests that change nothing, by subtype. They may be answered concurrently.
func Queries(d *desk.Desk) map[string]Request {
	a := api{d}
	return map[string]Request{
		"get_binary_version":    asked(a.version),
		"get_context_usage":     asked(a.context),
		"get_hooks_listing":     asked(a.hooks),
		"get_session_cost":      asked(a.cost),
		"get_settings":          asked(a.settings),
		"get_usage":             asked(a.usage),
		"list_models":           asked(a.models),
		"list_permission_rules": asked(a.rules),
		"list_tasks":            asked(a.listTasks),
		"get_task_output":       asked(a.taskOutput),
		"mcp_status":            asked(a.servers),
		"file_suggestions":      asked(a.suggestions),
		"read_file":             asked(a.readFile),
	}
}

// An api answers requests about the session of a desk.
type api struct{ *desk.Desk }

// object is a JSON object.
type object = map[string]any

// none is a request or an answer without fields.
type none struct{}

// asked returns a request whose fields are those of In.
func asked[In any](answer func(context.Context, In) (any, error)) Request {
	return func(ctx context.Context, body json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, &Refusal{Invalid, fmt.Sprintf("invalid request: %v", err)}
		}
		return answer(ctx, in)
	}
}

func (a api) think(ctx context.Context, in struct {
	Tokens *int `json:"max_thinking_tokens"`
}) (any, error) {
	if in.Tokens != nil && *in.Tokens < 0 {
		return nil, &Refusal{Invalid, "max_thinking_tokens is negative"}
	}
	return none{}, a.Think(ctx, in.Tokens)
}

func (a api) rename(_ context.Context, in struct {
	Title   string `json:"title"`
	Session string `json:"session_id"`
}) (any, error) {
	if in.Session != "" && in.Session != a.Session.ID() {
		return nil, fmt.Errorf("session %s is not the open one; use adze sessions rename", in.Session)
	}
	return none{}, a.Rename(in.Title)
}

// detach moves the running command to the background.
func (a api) detach(ctx context.Context, _ none) (any, error) {
	return none{}, a.Session.Submit(ctx, session.Detach{})
}

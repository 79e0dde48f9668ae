// Package hostapi answers host requests about a session: it decodes the request, calls the command registry
// and returns the answer in the format hosts expect.
package hostapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"adze/internal/commands"
)

// A Request answers one host request with a value that encodes as a JSON object. The error may
// be a [Refusal].
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

// Actions returns the requests that change something, by subtype. They are answered one after
// the other.
func Actions(r *commands.Registry) map[string]Request {
	a, s := api{r}, serverAPI{r}
	return map[string]Request{
		"set_max_thinking_tokens": WithInput(a.think),
		"rename_session":          WithInput(a.rename),
		"generate_session_title":  WithInput(a.entitle),
		"rewind_files":            WithInput(a.rewind),
		"seed_read_state":         WithInput(a.seed),
		"background_tasks":        WithInput(a.detach),
		"stop_task":               WithInput(a.stopTask),
		"mcp_toggle":              WithInput(s.toggle),
	}
}

// Queries returns the read-only requests, by subtype. They may be answered concurrently.
func Queries(r *commands.Registry) map[string]Request {
	a, s := api{r}, serverAPI{r}
	return map[string]Request{
		"get_binary_version":    WithInput(a.version),
		"get_context_usage":     WithInput(a.context),
		"get_hooks_listing":     WithInput(a.hooks),
		"get_session_cost":      WithInput(a.cost),
		"get_settings":          WithInput(a.settings),
		"get_usage":             WithInput(a.usage),
		"list_models":           WithInput(a.models),
		"list_permission_rules": WithInput(a.rules),
		"list_tasks":            WithInput(a.listTasks),
		"get_task_output":       WithInput(a.taskOutput),
		"reload_skills":         WithInput(a.reloadSkills),
		"mcp_status":            WithInput(s.servers),
		"mcp_reconnect":         WithInput(s.reconnect),
		"mcp_read_resource":     WithInput(s.readResource),
		"mcp_call":              WithInput(s.callTool),
		"file_suggestions":      WithInput(a.suggestions),
		"read_file":             WithInput(a.readFile),
		"reload_output_styles":  WithInput(a.styles),
		"reload_plugins":        WithInput(a.reloadPlugins),
	}
}

// An api answers requests about the session of a registry.
type api struct{ *commands.Registry }

// object is a JSON object.
type object = map[string]any

// none is a request or an answer without fields.
type none struct{}

// WithInput adapts a function with typed input to a Request.
func WithInput[In any](answer func(context.Context, In) (any, error)) Request {
	return func(ctx context.Context, body json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, &Refusal{Invalid, "invalid request: " + Mistake(err)}
		}
		return answer(ctx, in)
	}
}

// Mistake describes a JSON decoding error without mentioning Go types.
func Mistake(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case wrong.Field == "":
		return "it cannot be of the type " + wrong.Value
	}
	return fmt.Sprintf("%s cannot be of the type %s", wrong.Field, wrong.Value)
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

// entitle answers with a title, or null if the description is empty. The title is stored unless
// persist is false.
func (a api) entitle(_ context.Context, in struct {
	Description string `json:"description"`
	Persist     *bool  `json:"persist"`
}) (any, error) {
	title, err := a.Entitle(in.Description, in.Persist == nil || *in.Persist)
	if err != nil {
		return nil, err
	}
	if title == "" {
		return object{"title": nil}, nil
	}
	return object{"title": title}, nil
}

package headless

import (
	"encoding/json"
	"fmt"

	"adze/internal/hook"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// A Start holds the options that a host sets for a session. Zero fields change nothing.
type Start struct {
	// SystemPrompt replaces the system prompt, unless it is nil.
	SystemPrompt       []string `json:"systemPrompt"`
	AppendSystemPrompt string   `json:"appendSystemPrompt"`
	// JSONSchema is the schema of the structured output.
	JSONSchema json.RawMessage `json:"jsonSchema"`
	Title      string          `json:"title"`

	// Hooks are the callbacks of the host, by event. Servers are the names of its own MCP servers.
	Hooks   map[string]json.RawMessage `json:"hooks"`
	RunHook hook.Callback              `json:"-"` // runs one of Hooks
	Servers []string                   `json:"sdkMcpServers"`
	Agents  map[string]json.RawMessage `json:"agents"`
	Plugins []json.RawMessage          `json:"plugins"`
}

// initialize answers the first request of a host, and of one that reconnects.
func (sv *server) initialize(id string, body json.RawMessage) []byte {
	var start Start
	if err := json.Unmarshal(body, &start); err != nil {
		return refusal(id, &hostapi.Refusal{Code: hostapi.Invalid, Text: fmt.Sprintf("invalid request: %v", err)})
	}
	if len(start.Hooks) > 0 {
		start.RunHook = sv.runHook
	}
	if sv.h.Initialize != nil {
		if sv.refused = sv.h.Initialize(sv.ctx, start); sv.refused != nil {
			return refusal(id, sv.refused)
		}
	}
	return response(func(o *streamjson.Object) {
		o.Str("subtype", "success")
		o.Str("request_id", id)
		o.Object("response", sv.abilities)
		o.Raws("pending_permission_requests", sv.pending.requests())
	})
}

// abilities adds the commands, models and account to the answer.
func (sv *server) abilities(o *streamjson.Object) {
	info := sv.f.cfg.Info()
	commands := sv.f.commands()
	o.List("commands", len(commands), func(i int, item *streamjson.Object) {
		item.Str("name", commands[i].Name)
		item.Str("description", commands[i].Doc)
		item.Str("argumentHint", commands[i].Args)
	})
	o.Strs("agents", nil)
	o.Str("output_style", "default")
	o.Strs("available_output_styles", []string{"default"})
	o.List("models", len(sv.h.Models), func(i int, item *streamjson.Object) {
		item.Str("value", sv.h.Models[i].Value)
		item.Str("displayName", sv.h.Models[i].Name)
		item.Str("description", sv.h.Models[i].Description)
	})
	o.Object("account", func(o *streamjson.Object) { o.Str("apiKeySource", info.KeySource) })
	// The field's name is the protocol's; its value says whose version it is.
	o.Str("claude_code_version", info.Version)
}

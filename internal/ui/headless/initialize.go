package headless

import (
	"encoding/json"
	"fmt"

	"adze/internal/hook"
	"adze/internal/ui/hostapi"
)

// A Start is what a host wants of a session. What it leaves out stays as it is.
type Start struct {
	// SystemPrompt replaces the system prompt by its texts; nil leaves it.
	SystemPrompt       []string `json:"systemPrompt"`
	AppendSystemPrompt string   `json:"appendSystemPrompt"`
	// JSONSchema is that of the value that turns must end in.
	JSONSchema json.RawMessage `json:"jsonSchema"`
	Title      string          `json:"title"`

	// Hooks are callbacks of the host by event, Servers its own MCP servers by name.
	Hooks   map[string]json.RawMessage `json:"hooks"`
	RunHook hook.Callback              `json:"-"` // runs one of them
	Servers []string                   `json:"sdkMcpServers"`
	Agents  map[string]json.RawMessage `json:"agents"`
	Plugins []json.RawMessage          `json:"plugins"`
}

// initialize answers the first request of a host, and one that joins again.
func (sv *server) initialize(id string, body json.RawMessage) []byte {
	var start Start
	if err := json.Unmarshal(body, &start); err != nil {
		return refusal(id, &hostapi.Refusal{Code: hostapi.Invalid, Text: fmt.Sprintf("the request cannot be read: %v", err)})
	}
	if len(start.Hooks) > 0 {
		start.RunHook = sv.runHook
	}
	if sv.h.Initialize != nil {
		if sv.refused = sv.h.Initialize(sv.ctx, start); sv.refused != nil {
			return refusal(id, sv.refused)
		}
	}
	return response(func(o *object) {
		o.str("subtype", "success")
		o.str("request_id", id)
		o.object("response", sv.abilities)
		o.raws("pending_permission_requests", sv.pending.requests())
	})
}

// abilities tells the host what there is.
func (sv *server) abilities(o *object) {
	info := sv.f.cfg.Info()
	commands := sv.f.commands()
	o.list("commands", len(commands), func(i int, item *object) {
		item.str("name", commands[i].Name)
		item.str("description", commands[i].Doc)
		item.str("argumentHint", commands[i].Args)
	})
	o.strs("agents", nil)
	o.str("output_style", "default")
	o.strs("available_output_styles", []string{"default"})
	o.list("models", len(sv.h.Models), func(i int, item *object) {
		item.str("value", sv.h.Models[i].Value)
		item.str("displayName", sv.h.Models[i].Name)
		item.str("description", sv.h.Models[i].Description)
	})
	o.object("account", func(o *object) { o.str("apiKeySource", info.KeySource) })
	// The field's name is the protocol's; its value says whose version it is.
	o.str("claude_code_version", info.Version)
}

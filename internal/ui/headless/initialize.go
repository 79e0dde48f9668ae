package headless

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/commands"
	"adze/internal/domain/style"
	"adze/internal/hook"
	"adze/internal/mcp/hosted"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// A Start holds the options a host sets for a session. Zero fields change nothing.
type Start struct {
	// SystemPrompt replaces the system prompt unless it is nil.
	SystemPrompt       texts
	AppendSystemPrompt string
	// JSONSchema is the schema of the structured output.
	JSONSchema json.RawMessage
	Title      string

	// TrustWorkspace trusts the workspace for this session.
	TrustWorkspace bool

	// Hooks are the host's callbacks, by event.
	Hooks   map[string]json.RawMessage
	RunHook hook.Callback  // runs a callback listed in Hooks
	Servers hosted.Servers // the host's servers
	Agents  map[string]json.RawMessage
	Plugins []json.RawMessage

	// SubagentText forwards all sub-agent text, not only calls and results. Summaries sends
	// periodic one-line summaries of each sub-agent's activity.
	SubagentText, Summaries bool
}

// texts is a list of strings, or a single one.
type texts []string

func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil && string(data) != "null" {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// decode decodes the fields of a request and returns the names of unknown ones. A known field
// must be valid, occur once and be spelled exactly, so that no option the host relies on is
// silently lost.
func (s *Start) decode(body json.RawMessage) (unknown []string, err error) {
	known := map[string]any{
		"systemPrompt": &s.SystemPrompt, "appendSystemPrompt": &s.AppendSystemPrompt, "jsonSchema": &s.JSONSchema, "title": &s.Title,
		"hooks": &s.Hooks, "sdkMcpServers": &s.Servers.Names, "sdkMcpServerManifests": &s.Servers.Manifests, "sdkMcpServerConfigs": &s.Servers.Configs,
		"agents": &s.Agents, "plugins": &s.Plugins, "trustWorkspace": &s.TrustWorkspace, "subtype": new(string),
		"forwardSubagentText": &s.SubagentText, "agentProgressSummaries": &s.Summaries,
		"perTaskStopAffordance": new(bool), // interrupts never affect background tasks
	}
	if name := repeated(json.NewDecoder(bytes.NewReader(body))); name != "" {
		return nil, fmt.Errorf("%s is there twice", name)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, errors.New(hostapi.Mistake(err))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if to := known[name]; to != nil {
			if err := json.Unmarshal(fields[name], to); err != nil {
				return nil, fmt.Errorf("%s: %s", name, hostapi.Mistake(err))
			}
			continue
		}
		for right := range known {
			if strings.EqualFold(name, right) {
				return nil, fmt.Errorf("%s is not known; write %s", name, right)
			}
		}
		unknown = append(unknown, name)
	}
	return unknown, nil
}

// repeated returns a name that occurs twice in an object within the next value, or "". Only the
// last duplicate would take effect.
func repeated(dec *json.Decoder) string {
	token, err := dec.Token()
	open, ok := token.(json.Delim)
	if err != nil || !ok {
		return ""
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return ""
			}
			if seen[name] {
				return name
			}
			seen[name] = true
		}
		if name := repeated(dec); name != "" {
			return name
		}
	}
	dec.Token() // ok: the end of the value, or the error that ended it
	return ""
}

// initialize answers the first request of a host, or of a reconnecting host. If it fails, no
// prompt is run until another one succeeds.
func (sv *server) initialize(id string, body json.RawMessage) []byte {
	var start Start
	unknown, err := start.decode(body)
	if err != nil {
		return sv.refuseStart(id, &hostapi.Refusal{Code: hostapi.Invalid, Text: fmt.Sprintf("invalid request: %v", err)})
	}
	if len(start.Hooks) > 0 {
		start.RunHook = sv.runHook
	}
	if len(start.Servers.Names) > 0 {
		start.Servers.Send = sv.sendMessage
	}
	var notes []string
	if len(unknown) > 0 {
		notes = append(notes, "not known, without effect: "+strings.Join(unknown, ", "))
	}
	if sv.h.Initialize != nil {
		more, err := sv.h.Initialize(sv.ctx, start)
		if err != nil {
			return sv.refuseStart(id, err)
		}
		notes = append(notes, more...)
	}
	sv.refused = nil
	sv.initialized.Store(true)
	if sv.f.stream != nil {
		sv.f.stream.OnlyCalls(!start.SubagentText)
	}
	attend(sv, true)
	for _, note := range notes {
		sv.f.warn("initialize: " + note)
	}
	return response(func(o *streamjson.Object) {
		o.Str("subtype", "success")
		o.Str("request_id", id)
		o.Object("response", func(o *streamjson.Object) {
			sv.abilities(o)
			if len(notes) > 0 {
				o.Strs("warnings", notes)
			}
		})
		permissions, elicitations := sv.pending.requests()
		o.Raws("pending_permission_requests", permissions)
		if len(elicitations) > 0 {
			o.Raws("pending_elicitation_requests", elicitations)
		}
	})
}

// refuseStart blocks prompts because of err and returns the error answer to the request.
func (sv *server) refuseStart(id string, err error) []byte {
	sv.refused = err
	attend(sv, false)
	return refusal(id, err)
}

// unread blocks prompts if an unreadable line may have been an initialize request. Head is the
// beginning of the line.
func (sv *server) unread(head []byte) {
	if lower := bytes.ToLower(head); bytes.Contains(lower, []byte("control_request")) && bytes.Contains(lower, []byte("initialize")) {
		sv.f.out.Write(sv.refuseStart(lenientID(head), &hostapi.Refusal{Code: hostapi.Invalid, Text: "invalid request: the line cannot be read"}))
	}
}

// lenientID returns the request ID in a malformed line, if it can be found.
func lenientID(line []byte) string {
	_, rest, _ := bytes.Cut(line, []byte(`"request_id"`))
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(rest), []byte(":"))
	if !ok {
		return ""
	}
	var id json.RawMessage
	json.NewDecoder(bytes.NewReader(rest)).Decode(&id) // ok: without an ID the answer has none
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	return string(id)
}

// styles returns the current output style and the available ones.
func styles(r *commands.Registry) (current string, names []string) {
	if r == nil {
		return style.Default, []string{style.Default}
	}
	return r.Env.Styles.List()
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
	o.List("agents", len(info.Agents), func(i int, item *streamjson.Object) {
		a := info.Agents[i]
		item.Str("name", a.Name)
		item.Str("description", a.Description)
		if a.Model != "" {
			item.Str("model", a.Model)
		}
	})
	current, all := styles(sv.f.cfg.Commands)
	o.Str("output_style", current)
	o.Strs("available_output_styles", all)
	o.List("models", len(sv.h.Models), func(i int, item *streamjson.Object) {
		item.Str("value", sv.h.Models[i].Value)
		item.Str("displayName", sv.h.Models[i].Name)
		item.Str("description", sv.h.Models[i].Description)
	})
	o.Object("account", func(o *streamjson.Object) { o.Str("apiKeySource", info.KeySource) })
	// The field name is part of the protocol; the value is adze's version.
	o.Str("claude_code_version", info.Version)
}

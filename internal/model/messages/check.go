package messages

import (
	"adze/internal/model/wire"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Request limits.
const (
	maxBody      = 32 << 20
	maxImages    = 100
	minThinking  = 1024
	maxNameBytes = 128
)

// Check returns an error for the first violation of the wire rules in a request body, with its
// location and the rule. It is as strict as the server.
//
// Rules that depend on headers or answers, such as betas and the binding of thinking, are
// checked by [Server.Check].
func Check(body []byte) error {
	_, err := Dialect{}.check(body, nil)
	return err
}

// check is like Check for a request with betas; nil means unknown.
func (d Dialect) check(body []byte, betas []string) (*checkedRequest, error) {
	if len(body) > maxBody {
		return nil, fmt.Errorf("the body has %d bytes, more than 32 MB", len(body))
	}
	top, err := wire.Members(body)
	if err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	seen := make(map[string]bool)
	for _, m := range top {
		if seen[m.Name] {
			return nil, fmt.Errorf("%s: given twice", m.Name)
		}
		seen[m.Name] = true
		if !d.permits(m.Name) {
			return nil, fmt.Errorf("%s: extra inputs are not permitted", m.Name)
		}
	}
	r := checkedRequest{betas: betas, dialect: d}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the body has a wrong type: %w", err)
	}
	for _, rule := range []func(*checkedRequest) error{
		checkOptions, checkTools, checkSystem, checkRoles, checkContent, checkPairing, checkThinking, checkMarks,
	} {
		if err := rule(&r); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

// knownMembers lists the members a request may have.
var knownMembers = []string{
	"model", "max_tokens", "stream", "thinking", "output_config", "metadata", "tool_choice", "system", "tools",
	"messages", "temperature", "top_p", "top_k", "stop_sequences", "service_tier", "container", "speed",
	"context_management", "mcp_servers", "inference_geo", "cache_control", "diagnostics",
}

// permits reports whether a request may have the member.
func (d Dialect) permits(name string) bool {
	switch name {
	case "model":
		return d.Version == ""
	case "anthropic_version":
		return d.Version != ""
	case "anthropic_beta":
		return d.BetasInBody
	case "stream":
		return !d.StreamInPath
	}
	return slices.Contains(knownMembers, name)
}

type checkedRequest struct {
	checkedOptions
	Version   string  `json:"anthropic_version"`
	Model     string  `json:"model"`
	MaxTokens float64 `json:"max_tokens"`
	Choice    *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	System   checkedContent   `json:"system"`
	Tools    []checkedTool    `json:"tools"`
	Messages []checkedMessage `json:"messages"`

	dialect Dialect
	betas   []string
	images  int
}

type checkedTool struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"input_schema"`
	Strict bool            `json:"strict"`
	Mark   *checkedMark    `json:"cache_control"`
}

type checkedMessage struct {
	Role    string         `json:"role"`
	Content checkedContent `json:"content"`
}

// checkedContent is a list of blocks. In JSON, a string means a single text block.
type checkedContent []checkedBlock

func (c *checkedContent) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*c = checkedContent{{Type: "text"}}
		return json.Unmarshal(data, &(*c)[0].Text)
	}
	return json.Unmarshal(data, (*[]checkedBlock)(c))
}

type checkedBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Source    *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	Mark *checkedMark `json:"cache_control"`
}

func (b *checkedBlock) isThinking() bool {
	return b.Type == "thinking" || b.Type == "redacted_thinking"
}

type checkedMark struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

func checkTools(r *checkedRequest) error {
	names := make(map[string]bool)
	for i, t := range r.Tools {
		switch {
		case !validName(t.Name):
			return fmt.Errorf("tools.%d.name: %q is not 1 to 128 letters, digits, _ and -", i, t.Name)
		case names[t.Name]:
			return fmt.Errorf("tools.%d.name: %q is not unique", i, t.Name)
		case t.Type != "" && t.Type != "custom": // run by the server, which knows the schema
		case !isObject(t.Schema):
			return fmt.Errorf(`tools.%d.input_schema.type: must be "object"`, i)
		case t.Strict:
			if err := checkStrict(fmt.Sprintf("tools.%d.input_schema", i), t.Schema); err != nil {
				return err
			}
		}
		names[t.Name] = true
	}
	if r.Choice != nil && r.Choice.Type == "tool" && !names[r.Choice.Name] {
		return fmt.Errorf("tool_choice.name: %q is not among the tools", r.Choice.Name)
	}
	return nil
}

// isObject reports whether a schema describes an object.
func isObject(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// validName reports whether s matches ^[a-zA-Z0-9_-]{1,128}$.
func validName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && !('0' <= c && c <= '9') && c != '_' && c != '-' {
			return false
		}
	}
	return 0 < len(s) && len(s) <= maxNameBytes
}

func checkSystem(r *checkedRequest) error {
	for i, b := range r.System {
		if b.Type != "text" {
			return fmt.Errorf("system.%d.type: must be text, not %q", i, b.Type)
		}
		if strings.TrimSpace(b.Text) == "" {
			return fmt.Errorf("system.%d: text must not be empty", i)
		}
	}
	return nil
}

func checkRoles(r *checkedRequest) error {
	if len(r.Messages) == 0 {
		return fmt.Errorf("messages: at least one message is required")
	}
	for i, m := range r.Messages {
		want := [2]string{"user", "assistant"}[i%2]
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Errorf("messages.%d.role: %q is neither user nor assistant", i, m.Role)
		case m.Role != want && i == 0:
			return fmt.Errorf("messages.0.role: the first message must be the user's")
		case m.Role != want:
			return fmt.Errorf("messages.%d.role: roles must alternate, but %q comes twice in a row", i, m.Role)
		case len(m.Content) == 0:
			return fmt.Errorf("messages.%d.content: must not be empty", i)
		}
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "assistant" && !slices.ContainsFunc(last.Content, func(b checkedBlock) bool { return b.Type == "server_tool_use" }) {
		return fmt.Errorf("messages: the last message must be the user's")
	}
	return nil
}

// The kinds of block each role may send.
var (
	userBlocks      = []string{"text", "image", "document", "search_result", "tool_result", "container_upload"}
	resultBlocks    = []string{"text", "image", "document", "search_result", "tool_reference"}
	assistantBlocks = []string{
		"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result",
		"web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_use", "mcp_tool_result",
	}
)

func checkContent(r *checkedRequest) error {
	for i, m := range r.Messages {
		kinds := userBlocks
		if m.Role == "assistant" {
			kinds = assistantBlocks
		}
		if err := r.checkBlocks(fmt.Sprintf("messages.%d.content", i), m.Content, kinds); err != nil {
			return err
		}
	}
	if r.images > maxImages {
		return fmt.Errorf("messages: %d images, more than %d", r.images, maxImages)
	}
	return nil
}

func (r *checkedRequest) checkBlocks(place string, blocks checkedContent, kinds []string) error {
	for i := range blocks {
		b := &blocks[i]
		if !slices.Contains(kinds, b.Type) {
			return fmt.Errorf("%s.%d.type: %q is not allowed here", place, i, b.Type)
		}
		if err := r.checkBlock(fmt.Sprintf("%s.%d", place, i), b); err != nil {
			return err
		}
	}
	return nil
}

func (r *checkedRequest) checkBlock(place string, b *checkedBlock) error {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return fmt.Errorf("%s: text must not be empty or only white space", place)
		}
	case "thinking":
		if b.Signature == "" {
			return fmt.Errorf("%s.signature: must not be empty", place)
		}
	case "redacted_thinking":
		if b.Data == "" {
			return fmt.Errorf("%s.data: must not be empty", place)
		}
	case "tool_use":
		if !validName(b.ID) {
			return fmt.Errorf("%s.id: %q is not 1 to 128 letters, digits, _ and -", place, b.ID)
		}
		if !validName(b.Name) {
			return fmt.Errorf("%s.name: %q is not 1 to 128 letters, digits, _ and -", place, b.Name)
		}
		if !bytes.HasPrefix(b.Input, []byte("{")) {
			return fmt.Errorf("%s.input: must be an object", place)
		}
	case "tool_result":
		var parts checkedContent
		if len(b.Content) > 0 {
			if err := json.Unmarshal(b.Content, &parts); err != nil {
				return fmt.Errorf("%s.content: %w", place, err)
			}
		}
		return r.checkBlocks(place+".content", parts, resultBlocks)
	case "image":
		r.images++
		if b.Source != nil && b.Source.Type == "base64" {
			switch b.Source.MediaType {
			case "image/png", "image/jpeg", "image/gif", "image/webp":
			default:
				return fmt.Errorf("%s.source.media_type: %q is none of image/png, image/jpeg, image/gif, image/webp", place, b.Source.MediaType)
			}
		}
		return b.checkSource(place)
	case "document":
		return b.checkSource(place)
	}
	return nil
}

func (b *checkedBlock) checkSource(place string) error {
	switch {
	case b.Source == nil:
		return fmt.Errorf("%s.source: is required", place)
	case b.Source.Type != "base64":
		return nil
	case b.Source.Data == "":
		return fmt.Errorf("%s.source.data: must not be empty", place)
	}
	if _, err := base64.StdEncoding.DecodeString(b.Source.Data); err != nil {
		return fmt.Errorf("%s.source.data: %w", place, err)
	}
	return nil
}

package chattest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A wireRequest is a request as parsed by a server.
type wireRequest struct {
	Model               string        `json:"model"`
	Messages            []wireMessage `json:"messages"`
	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	Stream              bool          `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Effort string `json:"reasoning_effort"`
	Tools  []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      bool            `json:"strict"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Parallel   *bool           `json:"parallel_tool_calls"`
	Format     *struct {
		Type   string `json:"type"`
		Schema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
	CacheKey string `json:"prompt_cache_key"`
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    wireContent     `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []wireCall      `json:"tool_calls"`
	Reasoning  string          `json:"reasoning_content"`
	Details    json.RawMessage `json:"reasoning_details"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// wireContent is a list of parts. In JSON, a string means a single text part and null means no
// parts.
type wireContent []wirePart

func (c *wireContent) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*c = wireContent{{Type: "text"}}
		return json.Unmarshal(data, &(*c)[0].Text)
	}
	return json.Unmarshal(data, (*[]wirePart)(c))
}

type wirePart struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Image *struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File *struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
}

// part converts a content part.
func (p *wirePart) part() (msg.Part, error) {
	switch {
	case p.Type == "text":
		return &msg.Text{Text: p.Text}, nil
	case p.Type == "image_url" && p.Image != nil:
		mediaType, data, err := fileIn(p.Image.URL)
		return &msg.Image{MediaType: mediaType, Data: data}, err
	case p.Type == "file" && p.File != nil:
		mediaType, data, err := fileIn(p.File.Data)
		return &msg.Document{MediaType: mediaType, Title: p.File.Name, Data: data}, err
	}
	return nil, fmt.Errorf("a part of type %q is not supported", p.Type)
}

// fileIn returns the file in a data URL.
func fileIn(address string) (mediaType string, data []byte, err error) {
	rest, ok := strings.CutPrefix(address, "data:")
	mediaType, encoded, found := strings.Cut(rest, ";base64,")
	if !ok || !found || mediaType == "" || encoded == "" {
		return "", nil, errors.New("expected a base64-encoded data URL")
	}
	data, err = base64.StdEncoding.DecodeString(encoded)
	return mediaType, data, err
}

// known lists the members a request may have.
var known = [...]string{
	"model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options", "reasoning_effort", "tools", "tool_choice",
	"parallel_tool_calls", "response_format", "prompt_cache_key", "temperature", "top_p", "stop", "seed", "user", "n", "metadata", "store",
	"service_tier", "logit_bias", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty", "verbosity", "safety_identifier",
	"modalities", "audio", "prediction", "web_search_options",
}

// Check implements [wire.Server]: it returns an error for the first rule of the service that a
// request violates.
func (Server) Check(_ http.Header, body []byte) error {
	top, err := wire.Members(body)
	if err != nil {
		return fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	seen := map[string]bool{}
	for _, m := range top {
		if seen[m.Name] {
			return fmt.Errorf("%s: given twice", m.Name)
		}
		seen[m.Name] = true
		if !slices.Contains(known[:], m.Name) {
			return fmt.Errorf("unrecognized request argument supplied: %s", m.Name)
		}
	}
	var r wireRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("the body has a wrong type: %w", err)
	}
	for _, rule := range []func(*wireRequest) error{checkOptions, checkTools, checkMessages, checkPairs} {
		if err := rule(&r); err != nil {
			return err
		}
	}
	return nil
}

// limit returns the output limit, or the model's own if none is set.
func (r *wireRequest) limit() int {
	switch {
	case r.MaxTokens != nil:
		return *r.MaxTokens
	case r.MaxCompletionTokens != nil:
		return *r.MaxCompletionTokens
	}
	return math.MaxInt32
}

func checkOptions(r *wireRequest) error {
	switch {
	case r.Model == "":
		return errors.New("you must provide a model parameter")
	case r.MaxTokens != nil && r.MaxCompletionTokens != nil:
		return errors.New("max_tokens and max_completion_tokens may not both be set")
	case r.limit() < 1:
		return errors.New("max_tokens: must be at least 1")
	case r.StreamOptions != nil && !r.Stream:
		return errors.New("stream_options: is only allowed when stream is enabled")
	case r.Effort != "" && !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}, r.Effort):
		return fmt.Errorf("reasoning_effort: %q is not a supported value", r.Effort)
	case len(r.CacheKey) > 64:
		return errors.New("prompt_cache_key: string too long")
	case r.Parallel != nil && len(r.Tools) == 0:
		return errors.New("parallel_tool_calls: is only allowed when tools are specified")
	case len(r.ToolChoice) > 0 && len(r.Tools) == 0:
		return errors.New("tool_choice: is only allowed when tools are specified")
	}
	if f := r.Format; f != nil && f.Type == "json_schema" {
		switch {
		case f.Schema == nil || toolname.Restrict(f.Schema.Name) != f.Schema.Name:
			return errors.New("response_format.json_schema.name: expected 1 to 64 letters, digits, _ and -")
		case !isObject(f.Schema.Schema):
			return errors.New("response_format.json_schema.schema: must be the schema of an object")
		}
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

func checkTools(r *wireRequest) error {
	names := map[string]bool{}
	for i, t := range r.Tools {
		name := t.Function.Name
		switch {
		case t.Type != "function":
			return fmt.Errorf("tools[%d].type: %q is not function", i, t.Type)
		case !isName(name):
			return fmt.Errorf("tools[%d].function.name: %q does not match ^[a-zA-Z0-9_-]{1,64}$", i, name)
		case names[name]:
			return fmt.Errorf("tools[%d].function.name: %q is not unique", i, name)
		case !isObject(t.Function.Parameters):
			return fmt.Errorf(`tools[%d].function.parameters: schema must have type "object"`, i)
		}
		names[name] = true
	}
	var choice struct {
		Function struct{ Name string }
	}
	if bytes.HasPrefix(r.ToolChoice, []byte("{")) {
		if json.Unmarshal(r.ToolChoice, &choice) != nil || !names[choice.Function.Name] {
			return fmt.Errorf("tool_choice: %q is not among the tools", choice.Function.Name)
		}
	}
	return nil
}

// maxID is the maximum length of a call ID.
const maxID = 40

// isName reports whether s is a valid function name.
func isName(s string) bool {
	return s != "" && len(s) <= toolname.Most && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func checkMessages(r *wireRequest) error {
	if len(r.Messages) == 0 {
		return errors.New("messages: must not be empty")
	}
	for i, m := range r.Messages {
		place := fmt.Sprintf("messages[%d]", i)
		switch m.Role {
		case "system", "developer", "user", "tool":
			if len(m.Content) == 0 {
				return fmt.Errorf("%s.content: expected a string or a list of parts", place)
			}
		case "assistant":
			if len(m.Content) == 0 && len(m.ToolCalls) == 0 {
				return fmt.Errorf("%s: content is required unless tool_calls is specified", place)
			}
		default:
			return fmt.Errorf("%s.role: %q is not a supported value", place, m.Role)
		}
		for j, p := range m.Content {
			if p.Type != "text" && m.Role != "user" {
				return fmt.Errorf("%s.content[%d].type: %q is not allowed in a message of role %s", place, j, p.Type, m.Role)
			}
			part, err := p.part()
			if err != nil {
				return fmt.Errorf("%s.content[%d]: %w", place, j, err)
			}
			if image, ok := part.(*msg.Image); ok && !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, image.MediaType) {
				return fmt.Errorf("%s.content[%d].image_url: the image is of the type %s, which is not supported", place, j, image.MediaType)
			}
		}
		for j, c := range m.ToolCalls {
			if err := c.check(); err != nil {
				return fmt.Errorf("%s.tool_calls[%d]: %w", place, j, err)
			}
		}
	}
	return nil
}

func (c *wireCall) check() error {
	switch {
	case c.ID == "" || len(c.ID) > maxID:
		return fmt.Errorf("id: %q is not 1 to %d characters long", c.ID, maxID)
	case c.Type != "function":
		return fmt.Errorf("type: %q is not function", c.Type)
	case !isName(c.Function.Name):
		return fmt.Errorf("function.name: %q does not match ^[a-zA-Z0-9_-]{1,64}$", c.Function.Name)
	case !json.Valid([]byte(c.Function.Arguments)):
		return errors.New("function.arguments: is not JSON")
	}
	return nil
}

// checkPairs checks that every call is answered by a message right after it and that the
// request has no other results.
func checkPairs(r *wireRequest) error {
	var open []string
	for i, m := range r.Messages {
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Errorf("messages[%d]: a message of role tool must be a response to a preceding message with tool_calls; %q is none of them", i, m.ToolCallID)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: an assistant message with tool_calls must be followed by tool messages for each of them; these are missing: %s", i, strings.Join(open, ", "))
		}
		for _, c := range m.ToolCalls {
			if slices.Contains(open, c.ID) {
				return fmt.Errorf("messages[%d]: the id %q comes twice", i, c.ID)
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: these tool calls have no response: %s", strings.Join(open, ", "))
	}
	return nil
}

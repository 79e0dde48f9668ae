// Package responsestest implements a strict server of the responses dialect for tests.
package responsestest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/responses"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Server implements [wire.Server].
type Server struct{ responses.Dialect }

const (
	// signature begins the signatures of the dialect; the rest is an item.
	signature = "responses:"
	// phaseMember begins the item that holds the phase of the following message.
	phaseMember = `{"phase":`
	// failedCall begins the result of a failed call.
	failedCall = "The call failed:\n"
	// encryptedReasoning requests reasoning in a form that can be sent back.
	encryptedReasoning = "reasoning.encrypted_content"
)

// Admit implements [wire.Server].
func (Server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	refuse := func(kind model.Kind, format string, args ...any) (wire.RequestInfo, *model.Error) {
		return wire.RequestInfo{}, &model.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
	if !strings.HasSuffix(path, "/responses") {
		return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Status: http.StatusNotFound, Message: "there is nothing at " + path}
	}
	if h.Get("Authorization") == "" && h.Get("Api-Key") == "" {
		return refuse(model.Auth, "You didn't provide an API key in the Authorization header")
	}
	if t, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || t != "application/json" {
		return refuse(model.Invalid, "Unsupported content type: %q; this method takes application/json only", h.Get("Content-Type"))
	}
	var head struct {
		Model     string   `json:"model"`
		Stream    bool     `json:"stream"`
		Include   []string `json:"include"`
		Reasoning struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return refuse(model.Invalid, "We could not parse the JSON body of your request: %v", err)
	}
	return wire.RequestInfo{Model: head.Model, Stream: head.Stream, Thinks: slices.Contains(head.Include, encryptedReasoning)}, nil
}

// Sign implements [wire.Server]. The signature is the encrypted content of a reasoning item,
// which is not bound to the content before it.
func (Server) Sign(_ []byte, id, _ string) string { return id }

// EncodeTokenCount implements [wire.Server]. The dialect has no such request.
func (Server) EncodeTokenCount(int) []byte { return nil }

// A readItem is an item of the input.
type readItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   readContent     `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    readContent     `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Summary   readContent     `json:"summary"`
	Phase     json.RawMessage `json:"phase"`
	raw       json.RawMessage
}

func (i *readItem) UnmarshalJSON(data []byte) error {
	type plain readItem
	if err := json.Unmarshal(data, (*plain)(i)); err != nil {
		return err
	}
	if i.Type == "" && i.Role != "" {
		i.Type = "message"
	}
	i.raw = slices.Clone(data)
	return nil
}

// readContent is a list of pieces. In JSON, a string means a single text.
type readContent []readPiece

type readPiece struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	ImageURL string `json:"image_url"`
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

func (c *readContent) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*c = readContent{{Type: "text"}}
		return json.Unmarshal(data, &(*c)[0].Text)
	}
	return json.Unmarshal(data, (*[]readPiece)(c))
}

// readInput is a list of items. In JSON, a string means a user message.
type readInput []readItem

func (in *readInput) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*in = readInput{{Type: "message", Role: "user", Content: readContent{{Type: "text"}}}}
		return json.Unmarshal(data, &(*in)[0].Content[0].Text)
	}
	return json.Unmarshal(data, (*[]readItem)(in))
}

type readTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// Read implements [wire.Server].
func (Server) Read(body []byte) (*model.Request, error) {
	var r struct {
		Model        string     `json:"model"`
		Limit        int        `json:"max_output_tokens"`
		Stream       bool       `json:"stream"`
		Instructions string     `json:"instructions"`
		Tools        []readTool `json:"tools"`
		Input        readInput  `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	req := &model.Request{Model: r.Model, MaxTokens: r.Limit, NoStream: !r.Stream}
	if r.Instructions != "" {
		req.System = append(req.System, &msg.Text{Text: r.Instructions})
	}
	for _, t := range r.Tools {
		if t.Type == "function" {
			req.Tools = append(req.Tools, msg.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Parameters, Strict: t.Strict == nil || *t.Strict})
		}
	}
	for i := range r.Input {
		it := &r.Input[i]
		role, parts, err := it.parts()
		if err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		switch n := len(req.Messages); {
		case role == "":
			req.System = append(req.System, parts...)
		case n > 0 && req.Messages[n-1].Role == role:
			req.Messages[n-1].Parts = append(req.Messages[n-1].Parts, parts...)
		default:
			req.Messages = append(req.Messages, msg.Message{Role: role, Parts: parts})
		}
	}
	return req, nil
}

// parts returns the role of the message an item belongs to, empty for the system prompt, and
// the item's parts.
func (i *readItem) parts() (role msg.Role, parts []msg.Part, err error) {
	switch i.Type {
	case "message":
		parts, err = i.Content.parts()
		switch i.Role {
		case "developer", "system":
			return "", parts, err
		case "assistant":
			if p := i.Phase; len(p) > 2 && p[0] == '"' {
				parts = append([]msg.Part{&msg.Thinking{Signature: signature + phaseMember + string(p) + "}"}}, parts...)
			}
			return msg.Assistant, parts, err
		}
		return msg.User, parts, err
	case "function_call":
		return msg.Assistant, []msg.Part{msg.NewToolUse(i.CallID, i.Name, i.Arguments)}, nil
	case "function_call_output":
		parts, err = i.Output.parts()
		r := &msg.ToolResult{ID: i.CallID, Parts: parts}
		if t, ok := slices.Concat(parts, []msg.Part{nil})[0].(*msg.Text); ok {
			if text, failed := strings.CutPrefix(t.Text, failedCall); failed {
				r.IsError = true
				if r.Parts[0] = (&msg.Text{Text: text}); text == "" && len(parts) > 1 {
					r.Parts = r.Parts[1:]
				}
			}
		}
		return msg.User, []msg.Part{r}, err
	case "reasoning":
		texts := make([]string, len(i.Summary))
		for j, p := range i.Summary {
			texts[j] = p.Text
		}
		return msg.Assistant, []msg.Part{&msg.Thinking{Text: strings.Join(texts, "\n\n"), Signature: signature + string(i.raw)}}, nil
	}
	return msg.Assistant, []msg.Part{&msg.Opaque{Raw: i.raw}}, nil
}

func (c readContent) parts() ([]msg.Part, error) {
	var parts []msg.Part
	for _, p := range c {
		switch p.Type {
		case "input_image":
			media, data, err := dataURI(p.ImageURL)
			if err != nil {
				return nil, err
			}
			parts = append(parts, &msg.Image{MediaType: media, Data: data})
		case "input_file":
			media, data, err := dataURI(p.FileData)
			if err != nil {
				return nil, err
			}
			parts = append(parts, &msg.Document{MediaType: media, Title: p.Filename, Data: data})
		case "refusal":
			parts = append(parts, &msg.Text{Text: p.Refusal})
		default:
			parts = append(parts, &msg.Text{Text: p.Text})
		}
	}
	return parts, nil
}

// dataURI returns the file in a data URI.
func dataURI(uri string) (mediaType string, data []byte, err error) {
	rest, ok := strings.CutPrefix(uri, "data:")
	mediaType, encoded, found := strings.Cut(rest, ";base64,")
	if !ok || !found {
		return "", nil, fmt.Errorf("not a data URI with base64")
	}
	data, err = base64.StdEncoding.DecodeString(encoded)
	return mediaType, data, err
}

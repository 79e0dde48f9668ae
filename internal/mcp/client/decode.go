package client

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/mcp"
	"adze/internal/platform/text/jsonscan"
)

const (
	// maxSchema is the maximum size of a tool's schema.
	maxSchema = 256 << 10
	// maxParts is the maximum number of content parts in a result.
	maxParts = 1000
)

// anyObject is the schema for tools without one.
var anyObject = json.RawMessage(`{"type":"object"}`)

// decodeTool decodes a list entry as a tool, with the server's own name for it. The error is
// the reason it cannot be used.
func decodeTool(raw json.RawMessage) (tool mcp.Tool, own string, err error) {
	var w struct {
		Name, Title, Description json.RawMessage
		InputSchema              json.RawMessage `json:"inputSchema"`
		OutputSchema             json.RawMessage `json:"outputSchema"`
		Annotations              json.RawMessage `json:"annotations"`
		Meta                     json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(raw, &w) != nil {
		return tool, "", errors.New("an invalid tool")
	}
	if own = str(w.Name); line(own, nameLimit) == "" {
		return tool, "", errors.New("a tool without a name")
	}
	if len(w.InputSchema) > maxSchema || len(w.OutputSchema) > maxSchema {
		return tool, "", fmt.Errorf("the tool %s, whose schema is larger than %d KB", line(own, nameLimit), maxSchema>>10)
	}
	var notes struct {
		Title       json.RawMessage
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	json.Unmarshal(w.Annotations, &notes) // ok: unreadable annotations are ignored
	var meta struct {
		AlwaysLoad any `json:"anthropic/alwaysLoad"`
		Hint       any `json:"anthropic/searchHint"`
	}
	json.Unmarshal(w.Meta, &meta) // ok: as above
	title := line(str(w.Title), titleLimit)
	if title == "" {
		title = line(str(notes.Title), titleLimit)
	}
	tool = mcp.Tool{
		Name: line(own, nameLimit), Title: title, Description: text(str(w.Description), textLimit), Schema: anyObject,
		ReadOnly: notes.ReadOnly, Destructive: notes.Destructive, OpenWorld: notes.OpenWorld,
	}
	tool.AlwaysLoad, _ = meta.AlwaysLoad.(bool)
	hint, _ := meta.Hint.(string)
	tool.Hint = line(hint, titleLimit)
	if schema, ok := cleanSchema(w.InputSchema); ok {
		tool.Schema = schema
	}
	if schema, ok := cleanSchema(w.OutputSchema); ok {
		tool.Output = schema
	}
	return tool, own, nil
}

// decodeResource decodes a list entry as a resource or template.
func decodeResource(raw json.RawMessage) (res mcp.Resource, own string, err error) {
	var w struct {
		URI, Name, Title, Description, MimeType json.RawMessage
		URITemplate                             json.RawMessage `json:"uriTemplate"`
		Size                                    float64
	}
	if json.Unmarshal(raw, &w) != nil {
		return res, "", errors.New("an invalid resource")
	}
	if own = str(w.URI); own == "" {
		own = str(w.URITemplate)
	}
	if own == "" || len(own) > uriLimit {
		return res, "", errors.New("a resource without a usable URI")
	}
	return mcp.Resource{
		URI: line(own, uriLimit), Name: line(str(w.Name), nameLimit), Title: line(str(w.Title), titleLimit),
		Description: text(str(w.Description), textLimit), MIME: line(str(w.MimeType), nameLimit), Size: max(0, int64(w.Size)),
	}, own, nil
}

// decodePrompt decodes a list entry as a prompt.
func decodePrompt(raw json.RawMessage) (p mcp.Prompt, own string, err error) {
	var w struct {
		Name, Title, Description json.RawMessage
		Arguments                []struct {
			Name, Description json.RawMessage
			Required          bool
		}
	}
	if json.Unmarshal(raw, &w) != nil {
		return p, "", errors.New("an invalid prompt")
	}
	if own = str(w.Name); line(own, nameLimit) == "" {
		return p, "", errors.New("a prompt without a name")
	}
	p = mcp.Prompt{Name: line(own, nameLimit), Title: line(str(w.Title), titleLimit), Description: text(str(w.Description), textLimit)}
	for _, a := range w.Arguments[:min(len(w.Arguments), 100)] {
		p.Args = append(p.Args, mcp.PromptArg{Name: line(str(a.Name), nameLimit), Description: text(str(a.Description), textLimit), Required: a.Required})
	}
	return p, own, nil
}

// members returns an object's members without copying, or false if raw is not an object.
func members(raw []byte) (map[string]json.RawMessage, bool) {
	all := map[string]json.RawMessage{}
	err := jsonscan.Object(raw, func(name, value []byte) error {
		all[string(name)] = value
		return nil
	})
	return all, err == nil
}

// elements returns a list's elements without copying, or false if raw is not a list.
func elements(raw []byte) (all []json.RawMessage, ok bool) {
	err := jsonscan.List(raw, func(value []byte) error {
		all = append(all, value)
		return nil
	})
	return all, err == nil
}

// decodeResult decodes a call's result. The error names the invalid field.
func decodeResult(raw json.RawMessage) (*mcp.Result, error) {
	w, ok := members(raw)
	if !ok {
		return nil, errors.New("the server violates the protocol: the result is not an object")
	}
	res := &mcp.Result{}
	if !jsonscan.IsNull(w["structuredContent"]) {
		res.Structured = cleanValue(w["structuredContent"])
	}
	if flag := w["isError"]; len(flag) > 0 && json.Unmarshal(flag, &res.IsError) != nil {
		return nil, errors.New(`the server violates the protocol: the field "isError" of the result is neither true nor false`)
	}
	if meta := w["_meta"]; len(meta) > 0 && len(meta) <= maxSchema {
		res.Meta = cleanValue(meta)
	}
	parts, ok := elements(w["content"])
	switch {
	case ok:
		res.Content = decodeContents(parts)
	case len(w["content"]) > 0:
		return nil, errors.New(`the server violates the protocol: the field "content" of the result is not a list`)
	case res.Structured == nil:
		return nil, errors.New(`the server violates the protocol: the result has no field "content"`)
	}
	return res, nil
}

// decodeContents decodes the content parts of a result.
func decodeContents(parts []json.RawMessage) []mcp.Content {
	var list []mcp.Content
	for i, part := range parts {
		if i == maxParts {
			return append(list, mcp.Content{Flaw: fmt.Sprintf("%d more pieces of content were left out", len(parts)-i)})
		}
		list = append(list, decodeContent(part))
	}
	return list
}

// decodeContent decodes a content part.
func decodeContent(raw json.RawMessage) mcp.Content {
	w, ok := members(raw)
	if !ok {
		return mcp.Content{Flaw: "a content item that is not an object"}
	}
	switch kind := str(w["type"]); kind {
	case "text":
		if !isString(w["text"]) {
			return mcp.Content{Flaw: `a text without the field "text"`}
		}
		return mcp.Content{Kind: mcp.TextContent, Text: untagged(str(w["text"]))}
	case "image":
		return decodeData(mcp.ImageContent, kind, w["data"], w["mimeType"])
	case "audio":
		return decodeData(mcp.AudioContent, kind, w["data"], w["mimeType"])
	case "resource":
		return decodeContained(w["resource"])
	case "resource_link":
		name := line(str(w["title"]), titleLimit)
		if name == "" {
			name = line(str(w["name"]), nameLimit)
		}
		return mcp.Content{
			Kind: mcp.ResourceLink, URI: line(str(w["uri"]), uriLimit), Name: name,
			Description: text(str(w["description"]), textLimit), MIME: line(str(w["mimeType"]), nameLimit),
		}
	default:
		return mcp.Content{Flaw: fmt.Sprintf("a piece of content of the unknown type %q", line(kind, nameLimit))}
	}
}

// decodeContained decodes a resource's content.
func decodeContained(raw json.RawMessage) mcp.Content {
	w, ok := members(raw)
	if !ok {
		return mcp.Content{Flaw: `a resource without the field "resource"`}
	}
	c := mcp.Content{Kind: mcp.ResourceText}
	switch {
	case isString(w["text"]):
		c.Text = untagged(str(w["text"]))
	case isString(w["blob"]):
		c = decodeData(mcp.ResourceBlob, "blob", w["blob"], w["mimeType"])
	default:
		return mcp.Content{Flaw: `a resource with neither "text" nor "blob"`}
	}
	c.URI, c.MIME = line(str(w["uri"]), uriLimit), line(str(w["mimeType"]), nameLimit)
	return c
}

// decodeData decodes base64 content.
func decodeData(kind mcp.Kind, what string, raw, mime json.RawMessage) mcp.Content {
	encoded := str(raw)
	if strings.ContainsAny(encoded, " \t\r\n") {
		encoded = strings.Join(strings.Fields(encoded), "")
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(encoded)
	}
	if err != nil || len(data) == 0 {
		return mcp.Content{Kind: kind, Flaw: fmt.Sprintf("the data of %s content that is broken or empty", what)}
	}
	return mcp.Content{Kind: kind, Data: data, MIME: line(str(mime), nameLimit)}
}

// str returns a JSON string, or "" for anything else.
func str(raw json.RawMessage) string {
	s, _ := jsonscan.String(raw) // ok: anything but a string is empty
	return s
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

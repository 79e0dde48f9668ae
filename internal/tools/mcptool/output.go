package mcptool

import (
	_ "embed"
	"encoding/json"

	"adze/internal/mcp"
	"adze/internal/mcp/content"
)

//go:embed mcptool.output.json
var outputSchema string

// Output is the structured result: the server's result without data that were saved or shown.
type Output struct {
	Content           []Block         `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError,omitempty"`
	Meta              json.RawMessage `json:"_meta,omitempty"`
	// File is the file with all texts if they are too long.
	File string `json:"file,omitempty"`
}

// A Block is a content block.
type Block struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	URI      string `json:"uri,omitempty"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// File is the file where data were saved.
	File string `json:"file,omitempty"`
}

// maxMeta is the maximum size of metadata that is kept.
const maxMeta = 16 << 10

func outputOf(res *mcp.Result, rendered *content.Rendered) Output {
	out := Output{Content: []Block{}, IsError: res.IsError, File: rendered.File}
	if len(res.Meta) <= maxMeta {
		out.Meta = res.Meta
	}
	if rendered.Cut {
		out.Content = append(out.Content, Block{Type: "text", Text: rendered.Text})
		return out
	}
	out.StructuredContent = res.Structured
	for i, c := range res.Content {
		out.Content = append(out.Content, Block{Type: kind(&c), Text: c.Text + c.Flaw, URI: c.URI, Name: c.Name, MIMEType: c.MIME, File: rendered.Files[i]})
	}
	return out
}

func kind(c *mcp.Content) string {
	switch c.Kind {
	case mcp.ImageContent:
		return "image"
	case mcp.AudioContent:
		return "audio"
	case mcp.ResourceText, mcp.ResourceBlob:
		return "resource"
	case mcp.ResourceLink:
		return "resource_link"
	}
	return "text"
}

package gemini

import (
	"fmt"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A front is the encoded part of a request before its contents: the system prompt and the
// tools. It rarely changes between requests.
type front struct {
	system []msg.Part
	tools  []msg.ToolSpec
	search *model.Search
	text   []byte // never written to again
	// leftOut lists the omitted tools with the reasons.
	leftOut []string
}

// encode returns the front of req, up to its first content.
func (f *front) encode(d Dialect, req *model.Request) []byte {
	if f.text != nil && slices.Equal(f.system, req.System) && wire.SameTools(f.tools, req.Tools) && f.search == req.Search {
		return f.text
	}
	dst := make([]byte, 0, roomFor(req))
	dst = appendSystem(dst, req.System)
	dst, leftOut := appendTools(dst, req.Tools, d.OpenAPI)
	if req.Search != nil && len(req.Tools) == 0 { // search can't be combined with other tools
		dst = append(dst, `,"tools":[{"googleSearch":{}}]`...)
	}
	dst = append(dst, `,"contents":[`...)
	*f = front{slices.Clone(req.System), req.Tools, req.Search, slices.Clip(dst), leftOut}
	return f.text
}

// roomFor estimates the size of a front.
func roomFor(req *model.Request) int {
	n := 512
	for _, p := range req.System {
		if t, ok := p.(*msg.Text); ok {
			n += len(t.Text) + len(t.Text)/16 + 64
		}
	}
	for _, t := range req.Tools {
		n += len(t.Description) + len(t.Description)/16 + len(t.Schema) + 128
	}
	return n
}

func appendSystem(dst []byte, system []msg.Part) []byte {
	sep := `,"systemInstruction":{"parts":[`
	for _, p := range system {
		if t, ok := p.(*msg.Text); ok && t.Text != "" {
			dst = append(dst, sep...)
			dst = append(dst, `{"text":`...)
			dst = append(msg.AppendString(dst, t.Text), '}')
			sep = ","
		}
	}
	if sep != "," {
		return dst
	}
	return append(dst, "]}"...)
}

func appendTools(dst []byte, tools []msg.ToolSpec, openAPI bool) (to []byte, leftOut []string) {
	sep := `,"tools":[{"functionDeclarations":[`
	for _, t := range tools {
		schema, err := parameters(t.Schema, openAPI)
		if err != nil {
			leftOut = append(leftOut, fmt.Sprintf("the tool %s is left out: %v", t.Name, err))
			continue
		}
		dst = append(dst, sep...)
		sep = ","
		dst = append(dst, `{"name":`...)
		dst = msg.AppendString(dst, wireName(t.Name))
		if t.Description != "" {
			dst = append(dst, `,"description":`...)
			dst = msg.AppendString(dst, t.Description)
		}
		switch {
		case len(schema) == 0:
		case openAPI:
			dst = append(append(dst, `,"parameters":`...), schema...)
		default:
			dst = append(append(dst, `,"parametersJsonSchema":`...), schema...)
		}
		dst = append(dst, '}')
	}
	if sep != "," {
		return dst, leftOut
	}
	return append(dst, "]}]"...), leftOut
}

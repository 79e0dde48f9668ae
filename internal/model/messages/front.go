package messages

import (
	"maps"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A front is the encoded part of a request before its messages: the system prompt and the
// tools. It rarely changes between requests.
type front struct {
	system []msg.Part
	tools  []msg.ToolSpec
	strict bool
	search *model.Search
	marks  map[position]model.Mark // marks in both
	text   []byte                  // never written to again
}

// encode returns the front of req, up to its first message.
func (f *front) encode(req *model.Request, marks map[position]model.Mark) []byte {
	marks = maps.Clone(marks)
	delete(marks, position{place: model.InMessages})
	strict := req.Omit&model.OmitStrict == 0
	if f.text != nil && f.strict == strict && f.search == req.Search && slices.Equal(f.system, req.System) && wire.SameTools(f.tools, req.Tools) && maps.Equal(f.marks, marks) {
		return f.text
	}
	dst := make([]byte, 0, roomFor(req))
	dst = appendSystem(dst, req.System, marks)
	dst = appendTools(dst, req.Tools, strict, marks)
	dst = appendSearch(dst, req)
	dst = append(dst, `,"messages":[`...)
	*f = front{slices.Clone(req.System), req.Tools, strict, req.Search, marks, slices.Clip(dst)}
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

func appendSystem(dst []byte, system []msg.Part, marks map[position]model.Mark) []byte {
	first := true
	for i, p := range system {
		if isEmptyText(p) {
			continue
		}
		if first {
			dst = append(dst, `,"system":[`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = appendPart(dst, p)
		dst = markBlock(dst, marks, position{model.InSystem, i})
	}
	if first {
		return dst
	}
	return append(dst, ']')
}

func appendTools(dst []byte, tools []msg.ToolSpec, strict bool, marks map[position]model.Mark) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":`...)
	for i, t := range tools {
		dst = append(dst, "[,"[min(i, 1)])
		dst = append(dst, `{"name":`...)
		dst = msg.AppendString(dst, t.Name)
		if t.Description != "" {
			dst = append(dst, `,"description":`...)
			dst = msg.AppendString(dst, t.Description)
		}
		dst = append(dst, `,"input_schema":`...)
		if len(t.Schema) == 0 {
			dst = append(dst, `{"type":"object"}`...)
		} else {
			dst = append(dst, t.Schema...)
		}
		if t.Strict && strict {
			dst = append(dst, `,"strict":true`...)
		}
		dst = append(dst, '}')
		dst = markBlock(dst, marks, position{model.InTools, i})
	}
	return append(dst, ']')
}

package responses

import (
	"slices"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A front is the encoded part of a request before its messages: the tools and the system
// prompt. It rarely changes between requests.
type front struct {
	system []msg.Part
	tools  []msg.ToolSpec
	strict bool
	search *model.Search
	text   []byte // never written to again
	says   bool   // ends with the system prompt
}

// encode returns the front of req, up to its first message, and whether it contains an item.
func (f *front) encode(d Dialect, req *model.Request) (text []byte, system bool) {
	strict := req.Omit&model.OmitStrict == 0
	if f.text != nil && f.strict == strict && f.search == req.Search && slices.Equal(f.system, req.System) && wire.SameTools(f.tools, req.Tools) {
		return f.text, f.says
	}
	dst := appendTools(make([]byte, 0, 4096), req.Tools, strict)
	dst = appendSearch(dst, req)
	dst = append(dst, `,"input":[`...)
	before := len(dst)
	dst = d.appendSystem(dst, req.System)
	*f = front{slices.Clone(req.System), req.Tools, strict, req.Search, slices.Clip(dst), len(dst) > before}
	return f.text, f.says
}

// appendSystem appends the system prompt as the first input item, where its parts stay
// separate; instructions would merge them.
func (d Dialect) appendSystem(dst []byte, system []msg.Part) []byte {
	first := true
	for _, p := range system {
		t, ok := p.(*msg.Text)
		if !ok || t.Text == "" {
			continue
		}
		if first {
			dst = append(dst, `{"type":"message","role":"`...)
			dst = append(dst, d.systemRole()...)
			dst = append(dst, `","content":[`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = appendText(dst, "input_text", t.Text)
	}
	if first {
		return dst
	}
	return append(dst, "]}"...)
}

func (d Dialect) systemRole() string {
	if d.SystemRole != "" {
		return d.SystemRole
	}
	return "developer"
}

// appendTools appends the tools. Strict is the servers' default, so it must be disabled for
// schemas that they cannot enforce.
func appendTools(dst []byte, tools []msg.ToolSpec, strict bool) []byte {
	if len(tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":`...)
	for i, t := range tools {
		dst = append(dst, "[,"[min(i, 1)])
		dst = append(dst, `{"type":"function","name":`...)
		dst = msg.AppendString(dst, toolname.Restrict(t.Name))
		schema, note := objectSchema(t.Schema)
		if description := t.Description + note; description != "" {
			dst = append(dst, `,"description":`...)
			dst = msg.AppendString(dst, description)
		}
		dst = append(dst, `,"parameters":`...)
		dst = append(dst, schema...)
		if t.Strict && strict && isStrict(schema) {
			dst = append(dst, `,"strict":true}`...)
		} else {
			dst = append(dst, `,"strict":false}`...)
		}
	}
	return append(dst, ']')
}

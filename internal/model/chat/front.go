package chat

import (
	"slices"
	"strings"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/msg"
)

// A front is the encoded part of a request before the conversation: the tools and the system
// prompt. It rarely changes between requests.
type front struct {
	key  frontKey
	sys  []msg.Part
	text []byte // never written to again
}

// A frontKey identifies the inputs of a front other than the system prompt.
type frontKey struct {
	tools    *msg.ToolSpec // first tool; a tool list never changes
	count    int
	omit     model.Omission
	choice   string
	marks    [2]int // marked system blocks, from 1
	messages bool   // the request has messages
}

// encode returns the front of req, up to its first message.
func (f *front) encode(d Dialect, req *model.Request) []byte {
	key := frontKey{count: len(req.Tools), omit: req.Omit & (model.OmitStrict | model.OmitCache), messages: len(req.Messages) > 0}
	if len(req.Tools) > 0 {
		key.tools = &req.Tools[0]
	}
	if d.TextTools {
		key.choice = req.Choice.Name
	}
	key.marks = d.systemMarks(req)
	if f.text != nil && f.key == key && slices.Equal(f.sys, req.System) {
		return f.text
	}
	var dst []byte
	if !d.TextTools {
		dst = appendTools(dst, req.Tools, req.Omit&model.OmitStrict == 0)
	}
	dst = append(dst, `,"messages":[`...)
	n := len(dst)
	dst = d.appendSystem(dst, req, key.marks)
	if len(dst) > n && key.messages {
		dst = append(dst, ',')
	}
	*f = front{key, slices.Clone(req.System), slices.Clip(dst)}
	return f.text
}

// systemMarks returns the indexes, from 1, of the marked system prompt blocks: at most two.
func (d Dialect) systemMarks(req *model.Request) (at [2]int) {
	if !d.Marks || req.Omit&model.OmitCache != 0 {
		return at
	}
	n := 0
	for _, m := range req.Cache {
		if m.Place == model.InSystem && m.Index >= 0 && n < len(at) {
			at[n] = m.Index + 1
			n++
		}
	}
	return at
}

func (d Dialect) appendSystem(dst []byte, req *model.Request, marks [2]int) []byte {
	var texts []string
	var marked []bool
	for i, p := range req.System {
		if t, ok := p.(*msg.Text); ok && strings.TrimSpace(t.Text) != "" {
			texts = append(texts, t.Text)
			marked = append(marked, marks[0] == i+1 || marks[1] == i+1)
		}
	}
	if d.TextTools && len(req.Tools) > 0 {
		texts = append(texts, describeTools(req.Tools, req.Choice.Name))
		marked = append(marked, false)
	}
	if len(texts) == 0 {
		return dst
	}
	role := "system"
	if d.Developer {
		role = "developer"
	}
	dst = append(dst, `{"role":"`+role+`","content":`...)
	if marks == [2]int{} { // a single text: not every server accepts a list here
		dst = msg.AppendString(dst, strings.Join(texts, "\n\n"))
		return append(dst, '}')
	}
	for i, text := range texts {
		dst = append(dst, "[,"[min(i, 1)])
		dst = append(dst, `{"type":"text","text":`...)
		dst = msg.AppendString(dst, text)
		if marked[i] {
			dst = append(dst, cacheMark...)
		}
		dst = append(dst, '}')
	}
	return append(dst, "]}"...)
}

func appendTools(dst []byte, tools []msg.ToolSpec, strict bool) []byte {
	for i, t := range tools {
		if i == 0 {
			dst = append(dst, `,"tools":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = msg.AppendString(dst, toolname.Restrict(t.Name))
		if t.Description != "" {
			dst = append(dst, `,"description":`...)
			dst = msg.AppendString(dst, t.Description)
		}
		dst = append(dst, `,"parameters":`...)
		dst = append(dst, schemaOf(t)...)
		if t.Strict && strict {
			dst = append(dst, `,"strict":true`...)
		}
		dst = append(dst, "}}"...)
	}
	if len(tools) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// schemaOf returns a tool's input schema, or an empty object schema; some servers require its
// members.
func schemaOf(t msg.ToolSpec) []byte {
	if len(t.Schema) == 0 {
		return []byte(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

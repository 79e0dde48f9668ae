package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adze/internal/model/toolname"
	"adze/internal/msg"
)

// Models without native tool calls write calls as text. The prompt asks for them between tags;
// many models were trained on another format and use that.
const (
	callTag    = "<tool_call>"
	callEndTag = "</tool_call>"
	// listTag precedes a list of calls, which ends with the answer.
	listTag = "[TOOL_CALLS]"
	fence   = "```"
	// functionTag begins a call in the format of Qwen's coding models, mostly within callTag.
	functionTag    = "<function="
	functionEndTag = "</function>"
	parameterTag   = "<parameter="
	parameterEnd   = "</parameter>"
)

// describeTools returns the tool instructions for such a model. choice is the tool it must use,
// or empty.
func describeTools(tools []msg.ToolSpec, choice string) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nTo call a tool, write a JSON object with its name and its arguments between two tags, and nothing after it:\n\n" +
		callTag + "\n{\"name\": \"TOOL\", \"arguments\": {}}\n" + callEndTag + "\n\n" +
		"To call several tools at once, write several such blocks. The results come in the next message, in the order of the calls, each between <tool_response> and </tool_response>. Never write results yourself.\n\nThe tools, each with the JSON Schema of its arguments:\n")
	for _, t := range tools {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", toolname.Restrict(t.Name), t.Description, schemaOf(t))
	}
	if choice != "" {
		fmt.Fprintf(&b, "\nAnswer with a call of %s, and with nothing else.\n", toolname.Restrict(choice))
	}
	return b.String()
}

// appendTextCall appends a call in the format described to the model.
func appendTextCall(text []byte, u *msg.ToolUse) []byte {
	if len(text) > 0 {
		text = append(text, '\n')
	}
	text = append(text, callTag+"\n{\"name\": "...)
	text = msg.AppendString(text, toolname.Restrict(u.Name))
	text = append(text, `, "arguments": `...)
	if len(u.Input) == 0 {
		text = append(text, "{}"...)
	}
	text = append(text, u.Input...)
	return append(text, "}\n"+callEndTag...)
}

// textCallParser finds calls in an answer's text. It holds back text that may be a call until that is
// decided.
type textCallParser struct {
	tools []msg.ToolSpec
	// If late is true, only calls at the end of an answer are recognized, between the tags that
	// models were trained on: the server should have parsed them, and any other text is text.
	late bool
	// parsed is true once the server has sent a native call: text is then never a call.
	parsed bool
	held   []byte
	state  proseState
	open   bool // inside a code fence
}

type proseState uint8

const (
	opening proseState = iota // only white space so far
	flowing
	inCall   // after a tag
	toTheEnd // the rest of the answer is a call, a list of calls, or neither
)

// add adds text and forwards the decided part to r.
func (p *textCallParser) add(r *reply, text []byte) {
	if p.late && len(p.held) == 0 && p.state != toTheEnd && !bytes.ContainsAny(text, "<`") {
		p.state = flowing
		r.write(text)
		return
	}
	p.held = append(p.held, text...)
	for p.step(r) {
	}
}

// flush emits the buffered text before a part of another kind. call is true if that part is a
// call.
func (p *textCallParser) flush(r *reply, call bool) {
	if p == nil || !p.late {
		return
	}
	p.parsed = p.parsed || call
	r.write(p.held)
	p.held, p.state = nil, flowing
}

// tags returns the tags that begin a call.
func (p *textCallParser) tags() []string {
	if p.late {
		return []string{callTag, functionTag}
	}
	return []string{callTag, listTag}
}

// step forwards part of the buffered text if possible.
func (p *textCallParser) step(r *reply) bool {
	switch p.state {
	case opening:
		begins := bytes.TrimLeft(p.held, " \t\r\n")
		switch {
		case p.late:
			p.state = flowing
		case len(begins) == 0 || short(begins, fence):
			return false
		case begins[0] == '{' || bytes.HasPrefix(begins, []byte(fence)):
			p.state = toTheEnd
		default:
			p.state = flowing
		}
		return true
	case flowing:
		at, tag := len(p.held), ""
		for _, t := range p.tags() {
			if i := bytes.Index(p.held, []byte(t)); i >= 0 && i < at {
				at, tag = i, t
			}
		}
		if tag == "" {
			at -= p.undecided()
		}
		p.open = p.open != (bytes.Count(p.held[:at], []byte(fence))%2 == 1)
		switch {
		case tag == "":
		case p.late && (p.open || p.parsed): // an example
			at += len(tag)
		case p.late || tag == listTag:
			p.state = toTheEnd
		default:
			p.state = inCall
		}
		r.write(p.held[:at])
		p.held = p.held[at:]
		return tag != ""
	case inCall:
		end := bytes.Index(p.held, []byte(callEndTag))
		if end < 0 {
			return false
		}
		end += len(callEndTag)
		p.calls(r, p.held[:end])
		p.held, p.state = p.held[end:], flowing
		return true
	}
	return false
}

// short reports whether text is a proper prefix of tag.
func short(text []byte, tag string) bool {
	return len(text) < len(tag) && strings.HasPrefix(tag, string(text))
}

// undecided returns the number of bytes at the end of the buffer that may begin a tag or a
// fence.
func (p *textCallParser) undecided() int {
	tags := p.tags()
	if p.late {
		tags = append(tags, fence)
	}
	for n := min(len(p.held), len(listTag)-1); n > 0; n-- {
		end := p.held[len(p.held)-n:]
		if slices.ContainsFunc(tags, func(tag string) bool { return short(end, tag) }) {
			return n
		}
	}
	return 0
}

// end handles the end of the answer.
func (p *textCallParser) end(r *reply) {
	if p.state == inCall || p.state == toTheEnd {
		p.calls(r, p.held)
	} else {
		r.write(p.held)
	}
	p.held = nil
}

// calls forwards text as calls if it parses as such, otherwise as text.
func (p *textCallParser) calls(r *reply, text []byte) {
	found := p.parse(text)
	if p.late {
		found = p.parseLate(string(text))
	}
	if found == nil {
		r.write(text)
		return
	}
	for _, c := range found {
		b := r.start(&block{kind: callBlock, number: -1, name: []byte(c.name)})
		b.text = c.args
		r.tally.text += len(c.args)
		r.show(b)
	}
}

type textCall struct {
	name string
	args []byte
}

// parse returns the calls in text, or nil if any of it is something else. A call of a tool that
// was not offered does not count.
func (p *textCallParser) parse(text []byte) []textCall {
	s := strings.TrimSpace(string(text))
	for _, tag := range []string{callTag, listTag} {
		s = strings.TrimSpace(strings.TrimPrefix(s, tag))
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, callEndTag))
	if inside, ok := strings.CutPrefix(s, fence); ok {
		if inside, ok = strings.CutSuffix(inside, fence); !ok {
			return nil
		}
		s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(inside), "json"))
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(s), &list) != nil { // a single object
		list = []json.RawMessage{json.RawMessage(s)}
	}
	var calls []textCall
	for _, raw := range list {
		var c struct {
			Name       string          `json:"name"`
			Arguments  json.RawMessage `json:"arguments"`
			Parameters json.RawMessage `json:"parameters"`
		}
		if json.Unmarshal(raw, &c) != nil || !p.offered(c.Name) {
			return nil
		}
		args := c.Arguments
		if args == nil {
			args = c.Parameters
		}
		if len(args) > 0 && args[0] == '"' { // arguments encoded as a string
			args = []byte(unquote(args))
		}
		calls = append(calls, textCall{c.Name, args})
	}
	return calls
}

func (p *textCallParser) offered(name string) bool { return p.tool(name) != nil }

// tool returns the tool with that name, or nil.
func (p *textCallParser) tool(name string) *msg.ToolSpec {
	for i := range p.tools {
		if toolname.Restrict(p.tools[i].Name) == name {
			return &p.tools[i]
		}
	}
	return nil
}

// parseLate returns the calls if text consists only of calls, otherwise nil. The last end tag
// may be missing.
func (p *textCallParser) parseLate(text string) []textCall {
	var calls []textCall
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		inside, tagged := strings.CutPrefix(text, callTag)
		inside = strings.TrimSpace(inside)
		var c textCall
		var ok bool
		if strings.HasPrefix(inside, functionTag) {
			c, text, ok = p.function(inside)
		} else if tagged {
			c, text, ok = p.object(inside)
		}
		if !ok || !p.offered(c.name) {
			return nil
		}
		if text = strings.TrimSpace(text); tagged {
			text = strings.TrimPrefix(text, callEndTag)
		}
		calls = append(calls, c)
	}
	return calls
}

// object parses a call written as a JSON object and returns the rest.
func (p *textCallParser) object(text string) (c textCall, rest string, ok bool) {
	var call struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	if d.Decode(&call) != nil {
		return c, "", false
	}
	args := call.Arguments
	if args == nil {
		args = call.Parameters
	}
	if len(args) > 0 && args[0] == '"' { // arguments encoded as a string
		args = []byte(unquote(args))
	}
	return textCall{call.Name, args}, text[d.InputOffset():], true
}

// function parses a call written as <function=NAME> with <parameter=NAME> in it, and returns
// the rest. A value that itself contains such tags is ambiguous, so it is not treated as a
// call.
func (p *textCallParser) function(text string) (c textCall, rest string, ok bool) {
	body, rest, ok := strings.Cut(text, functionEndTag)
	name, params, named := strings.Cut(strings.TrimPrefix(body, functionTag), ">")
	t := p.tool(strings.TrimSpace(name))
	if !ok || !named || t == nil {
		return c, "", false
	}
	var schema struct {
		Properties map[string]struct {
			Type json.RawMessage `json:"type"`
		} `json:"properties"`
	}
	json.Unmarshal(t.Schema, &schema) // ok: all values are then strings
	args := map[string]json.RawMessage{}
	for params = strings.TrimSpace(params); params != ""; params = strings.TrimSpace(params) {
		param, found := strings.CutPrefix(params, parameterTag)
		key, value, named := strings.Cut(param, ">")
		value, after, ended := strings.Cut(value, parameterEnd)
		_, twice := args[key]
		if !found || !named || !ended || twice || strings.Contains(value, parameterTag) {
			return c, "", false
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		args[key] = msg.AppendString(nil, value)
		if kind := string(schema.Properties[key].Type); kind != "" && !strings.Contains(kind, `"string"`) && json.Valid([]byte(value)) {
			args[key] = json.RawMessage(value)
		}
		params = after
	}
	data, err := json.Marshal(args)
	return textCall{strings.TrimSpace(name), data}, rest, err == nil
}

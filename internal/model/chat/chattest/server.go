// Package chattest implements a strict server of the chat dialect for tests.
package chattest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/chat"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Server implements [wire.Server].
type Server struct{ chat.Dialect }

// What the dialect adds to the wire: the prefix of failed results, and signatures.
const (
	errorMark = "Error: "
	signature = "chat:"
)

// Admit implements [wire.Server].
func (Server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	refuse := func(kind model.Kind, format string, args ...any) (wire.RequestInfo, *model.Error) {
		return wire.RequestInfo{}, &model.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
	if !strings.HasSuffix(path, "/chat/completions") {
		return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Status: http.StatusNotFound, Message: "Invalid URL (POST " + path + ")"}
	}
	if key, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); !ok || key == "" {
		return refuse(model.Auth, "You didn't provide an API key; it goes into the authorization header")
	}
	if t, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || t != "application/json" {
		return refuse(model.Invalid, "content-type: expected application/json, found %q", h.Get("Content-Type"))
	}
	var head struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Effort string `json:"reasoning_effort"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return refuse(model.Invalid, "the body is not a JSON object: %v", err)
	}
	return wire.RequestInfo{Model: head.Model, Stream: head.Stream, Thinks: head.Effort != "" && head.Effort != "none"}, nil
}

// Sign implements [wire.Server]. The wire has no signatures; the decoder signs reasoning that
// is sent back.
func (Server) Sign(_ []byte, id, _ string) string { return id }

// EncodeTokenCount implements [wire.Server]. The dialect has no such request.
func (Server) EncodeTokenCount(int) []byte { return nil }

// Read implements [wire.Server].
func (Server) Read(body []byte) (*model.Request, error) {
	var r wireRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	req := &model.Request{Model: r.Model, MaxTokens: r.limit(), NoStream: !r.Stream}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, msg.ToolSpec{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters, Strict: t.Function.Strict})
	}
	for _, m := range r.Messages {
		parts, err := m.parts()
		if err != nil {
			return nil, err
		}
		switch m.Role {
		case "system", "developer":
			req.System = append(req.System, parts...)
			continue
		case "tool":
			parts = []msg.Part{m.result(parts)}
		}
		role := msg.User
		if m.Role == "assistant" {
			role = msg.Assistant
		}
		if n := len(req.Messages); n > 0 && req.Messages[n-1].Role == role { // results and the content after them
			req.Messages[n-1].Parts = append(req.Messages[n-1].Parts, parts...)
		} else {
			req.Messages = append(req.Messages, msg.Message{Role: role, Parts: parts})
		}
	}
	return req, nil
}

// result returns a message with the given parts as a tool result.
func (m *wireMessage) result(parts []msg.Part) msg.Part {
	r := &msg.ToolResult{ID: m.ToolCallID, Parts: parts}
	if t, ok := slices.Concat(parts, []msg.Part{nil})[0].(*msg.Text); ok {
		if text, failed := strings.CutPrefix(t.Text, errorMark); failed {
			r.IsError, r.Parts = true, append([]msg.Part{&msg.Text{Text: text}}, parts[1:]...)
		}
	}
	return r
}

// parts returns a message's parts.
func (m *wireMessage) parts() (parts []msg.Part, err error) {
	if m.Reasoning != "" {
		parts = append(parts, &msg.Thinking{Text: m.Reasoning, Signature: signature})
	}
	if len(m.Details) > 0 {
		parts = append(parts, &msg.Thinking{Signature: signature + string(m.Details)})
	}
	for _, c := range m.Content {
		p, err := c.part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	for _, c := range m.ToolCalls {
		parts = append(parts, msg.NewToolUse(c.ID, c.Function.Name, c.Function.Arguments))
	}
	return parts, nil
}

// NewResponseEncoder implements [wire.Server].
func (Server) NewResponseEncoder(stream bool) wire.ResponseEncoder {
	if stream {
		return &streamEncoder{block: -1}
	}
	return &wholeEncoder{}
}

// A streamEncoder writes an answer as chunks.
type streamEncoder struct {
	head  string // start of every chunk
	block int    // block of the last delta
	calls int
}

// appendData appends an event.
func appendData(dst, data []byte) []byte {
	dst = append(dst, "data: "...)
	dst = append(dst, data...)
	return append(dst, '\n', '\n')
}

// chunk returns a chunk with a delta, which may end the answer.
func (s *streamEncoder) chunk(delta, reason string) []byte {
	if reason == "" {
		reason = "null"
	}
	return appendData(nil, []byte(s.head+`,"choices":[{"index":0,"delta":{`+delta+`},"finish_reason":`+reason+`}]}`))
}

func quote(s string) string { return string(msg.AppendString(nil, s)) }

func (s *streamEncoder) Open(id, name string, _ wire.Counts) []byte {
	s.head = `{"id":` + quote(id) + `,"object":"chat.completion.chunk","created":1,"model":` + quote(name)
	return s.chunk(`"role":"assistant","content":""`, "")
}

func (s *streamEncoder) Event(e model.Event) []byte {
	switch e := e.(type) {
	case model.TextDelta:
		s.block = e.Block
		return s.chunk(`"content":`+quote(e.Text), "")
	case model.ThinkingDelta:
		s.block = e.Block
		if e.Text == "" {
			return nil
		}
		return s.chunk(`"reasoning_content":`+quote(e.Text), "")
	case model.InputDelta:
		var dst []byte
		if s.block != e.Block {
			s.block = e.Block
			s.calls++
			dst = s.chunk(s.call(`"id":`+quote(e.ID)+`,"type":"function",`, `"name":`+quote(toolname.Restrict(e.Name))+`,`, ""), "")
		}
		if e.JSON == "" {
			return dst
		}
		return append(dst, s.chunk(s.call("", "", e.JSON), "")...)
	case model.BlockDone:
		if s.block == e.Block {
			return nil
		}
		return s.whole(e)
	}
	panic(fmt.Sprintf("chat: no server sends a %T", e)) // caller's mistake
}

// call returns the member for a fragment of the current call.
func (s *streamEncoder) call(id, name, args string) string {
	return `"tool_calls":[{"index":` + strconv.Itoa(s.calls-1) + `,` + id + `"function":{` + name + `"arguments":` + quote(args) + `}}]`
}

// whole encodes a part that was not announced by a delta.
func (s *streamEncoder) whole(e model.BlockDone) []byte {
	switch p := e.Part.(type) {
	case *msg.Text:
		return s.Event(model.TextDelta{Block: e.Block, Text: p.Text})
	case *msg.Thinking:
		return s.Event(model.ThinkingDelta{Block: e.Block, Text: p.Text})
	case *msg.ToolUse:
		return s.Event(model.InputDelta{Block: e.Block, ID: p.ID, Name: p.Name, JSON: written(p)})
	case *msg.Opaque:
		return appendData(nil, p.Raw)
	}
	return nil // the wire can't express it
}

// written returns a call's arguments as the model wrote them.
func written(u *msg.ToolUse) string {
	if u.Malformed != "" {
		return u.Malformed
	}
	return string(u.Input)
}

func (s *streamEncoder) Usage(u wire.Counts) []byte {
	if u == nil {
		return nil
	}
	return appendData(nil, []byte(s.head+`,"choices":[]`+usageMember(u)+`}`))
}

func (s *streamEncoder) Ping() []byte { return []byte(": PROCESSING\n\n") }

func (s *streamEncoder) Raw(event string) []byte { return appendData(nil, []byte(event)) }

func (s *streamEncoder) Garble() []byte { return appendData(nil, []byte(s.head+`,"choices":[{`)) }

func (s *streamEncoder) Fail(kind model.Kind, message string) []byte {
	_, body := Server{}.EncodeError(kind, message)
	return appendData(nil, body)
}

func (s *streamEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	dst := s.chunk("", quote(finishReason(reason)))
	dst = append(dst, s.Usage(u)...)
	return appendData(dst, []byte("[DONE]"))
}

// finishReason returns the server's name for a stop reason.
func finishReason(r model.StopReason) string {
	switch r {
	case model.StopTools:
		return "tool_calls"
	case model.StopMaxTokens:
		return "length"
	case model.StopRefusal:
		return "content_filter"
	}
	return "stop"
}

// usageMember returns the member for a usage report, with a leading comma, or "".
func usageMember(u wire.Counts) string {
	if u == nil {
		return ""
	}
	prompt := u[wire.InputTokens] + u[wire.CacheRead] + u[wire.CacheWrite]
	out := fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d`, prompt, u[wire.OutputTokens], prompt+u[wire.OutputTokens])
	if u[wire.CacheRead]+u[wire.CacheWrite] > 0 {
		out += fmt.Sprintf(`,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d}`, u[wire.CacheRead], u[wire.CacheWrite])
	}
	return out + "}"
}

// A wholeEncoder writes an answer as one JSON object.
type wholeEncoder struct {
	head            string
	text, reasoning strings.Builder
	calls           []string
	garbled         bool
}

func (s *wholeEncoder) Open(id, name string, _ wire.Counts) []byte {
	s.head = `{"id":` + quote(id) + `,"object":"chat.completion","created":1,"model":` + quote(name)
	return nil
}

func (s *wholeEncoder) Event(e model.Event) []byte {
	done, ok := e.(model.BlockDone)
	if !ok {
		return nil
	}
	switch p := done.Part.(type) {
	case *msg.Text:
		s.text.WriteString(p.Text)
	case *msg.Thinking:
		s.reasoning.WriteString(p.Text)
	case *msg.ToolUse:
		s.calls = append(s.calls, `{"id":`+quote(p.ID)+`,"type":"function","function":{"name":`+quote(toolname.Restrict(p.Name))+`,"arguments":`+quote(written(p))+`}}`)
	}
	return nil
}

func (s *wholeEncoder) Usage(wire.Counts) []byte { return nil }
func (s *wholeEncoder) Ping() []byte             { return nil }
func (s *wholeEncoder) Raw(string) []byte        { return nil }

func (s *wholeEncoder) Garble() []byte {
	s.garbled = true
	return nil
}

func (s *wholeEncoder) Fail(kind model.Kind, message string) []byte {
	_, body := Server{}.EncodeError(kind, message)
	return body
}

func (s *wholeEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	message := `"role":"assistant","content":null`
	if s.text.Len() > 0 {
		message = `"role":"assistant","content":` + quote(s.text.String())
	}
	if s.reasoning.Len() > 0 {
		message += `,"reasoning_content":` + quote(s.reasoning.String())
	}
	if len(s.calls) > 0 {
		message += `,"tool_calls":[` + strings.Join(s.calls, ",") + `]`
	}
	body := s.head + `,"choices":[{"index":0,"message":{` + message + `}`
	if s.garbled {
		return []byte(body)
	}
	return []byte(body + `,"finish_reason":` + quote(finishReason(reason)) + `}]` + usageMember(u) + `}`)
}

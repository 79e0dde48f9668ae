// Package geminitest implements a strict server of the gemini dialect for tests.
package geminitest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/gemini"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Server implements [wire.Server].
type Server struct{ gemini.Dialect }

// Prefixes of signatures, by the part that they belong to.
const (
	onNext    = "gemini:"         // the following text or call
	onThought = "gemini:thought:" // the thinking itself
	onNothing = "gemini:empty:"   // a separate, empty text
)

// Admit implements [wire.Server]. The model and the method are in the path.
func (Server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	refuse := func(kind model.Kind, status int, format string, args ...any) (wire.RequestInfo, *model.Error) {
		return wire.RequestInfo{}, &model.Error{Kind: kind, Status: status, Message: fmt.Sprintf(format, args...)}
	}
	_, name, ok := strings.Cut(path, "/models/")
	name, method, _ := strings.Cut(name, ":")
	switch {
	case !ok || name == "" || !slices.Contains([]string{"generateContent", "streamGenerateContent", "countTokens"}, method):
		return refuse(model.Invalid, http.StatusNotFound, "there is nothing at %s", path)
	case h.Get("X-Goog-Api-Key") == "" && h.Get("Authorization") == "":
		return refuse(model.Auth, http.StatusForbidden, "Method doesn't allow unregistered callers. Please use an API key.")
	}
	if t, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || t != "application/json" {
		return refuse(model.Invalid, 0, "Content-Type: expected application/json, found %q", h.Get("Content-Type"))
	}
	var r checkedRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return refuse(model.Invalid, 0, "Invalid JSON payload received: %v", err)
	}
	t := r.Config.Thinking
	return wire.RequestInfo{
		Model: name, Stream: method == "streamGenerateContent", Count: method == "countTokens",
		Thinks: t != nil && (t.Include || t.Level != "" || t.Budget != nil && *t.Budget != 0),
	}, nil
}

// Sign implements [wire.Server]. A signature is base64 and has no further meaning.
func (Server) Sign(_ []byte, id, _ string) string {
	return id + strings.Repeat("A", (4-len(id)%4)%4)
}

// Read implements [wire.Server]. The body does not name the model.
func (Server) Read(body []byte) (*model.Request, error) {
	var r checkedRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	req := &model.Request{MaxTokens: int(r.Config.MaxTokens)}
	for _, p := range r.System.Parts {
		if p.Text != nil {
			req.System = append(req.System, &msg.Text{Text: *p.Text})
		}
	}
	for _, t := range r.Tools {
		for _, f := range t.Functions {
			schema := f.JSONSchema
			if schema == nil {
				schema = f.Parameters
			}
			req.Tools = append(req.Tools, msg.ToolSpec{Name: f.Name, Description: f.Description, Schema: schema})
		}
	}
	for i, c := range r.turns() {
		m := msg.Message{Role: msg.User}
		if c.Role == "model" {
			m.Role = msg.Assistant
		}
		calls := 0
		for _, p := range c.Parts {
			parts, err := p.read(func(id string) string {
				if calls++; id != "" {
					return id
				}
				return fmt.Sprintf("call_%d_%d", (i+1)/2, calls) // same ID for a call and its result in the next message
			})
			if err != nil {
				return nil, err
			}
			m.Parts = append(m.Parts, parts...)
		}
		req.Messages = append(req.Messages, m)
	}
	return req, nil
}

// read converts p to parts. id returns the ID of a call or result.
func (p *checkedPart) read(id func(string) string) ([]msg.Part, error) {
	var parts []msg.Part
	sign := func(on, text string) {
		if p.Signature != "" {
			parts = append(parts, &msg.Thinking{Text: text, Signature: on + p.Signature})
		}
	}
	switch {
	case p.Thought && p.Text != nil:
		sign(onThought, *p.Text)
	case p.Text != nil && *p.Text == "":
		sign(onNothing, "")
	case p.Text != nil:
		sign(onNext, "")
		parts = append(parts, &msg.Text{Text: *p.Text})
	case p.Call != nil:
		sign(onNext, "")
		parts = append(parts, msg.NewToolUse(id(p.Call.ID), p.Call.Name, string(p.Call.Args)))
	case p.Inline != nil:
		media, err := p.Inline.part()
		return append(parts, media), err
	case p.Result != nil:
		r := &msg.ToolResult{ID: id(p.Result.ID), IsError: p.Result.Response.Error != nil}
		text := p.Result.Response.Output
		if r.IsError {
			text = p.Result.Response.Error
		}
		if text != nil && *text != "" {
			r.Parts = append(r.Parts, &msg.Text{Text: *text})
		}
		for _, m := range p.Result.Parts {
			if m.Inline == nil {
				continue
			}
			media, err := m.Inline.part()
			if err != nil {
				return nil, err
			}
			r.Parts = append(r.Parts, media)
		}
		parts = append(parts, r)
	}
	return parts, nil
}

func (b *checkedBlob) part() (msg.Part, error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(b.MimeType, "image/") {
		return &msg.Image{MediaType: b.MimeType, Data: data}, nil
	}
	return &msg.Document{MediaType: b.MimeType, Data: data}, nil
}

// EncodeTokenCount implements [wire.Server].
func (Server) EncodeTokenCount(n int) []byte { return fmt.Appendf(nil, `{"totalTokens":%d}`, n) }

// NewResponseEncoder implements [wire.Server].
func (Server) NewResponseEncoder(stream bool) wire.ResponseEncoder {
	return &responseEncoder{stream: stream}
}

// A responseEncoder writes an answer as one response or as a stream of responses.
type responseEncoder struct {
	stream    bool
	id, model string
	usage     wire.Counts // last reported usage
	parts     [][]byte    // parts of a whole answer
	open      int         // index of the open text block, plus one
	signature string      // signature for the next part
	garbled   bool
	malformed bool // the model wrote a malformed call
}

// response writes a response with parts, additional candidate members, and the usage. Clients
// reject a response without parts.
func (s *responseEncoder) response(parts [][]byte, more string) []byte {
	if len(parts) == 0 {
		parts = [][]byte{s.text("", "")}
	}
	dst := []byte(`{"candidates":[{"content":{"parts":[`)
	dst = append(dst, bytes.Join(parts, []byte(","))...)
	dst = append(dst, `],"role":"model"}`...)
	dst = append(dst, more...)
	dst = append(dst, `,"index":0}]`...)
	dst = appendUsage(dst, s.usage)
	dst = append(dst, `,"modelVersion":`...)
	dst = msg.AppendString(dst, s.model)
	dst = append(dst, `,"responseId":`...)
	dst = msg.AppendString(dst, s.id)
	return append(dst, '}')
}

func event(data []byte) []byte { return slices.Concat([]byte("data: "), data, []byte("\r\n\r\n")) }

// spell sends a part, or keeps it for the whole answer.
func (s *responseEncoder) spell(part []byte) []byte {
	if !s.stream {
		s.parts = append(s.parts, part)
		return nil
	}
	return event(s.response([][]byte{part}, ""))
}

func (s *responseEncoder) Open(id, name string, u wire.Counts) []byte {
	s.id, s.model, s.usage = id, name, u
	if !s.stream {
		return nil
	}
	return event(s.response(nil, ""))
}

func (s *responseEncoder) Event(e model.Event) []byte {
	switch e := e.(type) {
	case model.TextDelta:
		s.open = e.Block + 1
		if !s.stream {
			return nil
		}
		return s.spell(s.text(e.Text, ""))
	case model.ThinkingDelta:
		s.open = e.Block + 1
		if e.Signature != "" {
			s.signature = strings.TrimPrefix(e.Signature, onNext)
			return nil
		}
		if !s.stream {
			return nil
		}
		return s.spell(s.thought(e.Text))
	case model.InputDelta: // calls are sent whole
		s.open = e.Block + 1
		return nil
	case model.BlockDone:
		announced := s.open == e.Block+1
		s.open = 0
		return s.done(e.Part, announced && s.stream)
	}
	panic(fmt.Sprintf("gemini: no server sends a %T", e)) // caller's mistake
}

// done writes a complete part, except for text already sent as deltas.
func (s *responseEncoder) done(p msg.Part, announced bool) []byte {
	switch p := p.(type) {
	case *msg.Text: // the signature is for a later call or the end
		if !announced {
			return s.spell(s.text(p.Text, ""))
		}
	case *msg.Thinking:
		if s.signature == "" {
			s.signature = strings.TrimPrefix(p.Signature, onNext)
		}
		if !announced && p.Text != "" {
			return s.spell(s.thought(p.Text))
		}
	case *msg.ToolUse:
		if p.Malformed != "" { // only the fact that there was a call is sent
			s.malformed = true
			return nil
		}
		return s.spell(s.call(p))
	case *msg.Opaque:
		return s.spell(p.Raw)
	}
	return nil
}

func (s *responseEncoder) takeSignature() string {
	sig := s.signature
	s.signature = ""
	return sig
}

func (s *responseEncoder) text(text, sig string) []byte {
	dst := msg.AppendString([]byte(`{"text":`), text)
	if sig != "" {
		dst = msg.AppendString(append(dst, `,"thoughtSignature":`...), sig)
	}
	return append(dst, '}')
}

func (s *responseEncoder) call(u *msg.ToolUse) []byte {
	dst := msg.AppendString([]byte(`{"functionCall":{"id":`), u.ID)
	dst = msg.AppendString(append(dst, `,"name":`...), toolname.Restrict(u.Name))
	dst = append(append(dst, `,"args":`...), cmp.Or(string(u.Input), "{}")...)
	dst = append(dst, '}')
	if sig := s.takeSignature(); sig != "" {
		dst = msg.AppendString(append(dst, `,"thoughtSignature":`...), sig)
	}
	return append(dst, '}')
}

func (s *responseEncoder) thought(text string) []byte {
	return append(msg.AppendString([]byte(`{"text":`), text), `,"thought":true}`...)
}

func (s *responseEncoder) Usage(u wire.Counts) []byte {
	s.usage = u
	if !s.stream {
		return nil
	}
	return event(s.response(nil, ""))
}

func (s *responseEncoder) Ping() []byte {
	if !s.stream {
		return nil
	}
	return []byte(": keep-alive\r\n\r\n")
}

func (s *responseEncoder) Raw(json string) []byte {
	if !s.stream {
		return nil
	}
	return event([]byte(json))
}

func (s *responseEncoder) Garble() []byte {
	s.garbled = true
	if !s.stream {
		return nil
	}
	return event([]byte(`{"candidates":[{"content":{"parts":[{"text":`))
}

func (s *responseEncoder) Fail(kind model.Kind, message string) []byte {
	_, body := Server{}.EncodeError(kind, message)
	if !s.stream {
		return body
	}
	return event(body)
}

func (s *responseEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	if u != nil {
		s.usage = u
	}
	parts := s.parts
	if s.signature != "" {
		parts = append(parts, s.text("", s.takeSignature()))
	}
	finish := finishReason(reason)
	if s.malformed {
		finish = "MALFORMED_FUNCTION_CALL"
	}
	data := s.response(parts, `,"finishReason":"`+finish+`"`)
	switch {
	case s.stream:
		return event(data)
	case s.garbled:
		return data[:len(data)/2]
	}
	return data
}

// finishReason returns the service's name for a stop reason.
func finishReason(reason model.StopReason) string {
	switch reason {
	case model.StopMaxTokens:
		return "MAX_TOKENS"
	case model.StopRefusal:
		return "SAFETY"
	}
	return "STOP"
}

// appendUsage appends the member for a usage report, if any, with a leading comma. Cache writes
// count as ordinary input.
func appendUsage(dst []byte, u wire.Counts) []byte {
	if u == nil {
		return dst
	}
	prompt := u[wire.InputTokens] + u[wire.CacheRead] + u[wire.CacheWrite]
	dst = append(dst, `,"usageMetadata":{"promptTokenCount":`...)
	dst = strconv.AppendInt(dst, int64(prompt), 10)
	if n := u[wire.CacheRead]; n > 0 {
		dst = append(dst, `,"cachedContentTokenCount":`...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	dst = append(dst, `,"candidatesTokenCount":`...)
	dst = strconv.AppendInt(dst, int64(u[wire.OutputTokens]), 10)
	dst = append(dst, `,"totalTokenCount":`...)
	dst = strconv.AppendInt(dst, int64(prompt+u[wire.OutputTokens]), 10)
	return append(dst, '}')
}

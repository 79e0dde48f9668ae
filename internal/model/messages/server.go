package messages

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Server implements [wire.Server].
type Server struct{ Dialect }

// Admit implements [wire.Server].
func (s Server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	refuse := func(kind model.Kind, format string, args ...any) (wire.RequestInfo, *model.Error) {
		return wire.RequestInfo{}, &model.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
	count := strings.HasSuffix(path, "/v1/messages/count_tokens")
	if !count && !strings.HasSuffix(path, "/v1/messages") {
		return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Status: http.StatusNotFound, Message: "there is nothing at " + path}
	}
	if h.Get("X-Api-Key") == "" && h.Get("Authorization") == "" {
		return refuse(model.Auth, "neither x-api-key nor authorization is there; x-api-key header is required")
	}
	if h.Get("Anthropic-Version") == "" {
		return refuse(model.Invalid, "anthropic-version: header is required")
	}
	asked, e := s.AdmitBody(h, body)
	asked.Count = count
	return asked, e
}

// AdmitBody is the part of Admit that does not depend on the path and the credentials.
func (s Server) AdmitBody(h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	refuse := func(kind model.Kind, format string, args ...any) (wire.RequestInfo, *model.Error) {
		return wire.RequestInfo{}, &model.Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
	}
	if t, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || t != "application/json" {
		return refuse(model.Invalid, "content-type: expected application/json, found %q", h.Get("Content-Type"))
	}
	var head struct {
		Model    string                `json:"model"`
		Stream   bool                  `json:"stream"`
		Thinking struct{ Type string } `json:"thinking"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return refuse(model.Invalid, "the body is not a JSON object: %v", err)
	}
	return wire.RequestInfo{Model: head.Model, Stream: head.Stream, Thinks: head.Thinking.Type == "adaptive" || head.Thinking.Type == "enabled"}, nil
}

// Check implements [wire.Server]. Betas are not checked without headers.
func (s Server) Check(h http.Header, body []byte) error {
	var betas []string
	if h != nil {
		betas = betasOf(h)
	}
	r, err := s.check(body, betas)
	if err != nil || r.Thinking.dropsBlocks() {
		return err
	}
	return checkBound(body)
}

// betasOf returns the betas that headers name.
func betasOf(h http.Header) []string {
	betas := []string{}
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				betas = append(betas, name)
			}
		}
	}
	return betas
}

// Read implements [wire.Server].
func (Server) Read(body []byte) (*model.Request, error) {
	var r struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		System    json.RawMessage `json:"system"`
		Tools     []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
			Strict      bool            `json:"strict"`
		} `json:"tools"`
		Messages []msg.Message `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	system, err := msg.ParseParts(r.System)
	if err != nil {
		return nil, err
	}
	req := &model.Request{Model: r.Model, MaxTokens: r.MaxTokens, NoStream: !r.Stream, System: system, Messages: r.Messages}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, msg.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema, Strict: t.Strict})
	}
	return req, nil
}

// EncodeTokenCount implements [wire.Server].
func (Server) EncodeTokenCount(n int) []byte { return fmt.Appendf(nil, `{"input_tokens":%d}`, n) }

// NewResponseEncoder implements [wire.Server].
func (Server) NewResponseEncoder(stream bool) wire.ResponseEncoder {
	if stream {
		return &streamEncoder{open: -1}
	}
	return &wholeEncoder{}
}

// A streamEncoder writes an answer as server-sent events.
type streamEncoder struct {
	open int // index of the open block, or -1
}

func appendEvent(dst []byte, name string, data []byte) []byte {
	dst = append(dst, "event: "...)
	dst = append(dst, name...)
	dst = append(dst, "\ndata: "...)
	dst = append(dst, data...)
	return append(dst, '\n', '\n')
}

func (s *streamEncoder) Open(id, name string, u wire.Counts) []byte {
	data := append([]byte(`{"type":"message_start","message":`), appendHead(nil, id, name)...)
	data = append(data, `,"content":[],"stop_reason":null,"stop_sequence":null`...)
	data = appendUsage(data, u)
	return appendEvent(nil, "message_start", append(data, '}', '}'))
}

func (s *streamEncoder) Event(e model.Event) []byte {
	switch e := e.(type) {
	case model.TextDelta:
		dst := s.start(nil, e.Block, []byte(`{"type":"text","text":""}`))
		return s.delta(dst, `text_delta","text":`, e.Text)
	case model.ThinkingDelta:
		dst := s.start(nil, e.Block, []byte(`{"type":"thinking","thinking":"","signature":""}`))
		if e.Signature != "" {
			return s.delta(dst, `signature_delta","signature":`, e.Signature)
		}
		return s.delta(dst, `thinking_delta","thinking":`, e.Text)
	case model.InputDelta:
		dst := s.start(nil, e.Block, appendPart(nil, &msg.ToolUse{ID: e.ID, Name: e.Name}))
		return s.delta(dst, `input_json_delta","partial_json":`, e.JSON)
	case model.BlockDone:
		var dst []byte
		if s.open != e.Block {
			dst = s.start(dst, e.Block, appendPart(nil, e.Part))
		}
		s.open = -1
		return appendEvent(dst, "content_block_stop", fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, e.Block))
	}
	panic(fmt.Sprintf("messages: no server sends a %T", e)) // caller's mistake
}

// start opens a block unless it is already open.
func (s *streamEncoder) start(dst []byte, index int, block []byte) []byte {
	if s.open == index {
		return dst
	}
	s.open = index
	data := append([]byte(`{"type":"content_block_start","index":`), strconv.Itoa(index)...)
	data = append(data, `,"content_block":`...)
	return appendEvent(dst, "content_block_start", append(append(data, block...), '}'))
}

func (s *streamEncoder) delta(dst []byte, kind, text string) []byte {
	data := append([]byte(`{"type":"content_block_delta","index":`), strconv.Itoa(s.open)...)
	data = append(data, `,"delta":{"type":"`...)
	data = msg.AppendString(append(data, kind...), text)
	return appendEvent(dst, "content_block_delta", append(data, '}', '}'))
}

func (s *streamEncoder) Usage(u wire.Counts) []byte { return s.messageDelta(nil, u) }

// messageDelta returns the event that ends a message or reports its usage.
func (s *streamEncoder) messageDelta(reason []byte, u wire.Counts) []byte {
	if reason == nil {
		reason = []byte("null")
	}
	data := append([]byte(`{"type":"message_delta","delta":{"stop_reason":`), reason...)
	data = appendUsage(append(data, `,"stop_sequence":null}`...), u)
	return appendEvent(nil, "message_delta", append(data, '}'))
}

func (s *streamEncoder) Ping() []byte { return appendEvent(nil, "ping", []byte(`{"type":"ping"}`)) }

func (s *streamEncoder) Raw(event string) []byte {
	var e struct{ Type string }
	json.Unmarshal([]byte(event), &e) // ok: an event without a type has no name
	return appendEvent(nil, e.Type, []byte(event))
}

func (s *streamEncoder) Garble() []byte {
	return appendEvent(nil, "content_block_delta", []byte(`{"type":"content_block_delta","index":`))
}

func (s *streamEncoder) Fail(kind model.Kind, message string) []byte {
	_, body := Server{}.EncodeError(kind, message)
	return appendEvent(nil, "error", body)
}

func (s *streamEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	dst := s.messageDelta(msg.AppendString(nil, string(reason)), u)
	return appendEvent(dst, "message_stop", []byte(`{"type":"message_stop"}`))
}

// A wholeEncoder writes an answer as one JSON object.
type wholeEncoder struct {
	body    []byte
	blocks  int
	garbled bool
}

func (s *wholeEncoder) Open(id, name string, _ wire.Counts) []byte {
	s.body = append(appendHead(nil, id, name), `,"content":[`...)
	return nil
}

func (s *wholeEncoder) Event(e model.Event) []byte {
	done, ok := e.(model.BlockDone)
	if !ok {
		return nil
	}
	if s.blocks > 0 {
		s.body = append(s.body, ',')
	}
	s.blocks++
	if u, ok := done.Part.(*msg.ToolUse); ok && u.Malformed != "" { // malformed input is sent as a string
		done.Part = &msg.ToolUse{ID: u.ID, Name: u.Name, Input: msg.AppendString(nil, u.Malformed)}
	}
	s.body = appendPart(s.body, done.Part)
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
	if s.garbled {
		return s.body
	}
	s.body = append(s.body, `],"stop_reason":`...)
	s.body = msg.AppendString(s.body, string(reason))
	s.body = append(s.body, `,"stop_sequence":null`...)
	return append(appendUsage(s.body, u), '}')
}

// appendHead appends a message up to its content, left open.
func appendHead(dst []byte, id, name string) []byte {
	dst = append(dst, `{"id":`...)
	dst = msg.AppendString(dst, id)
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	return msg.AppendString(dst, name)
}

// appendUsage appends the member for a usage report, if any, with a leading comma.
func appendUsage(dst []byte, u wire.Counts) []byte {
	if u == nil {
		return dst
	}
	names := [wire.Counters]struct{ before, after string }{
		wire.InputTokens:  {`"input_tokens":`, ``},
		wire.CacheWrite:   {`"cache_creation_input_tokens":`, ``},
		wire.CacheRead:    {`"cache_read_input_tokens":`, ``},
		wire.OutputTokens: {`"output_tokens":`, ``},
		wire.CacheWrite1h: {`"cache_creation":{"ephemeral_1h_input_tokens":`, `}`},
		wire.WebSearches:  {`"server_tool_use":{"web_search_requests":`, `}`},
	}
	dst = append(dst, `,"usage":{`...)
	sep := ""
	for c, name := range names {
		if n, ok := u[wire.Counter(c)]; ok {
			dst = append(dst, sep...)
			dst = append(dst, name.before...)
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, name.after...)
			sep = ","
		}
	}
	return append(dst, '}')
}

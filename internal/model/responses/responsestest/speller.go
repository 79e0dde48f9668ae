package responsestest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// NewResponseEncoder implements [wire.Server].
func (Server) NewResponseEncoder(stream bool) wire.ResponseEncoder {
	return &responseEncoder{stream: stream, open: -1}
}

// A responseEncoder writes an answer, as server-sent events or as one object.
type responseEncoder struct {
	stream   bool
	id, name string
	events   int
	output   []byte // complete items, comma-separated
	open     int    // index of the open block, or -1
	text     []byte // text of the open block
	pieced   bool   // the open block has a piece
	itemID   string
	garbled  bool
	phase    string // phase member for the next message
	phases   int    // blocks that are not items
}

// event appends an event. members follow its type and number, each with a leading comma.
func (s *responseEncoder) event(dst []byte, kind, members string) []byte {
	if !s.stream {
		return dst
	}
	dst = append(dst, "event: "...)
	dst = append(dst, kind...)
	dst = append(dst, "\ndata: {\"type\":\""...)
	dst = append(dst, kind...)
	dst = append(dst, `","sequence_number":`...)
	dst = strconv.AppendInt(dst, int64(s.events), 10)
	s.events++
	dst = append(dst, members...)
	return append(dst, "}\n\n"...)
}

// response returns the answer's object so far. rest holds the members for its status.
func (s *responseEncoder) response(status, rest string) string {
	v := msg.AppendString([]byte(`{"id":`), s.id)
	v = append(v, `,"object":"response","created_at":0,"status":"`+status+`","model":`...)
	v = msg.AppendString(v, s.name)
	v = append(v, `,"output":[`...)
	if status != "in_progress" {
		v = append(v, s.output...)
	}
	v = append(v, `],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"store":false`...)
	return string(append(append(v, rest...), '}'))
}

func (s *responseEncoder) Open(id, name string, _ wire.Counts) []byte {
	s.id, s.name = id, name
	begun := `,"response":` + s.response("in_progress", `,"error":null,"incomplete_details":null,"usage":null`)
	return s.event(s.event(nil, "response.created", begun), "response.in_progress", begun)
}

func (s *responseEncoder) Event(e model.Event) []byte {
	switch e := e.(type) {
	case model.TextDelta:
		dst := s.start(nil, e.Block, &msg.Text{})
		return s.delta(dst, "response.output_text", `,"content_index":0`, e.Text, `,"logprobs":[]`)
	case model.ThinkingDelta:
		dst := s.start(nil, e.Block, &msg.Thinking{})
		if e.Text == "" {
			return dst
		}
		if !s.pieced {
			s.pieced = true
			dst = s.event(dst, "response.reasoning_summary_part.added", s.itemMembers(`,"summary_index":0,"part":{"type":"summary_text","text":""}`))
		}
		return s.delta(dst, "response.reasoning_summary_text", `,"summary_index":0`, e.Text, "")
	case model.InputDelta:
		dst := s.start(nil, e.Block, &msg.ToolUse{ID: e.ID, Name: e.Name})
		return s.delta(dst, "response.function_call_arguments", "", e.JSON, "")
	case model.BlockDone:
		if t, ok := e.Part.(*msg.Thinking); ok && strings.HasPrefix(t.Signature, signature+phaseMember) {
			s.phase = "," + strings.TrimSuffix(strings.TrimPrefix(t.Signature, signature+"{"), "}")
			s.phases++
			return nil
		}
		return s.done(s.start(nil, e.Block, e.Part), e.Part)
	}
	panic(fmt.Sprintf("responses: no server sends a %T", e)) // caller's mistake
}

// itemMembers returns the members that identify an event's item.
func (s *responseEncoder) itemMembers(rest string) string {
	return `,"item_id":"` + s.itemID + `","output_index":` + s.index() + rest
}

// index returns the open item's output index.
func (s *responseEncoder) index() string { return strconv.Itoa(s.open - s.phases) }

// start opens an item unless it is already open. An unknown item is not announced.
func (s *responseEncoder) start(dst []byte, block int, p msg.Part) []byte {
	if s.open == block {
		return dst
	}
	s.open, s.text, s.pieced = block, nil, false
	s.itemID = itemID(s.id, block, p)
	if _, ok := p.(*msg.Opaque); ok {
		return dst
	}
	begun := p
	switch p := p.(type) {
	case *msg.Text:
		begun = &msg.Text{}
	case *msg.Thinking:
		begun = &msg.Thinking{}
	case *msg.ToolUse:
		begun = &msg.ToolUse{ID: p.ID, Name: p.Name}
	}
	item := s.appendItem(nil, "in_progress", begun, "")
	dst = s.event(dst, "response.output_item.added", `,"output_index":`+s.index()+`,"item":`+string(item))
	if _, ok := p.(*msg.Text); ok {
		dst = s.event(dst, "response.content_part.added", s.itemMembers(`,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}`))
	}
	return dst
}

// itemID returns an item's ID: reasoning has it in its signature; others are generated.
func itemID(response string, block int, p msg.Part) string {
	prefix := "msg"
	switch p.(type) {
	case *msg.Thinking, *msg.Redacted:
		prefix = "rs"
	case *msg.ToolUse:
		prefix = "fc"
	}
	return prefix + "_" + response + "_" + strconv.Itoa(block)
}

func (s *responseEncoder) delta(dst []byte, kind, place, text, more string) []byte {
	s.text = append(s.text, text...)
	return s.event(dst, kind+".delta", s.itemMembers(place+`,"delta":`+string(msg.AppendString(nil, text))+more))
}

// done completes the open item.
func (s *responseEncoder) done(dst []byte, p msg.Part) []byte {
	text := string(s.text)
	switch p := p.(type) {
	case *msg.Text:
		if text == "" && p.Text != "" {
			dst = s.delta(dst, "response.output_text", `,"content_index":0`, p.Text, `,"logprobs":[]`)
		}
		quoted := string(msg.AppendString(nil, p.Text))
		dst = s.event(dst, "response.output_text.done", s.itemMembers(`,"content_index":0,"text":`+quoted+`,"logprobs":[]`))
		dst = s.event(dst, "response.content_part.done", s.itemMembers(`,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":`+quoted+`}`))
	case *msg.Thinking:
		if s.pieced {
			quoted := string(msg.AppendString(nil, p.Text))
			dst = s.event(dst, "response.reasoning_summary_text.done", s.itemMembers(`,"summary_index":0,"text":`+quoted))
			dst = s.event(dst, "response.reasoning_summary_part.done", s.itemMembers(`,"summary_index":0,"part":{"type":"summary_text","text":`+quoted+`}`))
		}
	case *msg.ToolUse:
		if text == "" {
			text = arguments(p)
		}
		quoted := string(msg.AppendString(nil, text))
		dst = s.event(dst, "response.function_call_arguments.done", s.itemMembers(`,"name":`+string(msg.AppendString(nil, p.Name))+`,"arguments":`+quoted))
	}
	item := s.appendItem(nil, "completed", p, text)
	if len(s.output) > 0 {
		s.output = append(s.output, ',')
	}
	s.output = append(s.output, item...)
	dst = s.event(dst, "response.output_item.done", `,"output_index":`+s.index()+`,"item":`+string(item))
	s.open = -1
	return dst
}

// arguments returns a call's input as the model wrote it.
func arguments(u *msg.ToolUse) string {
	if u.Malformed != "" {
		return u.Malformed
	}
	return string(u.Input)
}

// appendItem appends an output item. args are a call's arguments.
func (s *responseEncoder) appendItem(dst []byte, status string, p msg.Part, args string) []byte {
	id := s.itemID
	switch p := p.(type) {
	case *msg.Text:
		dst = append(dst, `{"id":"`+id+`","type":"message","status":"`+status+`","role":"assistant"`+s.phase+`,"content":[`...)
		if status == "completed" {
			s.phase = ""
			dst = append(dst, `{"type":"output_text","annotations":[],"logprobs":[],"text":`...)
			dst = append(msg.AppendString(dst, p.Text), '}')
		}
		return append(dst, "]}"...)
	case *msg.ToolUse:
		dst = append(dst, `{"id":"`+id+`","type":"function_call","status":"`+status+`","call_id":`...)
		dst = msg.AppendString(dst, p.ID)
		dst = append(dst, `,"name":`...)
		dst = msg.AppendString(dst, p.Name)
		dst = append(dst, `,"arguments":`...)
		return append(msg.AppendString(dst, args), '}')
	case *msg.Thinking:
		if item, ok := strings.CutPrefix(p.Signature, signature); ok && json.Valid([]byte(item)) {
			return append(dst, item...)
		}
		dst = append(dst, `{"id":"`+id+`","type":"reasoning","summary":[`...)
		if p.Text != "" {
			dst = append(dst, `{"type":"summary_text","text":`...)
			dst = append(msg.AppendString(dst, p.Text), '}')
		}
		dst = append(dst, `]`...)
		if p.Signature != "" {
			dst = msg.AppendString(append(dst, `,"encrypted_content":`...), p.Signature)
		}
		return append(dst, '}')
	case *msg.Redacted:
		dst = append(dst, `{"id":"`+id+`","type":"reasoning","summary":[],"encrypted_content":`...)
		return append(msg.AppendString(dst, p.Data), '}')
	}
	return msg.AppendPart(dst, p)
}

func (s *responseEncoder) Usage(wire.Counts) []byte { return nil } // reported only at the end

func (s *responseEncoder) Ping() []byte {
	if !s.stream {
		return nil
	}
	return []byte("event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n")
}

func (s *responseEncoder) Raw(event string) []byte {
	if !s.stream {
		return nil
	}
	return []byte("data: " + event + "\n\n")
}

func (s *responseEncoder) Garble() []byte {
	s.garbled = true
	if !s.stream {
		return nil
	}
	return []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\n\n")
}

func (s *responseEncoder) Fail(kind model.Kind, message string) []byte {
	_, f := spelled(kind, message)
	if !s.stream {
		_, body := Server{}.EncodeError(kind, message)
		return body
	}
	detail := `{"code":` + string(appendCode(nil, f.code)) + `,"message":` + string(msg.AppendString(nil, f.message)) + `}`
	return s.event(nil, "response.failed", `,"response":`+s.response("failed", `,"incomplete_details":null,"usage":null,"error":`+detail))
}

func (s *responseEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	status, details := "completed", "null"
	switch reason {
	case model.StopMaxTokens, model.StopContextExceeded:
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	case model.StopRefusal:
		status, details = "incomplete", `{"reason":"content_filter"}`
	}
	response := s.response(status, `,"error":null,"incomplete_details":`+details+`,"usage":`+spellUsage(u))
	switch {
	case s.stream:
		return s.event(nil, "response."+status, `,"response":`+response)
	case s.garbled:
		return []byte(response[:len(response)/2])
	}
	return []byte(response)
}

// spellUsage returns a usage report, which counts cache reads as input.
func spellUsage(u wire.Counts) string {
	if u == nil {
		return "null"
	}
	v := `{`
	input, known := u[wire.InputTokens]
	input += u[wire.CacheRead] + u[wire.CacheWrite]
	if known {
		v += fmt.Sprintf(`"input_tokens":%d,`, input)
	}
	v += fmt.Sprintf(`"input_tokens_details":{"cached_tokens":%d},`, u[wire.CacheRead])
	output, known := u[wire.OutputTokens]
	if known {
		v += fmt.Sprintf(`"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},`, output)
	}
	return v + fmt.Sprintf(`"total_tokens":%d}`, input+output)
}

package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// An Encoder builds request bodies. It caches the encoded messages of the last request and
// encodes only changed ones, recognizing unchanged messages by the identity of their parts. The
// zero value is ready. It is not safe for concurrent use.
//
// Without cache marks, a request's system prompt, tools and messages are a byte-exact prefix of
// the next request's, as long as the next one only adds messages.
type Encoder struct {
	dialect Dialect

	said  wire.Transcript // encoded messages, comma-separated, without marks
	front front
}

// Encode returns the body for req. The members of the JSON object extra, which may be nil, are
// added at the top level; they replace options of the same name, but must not affect the model,
// the stream, or the conversation. The caller owns the body.
func (e *Encoder) Encode(req *model.Request, extra json.RawMessage) ([]byte, error) {
	body, err := e.EncodeBody(req, extra)
	return body.Bytes(), err
}

// EncodeBody is like Encode, but returns the body in pieces, most of which the encoder reuses
// for the next request, so that a long conversation is not copied. The pieces never change.
func (e *Encoder) EncodeBody(req *model.Request, extra json.RawMessage) (wire.Body, error) {
	head, err := e.dialect.options(req, extra)
	if err != nil {
		return nil, err
	}
	return e.body(req, head), nil
}

func (e *Encoder) body(req *model.Request, head []wire.Member) wire.Body {
	e.said.Update(req.Messages, write)
	marks := place(req)
	return append(e.messages(wire.Body{wire.Options(head), e.front.encode(req, marks)}, marks, req.Passing), []byte("]}"))
}

// Continues reports whether req starts with the conversation of the last request, so that
// encoding it with e is cheap.
func (e *Encoder) Continues(req *model.Request) bool {
	return e.said.Continues(req.Messages)
}

// emptyMessage replaces a message without sendable content, such as a message with only unknown
// parts, so that roles still alternate.
const emptyMessage = `{"type":"text","text":"(nothing to show)"}`

// write appends a message to the preceding ones.
func write(dst []byte, after bool, m *wire.EncodedMessage) []byte {
	if after {
		dst = append(dst, ',')
	}
	dst = append(dst, `{"role":"`...)
	dst = append(dst, m.Role...)
	dst = append(dst, `","content":[`...)
	start := len(dst)
	for _, p := range m.Parts {
		if !sent(p) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = appendPart(dst, p)
		m.Blocks++
		if cacheable(p) {
			m.Mark = bytes.LastIndexByte(dst, '}')
		}
	}
	if len(dst) == start {
		dst = append(dst, emptyMessage...)
		m.Mark = len(dst) - 1
	}
	return append(dst, "]}"...)
}

// cacheable reports whether p can carry a mark.
func cacheable(p msg.Part) bool {
	switch p.(type) {
	case *msg.Thinking, *msg.Redacted:
		return false
	}
	return true
}

// messages appends the messages to body, with the marks spliced in. passing is the request's
// Passing.
func (e *Encoder) messages(body wire.Body, marks map[position]model.Mark, passing int) wire.Body {
	from := 0
	if m, ok := marks[position{place: model.InMessages}]; ok {
		said := e.said.Messages()
		places := markPlaces(said, len(marks) < maxMarks)
		switch {
		case passing > 0:
			places = placeBefore(said, passing)
		case m.Branch && branches(said):
			places = append(places[:len(places)-1], placeBefore(said, 1)...)
		}
		for _, at := range places {
			body = append(e.said.AppendTo(body, from, at), appendMark(nil, m))
			from = at
		}
	}
	return e.said.AppendTo(body, from, e.said.Len())
}

// lookback is how many blocks before a mark a server searches for a cached prefix.
const lookback = 20

// markPlaces returns the mark positions for the messages: the last message and, if so much was
// added since the previous request that a server would not look back to its mark, and a mark is
// spare, also the previous position.
func markPlaces(said []wire.EncodedMessage, spare bool) []int {
	last := len(said) - 1
	for last >= 0 && said[last].Mark < 0 {
		last--
	}
	if last < 0 {
		return nil
	}
	blocks := said[last].Blocks
	before := last - 1
	for before >= 0 && said[before].Role != msg.User {
		blocks += said[before].Blocks
		before--
	}
	if spare && blocks > lookback && before >= 0 && said[before].Mark >= 0 {
		return []int{said[before].Mark, said[last].Mark}
	}
	return []int{said[last].Mark}
}

// branches reports whether the messages end with results and a text after them.
func branches(said []wire.EncodedMessage) bool {
	if len(said) == 0 {
		return false
	}
	parts := said[len(said)-1].Parts
	_, text := parts[max(0, len(parts)-1)].(*msg.Text)
	return text && slices.ContainsFunc(parts, func(p msg.Part) bool { _, ok := p.(*msg.ToolResult); return ok })
}

// placeBefore returns the mark position in the last user message before the last n parts.
func placeBefore(said []wire.EncodedMessage, n int) []int {
	for i := len(said) - 1; i >= 0; i-- {
		m := &said[i]
		left := len(m.Parts) - n
		n = max(0, -left)
		if left <= 0 || m.Role != msg.User {
			continue
		}
		for ; left > 0; left-- {
			if p := m.Parts[left-1]; sent(p) && cacheable(p) {
				return []int{endOf(m, left) - 1}
			}
		}
	}
	return nil
}

// endOf returns the end offset of a message's first n parts.
func endOf(m *wire.EncodedMessage, n int) int {
	end := m.End - len("]}")
	for _, p := range m.Parts[n:] {
		if sent(p) {
			end -= len(",") + len(appendPart(nil, p))
		}
	}
	return end
}

// sent reports whether p is sent at all. Reasoning for another dialect is not.
func sent(p msg.Part) bool {
	_, opaque := p.(*msg.Opaque)
	return !opaque && msg.DialectOf(p) == ""
}

// options returns the members that precede the conversation, extra ones last.
func (d Dialect) options(req *model.Request, extra json.RawMessage) ([]wire.Member, error) {
	head := []wire.Member{{Name: "model", Value: msg.AppendString(nil, req.Model)}}
	if d.Version != "" {
		head[0] = wire.Member{Name: "anthropic_version", Value: msg.AppendString(nil, d.Version)}
	}
	if wanted := betas(req); d.BetasInBody && len(wanted) > 0 {
		head = append(head, wire.Member{Name: "anthropic_beta", Value: stringList(wanted)})
	}
	head = append(head, wire.Member{Name: "max_tokens", Value: strconv.AppendInt(nil, int64(req.MaxTokens), 10)})
	if !req.NoStream && !d.StreamInPath {
		head = append(head, wire.Member{Name: "stream", Value: []byte("true")})
	}
	if how := thinking(req); how != nil {
		head = append(head, wire.Member{Name: "thinking", Value: how})
	}
	if config := outputConfig(req); config != nil {
		head = append(head, wire.Member{Name: "output_config", Value: config})
	}
	if req.UserID != "" && req.Omit&model.OmitUserID == 0 {
		head = append(head, object("metadata", "user_id", req.UserID))
	}
	if req.Choice.Name != "" {
		head = append(head, object("tool_choice", "type", "tool", "name", req.Choice.Name))
	} else if req.Search != nil && req.Search.Must {
		head = append(head, object("tool_choice", "type", "tool", "name", searchTool))
	}
	return wire.AddExtra(head, extra, "model", "anthropic_version", "stream", "system", "tools", "messages")
}

// thinking returns the thinking configuration, or nil.
func thinking(req *model.Request) []byte {
	t := req.Thinking
	if req.Omit&model.OmitThinking != 0 {
		return nil
	}
	// A server does not allow thinking with a forced tool.
	if (req.Choice.Name != "" || req.Search != nil && req.Search.Must) && t.Mode != model.ThinkingDisabled {
		return nil
	}
	var v []byte
	switch t.Mode {
	case model.ThinkingBudget:
		v = fmt.Appendf(v, `{"type":"enabled","budget_tokens":%d`, t.Budget)
	case model.ThinkingAdaptive:
		v = append(v, `{"type":"adaptive"`...)
	case model.ThinkingDisabled:
		return []byte(`{"type":"disabled"}`)
	case model.ThinkingBetweenTools:
		return []byte(`{"type":"between_tools"}`)
	default:
		return nil
	}
	if d := display(req); d != "" {
		v = msg.AppendString(append(v, `,"display":`...), string(d))
	}
	if forgiving(req) {
		v = append(v, `,"block_binding":{"prefix_mismatch_behavior":"`+dropBlock+`"}`...)
	}
	return append(v, '}')
}

// display returns the display mode for thinking.
func display(req *model.Request) model.Display {
	if req.Omit&model.OmitDisplay != 0 {
		return ""
	}
	return req.Thinking.Display
}

// forgiving reports whether the server is to ignore thinking that is bound to other content.
func forgiving(req *model.Request) bool {
	return req.Thinking.Mode == model.ThinkingAdaptive && req.Thinking.Forgiving && req.Omit&model.OmitForgiving == 0
}

// outputConfig returns the output configuration, or nil.
func outputConfig(req *model.Request) []byte {
	var v []byte
	if req.Effort != model.EffortDefault && req.Omit&model.OmitEffort == 0 {
		v = msg.AppendString(append(v, `,"effort":`...), string(req.Effort))
	}
	if req.Format != nil && req.Omit&model.OmitFormat == 0 {
		v = append(v, `,"format":{"type":"json_schema","schema":`...)
		v = append(append(v, req.Format...), '}')
	}
	if v == nil {
		return nil
	}
	v[0] = '{'
	return append(v, '}')
}

// stringList returns a JSON array of strings. list must not be empty.
func stringList(list []string) []byte {
	var v []byte
	for i, s := range list {
		v = append(v, "[,"[min(i, 1)])
		v = msg.AppendString(v, s)
	}
	return append(v, ']')
}

// object returns a member whose value is an object of strings, given as name-value pairs.
func object(name string, pairs ...string) wire.Member {
	var v []byte
	for i := 0; i < len(pairs); i += 2 {
		v = append(v, "{,"[min(i, 1)])
		v = msg.AppendString(v, pairs[i])
		v = append(v, ':')
		v = msg.AppendString(v, pairs[i+1])
	}
	return wire.Member{Name: name, Value: append(v, '}')}
}

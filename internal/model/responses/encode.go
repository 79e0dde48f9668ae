package responses

import (
	"encoding/json"
	"strconv"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// An encoder builds request bodies. It caches the items of the last request and encodes only
// changed messages, recognizing unchanged ones by the identity of their parts. A request's
// tools and input are a byte-exact prefix of the next request's, as long as the next one only
// adds messages.
type encoder struct {
	dialect Dialect
	said    wire.Transcript // encoded items of the messages, comma-separated
	front   front
}

// noInput replaces an input without sendable content.
const noInput = `{"type":"message","role":"user","content":[{"type":"input_text","text":"(nothing to show)"}]}`

// EncodeBody implements [wire.Encoder]. Extra members replace options of the same name, but
// must not affect the model, the stream, or the conversation.
func (e *encoder) EncodeBody(req *model.Request, extra json.RawMessage) (wire.Body, error) {
	head, err := e.options(req, extra)
	if err != nil {
		return nil, err
	}
	e.said.Update(req.Messages, e.write)
	front, system := e.front.encode(e.dialect, req)
	body := wire.Body{wire.Options(head), front}
	switch {
	case e.said.Len() == 0:
		return append(body, []byte(comma(system)+noInput+"]}")), nil
	case system:
		body = append(body, []byte{','})
	}
	return append(e.said.AppendTo(body, 0, e.said.Len()), []byte("]}")), nil
}

// write appends a message's items to the preceding ones. There may be none.
func (e *encoder) write(dst []byte, after bool, m *wire.EncodedMessage) []byte {
	start := len(dst)
	if after {
		dst = append(dst, ',')
	}
	before := len(dst)
	dst = e.dialect.appendMessage(dst, msg.Message{Role: m.Role, Parts: m.Parts})
	if len(dst) == before {
		return dst[:start]
	}
	return dst
}

func comma(yes bool) string {
	if yes {
		return ","
	}
	return ""
}

// Continues implements [wire.Encoder].
func (e *encoder) Continues(req *model.Request) bool {
	return e.said.Continues(req.Messages)
}

// leastOutput is the lowest output limit that a server accepts.
const leastOutput = 16

// options returns the members that precede the conversation, extra ones last.
func (e *encoder) options(req *model.Request, extra json.RawMessage) ([]wire.Member, error) {
	head := []wire.Member{
		{Name: "model", Value: msg.AppendString(nil, req.Model)},
		{Name: "max_output_tokens", Value: strconv.AppendInt(nil, int64(max(req.MaxTokens, leastOutput)), 10)},
		{Name: "store", Value: []byte("false")},
	}
	add := func(name string, value []byte) {
		if value != nil {
			head = append(head, wire.Member{Name: name, Value: value})
		}
	}
	if !req.NoStream {
		add("stream", []byte("true"))
	}
	add("include", include(req))
	add("reasoning", e.dialect.reasoning(req))
	add("text", format(req))
	if req.UserID != "" && req.Omit&model.OmitUserID == 0 {
		add(e.dialect.userMember(), msg.AppendString(nil, req.UserID))
	}
	if req.CacheKey != "" && req.Omit&model.OmitCache == 0 {
		add("prompt_cache_key", msg.AppendString(nil, req.CacheKey))
	}
	if req.Choice.Name != "" {
		v := msg.AppendString([]byte(`{"type":"function","name":`), toolname.Restrict(req.Choice.Name))
		add("tool_choice", append(v, '}'))
	}
	if s := req.Search; s != nil {
		if s.Most > 0 {
			add("max_tool_calls", strconv.AppendInt(nil, int64(s.Most), 10))
		}
		if s.Must && req.Choice.Name == "" {
			add("tool_choice", []byte(`{"type":"web_search"}`))
		}
	}
	return wire.AddExtra(head, extra, "model", "stream", "store", "instructions", "tools", "input", "previous_response_id", "conversation")
}

func (d Dialect) userMember() string {
	if d.UserMember != "" {
		return d.UserMember
	}
	return "safety_identifier"
}

const (
	// encryptedReasoning requests reasoning in a form that can be sent back.
	encryptedReasoning = "reasoning.encrypted_content"
	// searchSources requests the pages found by a search.
	searchSources = "web_search_call.action.sources"
)

// include returns the list of additional output to request, or nil.
func include(req *model.Request) []byte {
	switch {
	case thinks(req) && req.Search != nil:
		return []byte(`["` + encryptedReasoning + `","` + searchSources + `"]`)
	case thinks(req):
		return []byte(`["` + encryptedReasoning + `"]`)
	case req.Search != nil:
		return []byte(`["` + searchSources + `"]`)
	}
	return nil
}

// thinks reports whether req lets the model think.
func thinks(req *model.Request) bool {
	switch req.Thinking.Mode {
	case model.ThinkingBudget, model.ThinkingAdaptive, model.ThinkingBetweenTools:
		return req.Omit&model.OmitThinking == 0
	}
	return false
}

// reasoning returns the reasoning configuration, or nil.
func (d Dialect) reasoning(req *model.Request) []byte {
	if req.Omit&model.OmitThinking != 0 {
		return nil
	}
	var v []byte
	if e := effort(req); e != "" && req.Omit&model.OmitEffort == 0 {
		v = msg.AppendString(append(v, `,"effort":`...), e)
	}
	if !d.NoSummary && thinks(req) && req.Omit&model.OmitDisplay == 0 {
		v = append(v, `,"summary":"auto"`...)
	}
	if v == nil {
		return nil
	}
	v[0] = '{'
	return append(v, '}')
}

// Thinking budgets up to these count as low and medium effort.
const (
	lowBudget    = 4_096
	mediumBudget = 16_384
)

// effort returns the server's name for the effort, or "". A thinking budget, which the server
// does not support, is converted to an effort.
func effort(req *model.Request) string {
	switch {
	case req.Thinking.Mode == model.ThinkingDisabled:
		return "none"
	case req.Effort != model.EffortDefault:
		return string(req.Effort)
	case req.Thinking.Mode != model.ThinkingBudget:
		return ""
	case req.Thinking.Budget <= lowBudget:
		return string(model.EffortLow)
	case req.Thinking.Budget <= mediumBudget:
		return string(model.EffortMedium)
	}
	return string(model.EffortHigh)
}

// format returns the answer's format, or nil.
func format(req *model.Request) []byte {
	if req.Format == nil || req.Omit&model.OmitFormat != 0 {
		return nil
	}
	v := append([]byte(`{"format":{"type":"json_schema","name":"answer","schema":`), req.Format...)
	v = append(v, `,"strict":`...)
	return append(strconv.AppendBool(v, isStrict(req.Format)), "}}"...)
}

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

// An Encoder builds request bodies. It keeps the encoded messages of the last request and encodes
// only what changed, recognising unchanged messages by the identity of their parts. The zero value is
// ready. One goroutine at a time may use it.
//
// With the cache marks taken out, system, tools and messages of a request are a byte-exact prefix of
// those of the next one, as long as the next one only adds messages.
type Encoder struct {
	buf   []byte // the messages, with commas between them and without marks
	kept  []keptMessage
	lent  int // how much of buf's memory bodies share
	front front
}

// A keptMessage says which message the bytes of buf up to end finish. It holds on to the parts, so
// that their addresses stay theirs.
type keptMessage struct {
	role  msg.Role
	parts []msg.Part
	end   int
	mark  int // where in buf a cache mark goes, or -1
	// blocks is how many parts are sent.
	blocks int
}

// roomForHead is more than the options of most requests take.
const roomForHead = 512

// Encode returns the body for req. The members of the JSON object extra are added at the top level;
// they replace options of the same name, but may not touch the model, the stream, or the conversation.
// It may be nil. The body belongs to the caller.
func (e *Encoder) Encode(req *model.Request, extra json.RawMessage) ([]byte, error) {
	body, err := e.EncodeBody(req, extra)
	return body.Bytes(), err
}

// EncodeBody is like Encode, but returns the body in pieces, most of which the encoder keeps for the
// next request: nothing of a long conversation is copied. The pieces never change.
func (e *Encoder) EncodeBody(req *model.Request, extra json.RawMessage) (wire.Body, error) {
	head, err := options(req, extra)
	if err != nil {
		return nil, err
	}
	return e.body(req, head), nil
}

func (e *Encoder) body(req *model.Request, head []member) wire.Body {
	e.update(req.Messages)
	marks := place(req)

	dst := make([]byte, 0, roomForHead)
	for i, m := range head {
		dst = append(dst, "{,"[min(i, 1)])
		dst = msg.AppendString(dst, m.name)
		dst = append(dst, ':')
		dst = append(dst, m.value...)
	}
	return append(e.messages(wire.Body{dst, e.front.encode(req, marks)}, marks, req.Passing), []byte("]}"))
}

// Continues reports whether req starts with the conversation of the last request, so that encoding it
// with e is cheap.
func (e *Encoder) Continues(req *model.Request) bool {
	return len(e.kept) > 0 && len(req.Messages) > 0 && e.kept[0].is(req.Messages[0])
}

// update makes buf hold msgs, keeping the longest unchanged beginning.
func (e *Encoder) update(msgs []msg.Message) {
	n := 0
	for n < len(e.kept) && n < len(msgs) && e.kept[n].is(msgs[n]) {
		n++
	}
	clear(e.kept[n:]) // lets go of the parts
	e.kept = e.kept[:n]
	end := 0
	if n > 0 {
		end = e.kept[n-1].end
	}
	if end < e.lent && n < len(msgs) {
		// What follows was lent out and may still be on its way: it is not written over.
		e.buf, e.lent = slices.Clone(e.buf[:end]), 0
	} else {
		e.buf = e.buf[:end]
	}
	for _, m := range msgs[n:] {
		e.add(m)
	}
}

func (k *keptMessage) is(m msg.Message) bool {
	return k.role == m.Role && slices.Equal(k.parts, m.Parts)
}

// emptyMessage stands in for a message with nothing to send, such as one that was all of an unknown
// kind: without it the roles would no longer alternate.
const emptyMessage = `{"type":"text","text":"(nothing to show)"}`

func (e *Encoder) add(m msg.Message) {
	k := keptMessage{role: m.Role, parts: slices.Clone(m.Parts), mark: -1}
	if len(e.kept) > 0 {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, `{"role":"`...)
	e.buf = append(e.buf, m.Role...)
	e.buf = append(e.buf, `","content":[`...)
	start := len(e.buf)
	for _, p := range m.Parts {
		if !sent(p) {
			continue
		}
		if len(e.buf) > start {
			e.buf = append(e.buf, ',')
		}
		e.buf = appendPart(e.buf, p)
		k.blocks++
		if cacheable(p) {
			k.mark = bytes.LastIndexByte(e.buf, '}')
		}
	}
	if len(e.buf) == start {
		e.buf = append(e.buf, emptyMessage...)
		k.mark = len(e.buf) - 1
	}
	e.buf = append(e.buf, "]}"...)
	k.end = len(e.buf)
	e.kept = append(e.kept, k)
}

// cacheable reports whether a mark may sit on p.
func cacheable(p msg.Part) bool {
	switch p.(type) {
	case *msg.Thinking, *msg.Redacted:
		return false
	}
	return true
}

// messages appends buf to body, with the marks spliced in. Passing is that of the request.
func (e *Encoder) messages(body wire.Body, marks map[position]model.Mark, passing int) wire.Body {
	e.lent = max(e.lent, len(e.buf))
	from := 0
	if m, ok := marks[position{place: model.InMessages}]; ok {
		places := e.markPlaces(len(marks) < maxMarks)
		if passing > 0 {
			places = e.placeBefore(passing)
		}
		for _, at := range places {
			body = append(body, e.buf[from:at:at], appendMark(nil, m))
			from = at
		}
	}
	return append(body, e.buf[from:len(e.buf):len(e.buf)])
}

// lookback is how many blocks before a mark a server looks for what it has cached.
const lookback = 20

// markPlaces returns where in buf the last message is marked. When so much was added to the request before
// that a server would not look back as far as its mark, and another mark is left, that one stays.
func (e *Encoder) markPlaces(spare bool) []int {
	last := len(e.kept) - 1
	for last >= 0 && e.kept[last].mark < 0 {
		last--
	}
	if last < 0 {
		return nil
	}
	blocks := e.kept[last].blocks
	before := last - 1
	for before >= 0 && e.kept[before].role != msg.User {
		blocks += e.kept[before].blocks
		before--
	}
	if spare && blocks > lookback && before >= 0 && e.kept[before].mark >= 0 {
		return []int{e.kept[before].mark, e.kept[last].mark}
	}
	return []int{e.kept[last].mark}
}

// placeBefore returns where in buf the last user message is marked that is not among the last n parts.
func (e *Encoder) placeBefore(n int) []int {
	for i := len(e.kept) - 1; i >= 0; i-- {
		k := &e.kept[i]
		said := len(k.parts) - n
		n = max(0, -said)
		if said <= 0 || k.role != msg.User {
			continue
		}
		for ; said > 0; said-- {
			if p := k.parts[said-1]; sent(p) && cacheable(p) {
				return []int{k.endOf(said) - 1}
			}
		}
	}
	return nil
}

// endOf returns where in buf the first n parts of a message end.
func (k *keptMessage) endOf(n int) int {
	end := k.end - len("]}")
	for _, p := range k.parts[n:] {
		if sent(p) {
			end -= len(",") + len(appendPart(nil, p))
		}
	}
	return end
}

// sent reports whether p is sent at all.
func sent(p msg.Part) bool {
	_, opaque := p.(*msg.Opaque)
	return !opaque
}

// options returns the members that come before the conversation, extra ones last.
func options(req *model.Request, extra json.RawMessage) ([]member, error) {
	head := []member{
		{"model", msg.AppendString(nil, req.Model)},
		{"max_tokens", strconv.AppendInt(nil, int64(req.MaxTokens), 10)},
	}
	if !req.NoStream {
		head = append(head, member{"stream", []byte("true")})
	}
	// A server does not let the model think when it is told which tool to use.
	if req.Choice.Name == "" {
		switch req.Thinking.Mode {
		case model.ThinkingBudget:
			head = append(head, member{"thinking", fmt.Appendf(nil, `{"type":"enabled","budget_tokens":%d}`, req.Thinking.Budget)})
		case model.ThinkingAdaptive:
			head = append(head, member{"thinking", []byte(`{"type":"adaptive"}`)})
		}
	}
	if config := outputConfig(req); config != nil {
		head = append(head, member{"output_config", config})
	}
	if req.UserID != "" {
		head = append(head, object("metadata", "user_id", req.UserID))
	}
	if req.Choice.Name != "" {
		head = append(head, object("tool_choice", "type", "tool", "name", req.Choice.Name))
	}
	if len(extra) == 0 {
		return head, nil
	}
	more, err := members(extra)
	if err != nil {
		return nil, fmt.Errorf("reading extra body parameters: %w", err)
	}
	for _, m := range more {
		switch m.name {
		case "model", "stream", "system", "tools", "messages":
			return nil, fmt.Errorf("extra body parameters may not set %q", m.name)
		}
		head = set(head, m.name, m.value)
	}
	return head, nil
}

// outputConfig returns what the answer should be like, or nil.
func outputConfig(req *model.Request) []byte {
	var v []byte
	if req.Effort != model.EffortDefault {
		v = msg.AppendString(append(v, `,"effort":`...), string(req.Effort))
	}
	if req.Format != nil {
		v = append(v, `,"format":{"type":"json_schema","schema":`...)
		v = append(append(v, req.Format...), '}')
	}
	if v == nil {
		return nil
	}
	v[0] = '{'
	return append(v, '}')
}

// object returns a member whose value is an object of strings, given as names and values.
func object(name string, pairs ...string) member {
	var v []byte
	for i := 0; i < len(pairs); i += 2 {
		v = append(v, "{,"[min(i, 1)])
		v = msg.AppendString(v, pairs[i])
		v = append(v, ':')
		v = msg.AppendString(v, pairs[i+1])
	}
	return member{name, append(v, '}')}
}

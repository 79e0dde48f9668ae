package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/platform/text/jsonscan"
)

// A decoder converts a stream's chunks, or a whole answer, into events. It tolerates server
// errors whose meaning is clear.
type decoder struct {
	reply
	raw     bool
	thought thoughtParser
	prose   *textCallParser // finds calls in text; may be nil
	scan    jsonscan.Scanner

	chunks   bool   // a chunk was received
	reason   string // server's finish reason
	finished bool   // the server sent a finish reason
}

// Take implements [wire.Decoder]. It returns nothing before the answer has begun, so that a
// request that fails immediately can be retried.
func (d *decoder) Take() []model.Event {
	if !d.begun {
		return nil
	}
	out := d.out
	d.out = d.out[:0]
	return out
}

var errNoChunks = errors.New("the stream ended before the answer began")

// Event implements [wire.Decoder].
func (d *decoder) Event(_ string, data []byte) (wire.Progress, error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return wire.Ignored, nil
	case string(data) == "[DONE]" && !d.chunks:
		return wire.Ignored, errNoChunks
	case string(data) == "[DONE]":
		return wire.Complete, d.finish()
	}
	before, events := d.tally.text, len(d.out)
	if d.raw {
		d.emit(model.Raw{JSON: slices.Clone(data)})
	}
	known, err := d.chunk(data)
	switch {
	case err != nil:
		return wire.Ignored, err
	case !known:
		d.out = d.out[:events] // unknown event type
		return wire.KeepAlive, nil
	case d.tally.text == before && d.chunks && !d.finished:
		return wire.KeepAlive, nil
	}
	return wire.Content, nil
}

// End implements [wire.Decoder]. An answer is complete once the server has sent a finish
// reason, even if the end marker is missing.
func (d *decoder) End(err error) (complete bool) {
	var own *model.Error
	known := errors.As(err, &own)
	switch {
	case d.finished && !known:
		return d.finish() == nil
	case !d.begun && known && own.Kind != model.Broken:
		d.out = d.out[:0]
	case d.chunks || d.begun:
		d.begin()
		d.tally.final = false
		d.emit(model.Usage{Usage: d.tally.estimate()})
	}
	return false
}

// Message implements [wire.Decoder].
func (d *decoder) Message(body []byte) error {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '<' {
		return errors.New("a web page came instead of an answer")
	}
	known, err := d.chunk(body)
	switch {
	case err != nil:
		return err
	case !known || !d.chunks:
		return errors.New("the answer is not a chat completion")
	}
	return d.finish()
}

// chunk decodes a stream chunk or a whole answer, which are similar. It reports whether data
// was either.
func (d *decoder) chunk(data []byte) (known bool, err error) {
	s := &d.scan
	s.Reset(data)
	var more delta
	failed := false
	if s.Object() {
		for {
			name, ok := s.Member()
			if !ok {
				break
			}
			switch string(name) {
			case "id":
				d.set(&d.id)
			case "model":
				d.set(&d.model)
			case "choices":
				known = true
				more.readChoices(s)
			case "usage":
				known = d.usage(s.Raw()) || known
			case "x_groq":
				d.nestedUsage(s.Raw())
			case "error":
				failed = s.Raw() != nil || failed
			case "object":
				failed = string(text(s)) == "error" || failed
			default:
				s.Skip()
			}
		}
	}
	if err := s.End(); err != nil {
		return false, fmt.Errorf("the stream has an event that is not JSON: %w", err)
	}
	if failed {
		return false, d.fail(data)
	}
	d.add(&more)
	d.chunks = d.chunks || known
	return known, nil
}

// text reads a string. It returns nothing for other values.
func text(s *jsonscan.Scanner) []byte {
	if s.Kind() != '"' {
		s.Skip()
		return nil
	}
	return s.Text()
}

// set stores a string from the first chunk that has it.
func (d *decoder) set(to *string) {
	if t := text(&d.scan); *to == "" {
		*to = string(t)
	}
}

// A delta holds a chunk's additions to the answer: texts and raw values.
type delta struct {
	reasoning, content, refusal, reason []byte
	details, list, calls, call, usage   []byte
	member                              string // member that held the reasoning
}

// readChoices reads a list of choices and uses only the first.
func (m *delta) readChoices(s *jsonscan.Scanner) {
	if s.Kind() != '[' {
		s.Skip()
		return
	}
	s.Array()
	for first := true; s.Element(); first = false {
		if first && s.Kind() == '{' {
			m.readChoice(s)
		} else {
			s.Skip()
		}
	}
}

func (m *delta) readChoice(s *jsonscan.Scanner) {
	s.Object()
	for {
		name, ok := s.Member()
		if !ok {
			return
		}
		switch string(name) {
		case "delta", "message":
			m.read(s)
		case "finish_reason":
			m.reason = text(s)
		case "usage":
			m.usage = s.Raw()
		default:
			s.Skip()
		}
	}
}

func (m *delta) read(s *jsonscan.Scanner) {
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	s.Object()
	for {
		name, ok := s.Member()
		if !ok {
			return
		}
		switch string(name) {
		case "reasoning_content", "reasoning", "thinking": // some servers send it under two names
			i := slices.Index(reasoningMembers[:], string(name))
			if t := text(s); len(m.reasoning) == 0 && len(t) > 0 {
				m.reasoning, m.member = t, reasoningMembers[i]
			}
		case "reasoning_details":
			m.details = s.Raw()
		case "content":
			if s.Kind() == '[' {
				m.list = s.Raw()
			} else {
				m.content = text(s)
			}
		case "refusal":
			m.refusal = text(s)
		case "tool_calls":
			m.calls = s.Raw()
		case "function_call":
			m.call = s.Raw()
		default:
			s.Skip()
		}
	}
}

// add applies a chunk's additions in the order in which a model writes.
func (d *decoder) add(m *delta) {
	d.usage(m.usage)
	if len(m.reasoning) > 0 || len(m.details) > len("[]") {
		d.prose.flush(&d.reply, false)
	}
	d.details(m.details, len(m.reasoning) == 0)
	if len(m.reasoning) > 0 {
		d.think(m.reasoning)
		d.continued(thinkingBlock).member = m.member
	}
	d.list(m.list)
	d.say(m.content)
	d.refuse(m.refusal)
	if len(m.calls) > len("[]") && m.calls[0] == '[' {
		d.prose.flush(&d.reply, true)
		d.toolCalls(m.calls)
	}
	if m.call != nil && m.call[0] == '{' {
		d.prose.flush(&d.reply, true)
		d.toolCall(m.call, true)
	}
	if len(m.reason) > 0 {
		d.reason, d.finished = string(m.reason), true
	}
}

// list decodes content given as a list of parts.
func (d *decoder) list(raw []byte) {
	if raw == nil {
		return
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking []struct {
			Text string `json:"text"`
		} `json:"thinking"`
		Refusal string `json:"refusal"`
	}
	json.Unmarshal(raw, &parts) // ok: valid JSON; parts of other types are ignored
	for _, p := range parts {
		for _, t := range p.Thinking {
			d.think([]byte(t.Text))
		}
		d.say([]byte(p.Text))
		d.refuse([]byte(p.Refusal))
	}
}

// say adds text to the answer.
func (d *decoder) say(text []byte) {
	if len(text) == 0 {
		return
	}
	text = d.thought.add(&d.reply, text)
	if d.prose != nil {
		d.prose.add(&d.reply, text)
		return
	}
	d.write(text)
}

// finish ends the answer.
func (d *decoder) finish() error {
	if d.reason == "error" || d.reason == "insufficient_system_resource" {
		return &model.Error{Kind: model.Broken, RequestID: d.requestID, Message: "the server broke off its answer (" + d.reason + ")"}
	}
	if rest := d.thought.end(&d.reply); d.prose != nil {
		d.prose.add(&d.reply, rest)
		if d.stop() == model.StopMaxTokens { // the last call may be truncated
			d.prose.flush(&d.reply, false)
		}
		d.prose.end(&d.reply)
	} else {
		d.write(rest)
	}
	d.begin()
	for len(d.open) > 0 {
		d.close()
	}
	d.emit(model.Usage{Usage: d.tally.total()})
	d.emit(model.Stop{Reason: d.stop()})
	return nil
}

// stop returns the stop reason. Servers often report a normal stop although the model requested
// calls.
func (d *decoder) stop() model.StopReason {
	switch {
	case d.reason == "length" || d.reason == "max_tokens":
		return model.StopMaxTokens
	case d.reason == "content_filter" || d.refused:
		return model.StopRefusal
	case d.calls > 0:
		return model.StopTools
	}
	return model.StopEnd
}

// fail returns the error that a server sent instead of continuing. After any content it is
// reported as a broken answer.
func (d *decoder) fail(data []byte) error {
	e := d.dialect.Error(0, data)
	if e.RequestID == "" {
		e.RequestID = d.requestID
	}
	return e.Within(d.begun)
}

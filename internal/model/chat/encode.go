package chat

import (
	"encoding/json"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// An encoder builds request bodies. It keeps the encoded messages of the last request and encodes only what changed,
// recognising unchanged messages by the identity of their parts. One goroutine at a time may use it.
//
// Without cache marks, tools and messages of a request are a byte-exact prefix of those of the next one, as long as the
// next one only adds messages.
type encoder struct {
	dialect Dialect
	replay  Replay          // that the messages are written with
	said    wire.Transcript // the messages, with commas between them and without marks
	front   front
}

// EncodeBody implements [wire.Encoder]. Most pieces of the body are kept for the next request; none ever changes.
func (e *encoder) EncodeBody(req *model.Request, extra json.RawMessage) (wire.Body, error) {
	head, err := e.dialect.options(req, extra)
	if err != nil {
		return nil, err
	}
	replay := e.dialect.Replay
	if req.Omit&model.OmitReplay != 0 {
		replay = ReplayNone
	}
	if replay != e.replay {
		e.replay = replay
		e.said.Reset()
	}
	e.said.Update(req.Messages, e.write)
	body := wire.Body{wire.Options(head), e.front.encode(e.dialect, req)}
	from := 0
	if at := e.markPlace(req); at >= 0 {
		body = append(e.said.AppendTo(body, 0, at), []byte(cacheMark))
		from = at
	}
	return append(e.said.AppendTo(body, from, e.said.Len()), []byte("]}")), nil
}

// Continues implements [wire.Encoder].
func (e *encoder) Continues(req *model.Request) bool {
	return e.said.Continues(req.Messages)
}

// write appends a message to those before it.
func (e *encoder) write(dst []byte, after bool, m *wire.Written) []byte {
	if after {
		dst = append(dst, ',')
	}
	w := writer{dialect: e.dialect, buf: dst, start: len(dst), mark: -1}
	w.dialect.Replay = e.replay
	if m.Role == msg.Assistant {
		w.assistant(m.Parts)
	} else {
		w.user(m.Parts)
	}
	m.Mark = w.mark
	return w.buf
}

const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// markPlace returns where the messages are marked, or -1: in the last message that later requests repeat.
func (e *encoder) markPlace(req *model.Request) int {
	if !e.dialect.Marks || req.Omit&model.OmitCache != 0 || !slices.ContainsFunc(req.Cache, func(m model.Mark) bool { return m.Place == model.InMessages }) {
		return -1
	}
	passing := req.Passing
	for _, m := range slices.Backward(e.said.Messages()) {
		if passing <= 0 && m.Mark >= 0 {
			return m.Mark
		}
		passing -= len(m.Parts)
	}
	return -1
}

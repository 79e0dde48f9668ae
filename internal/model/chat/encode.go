package chat

import (
	"encoding/json"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// An encoder builds request bodies. It caches the encoded messages of the last request and
// encodes only changed ones, recognizing unchanged messages by the identity of their parts. It
// is not safe for concurrent use.
//
// Without cache marks, a request's tools and messages are a byte-exact prefix of the next
// request's, as long as the next one only adds messages.
type encoder struct {
	dialect Dialect
	replay  Replay          // replay mode of the encoded messages
	said    wire.Transcript // encoded messages, comma-separated, without marks
	front   front
}

// EncodeBody implements [wire.Encoder]. Most pieces of the body are reused for the next
// request; they never change.
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

// write appends a message to the preceding ones.
func (e *encoder) write(dst []byte, after bool, m *wire.EncodedMessage) []byte {
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

// markPlace returns the offset of the mark for the messages, or -1. The mark is in the last
// message that later requests repeat.
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

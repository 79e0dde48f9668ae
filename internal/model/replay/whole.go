package replay

import (
	"adze/internal/model/messages"
	"adze/internal/msg"
)

// whole returns the turn's message as one JSON object, after all the pauses of the turn.
func (t *turn) whole(q *query) *answer {
	a := newAnswer(q, t, 200, "application/json")
	if n := len(t.steps); n > 0 {
		switch last := t.steps[n-1]; last.op {
		case opErrorEvent: // before anything has been sent, an error is a status
			status, body := messages.ErrorBody(last.kind, t.expand(last.text, q.number))
			a.status, a.body = status, body
			a.pieces = []piece{{t.waits(), len(body)}}
			return a
		case opHang:
			a.end = endHang
			return a
		case opReset, opCut:
			if last.op == opReset {
				a.end = endReset
			}
			body := t.message(q)
			a.send(t.waits(), body[:len(body)/2])
			return a
		}
	}
	a.send(t.waits(), t.message(q))
	return a
}

// message returns the turn's message as JSON.
func (t *turn) message(q *query) []byte {
	w := &composer{turn: t, query: q, body: append(appendHead(nil, t, q), `,"content":[`...)}
	for i := range t.steps {
		w.step(&t.steps[i])
	}
	w.closeBlock()
	if w.garbled {
		return w.body
	}
	dst := append(w.body, `],"stop_reason":"`...)
	dst = append(dst, t.stopReason(w.uses)...)
	dst = append(dst, `","stop_sequence":null`...)
	if !t.usage.none {
		dst = append(dst, `,"usage":`...)
		dst = t.estimate(q, w.content).appendJSON(dst)
	}
	return append(dst, '}')
}

// A composer writes the content of one message.
type composer struct {
	turn  *turn
	query *query
	body  []byte

	open    *step  // the block being composed, or nil
	text    []byte // its text so far
	blocks  int    // complete ones
	content int    // bytes
	uses    int
	garbled bool
}

func (w *composer) step(s *step) {
	if s.op == opGarble {
		w.garbled = true
	}
	if s.op > opBlock {
		return
	}
	if !s.more {
		w.closeBlock()
		w.open = s
	}
	before := len(w.text)
	w.text = append(w.text, w.turn.expand(s.text, w.query.number)...)
	w.content += len(w.text) - before
}

func (w *composer) closeBlock() {
	if w.open == nil {
		return
	}
	if w.blocks > 0 {
		w.body = append(w.body, ',')
	}
	text, number := string(w.text), w.query.number
	switch s := w.open; s.op {
	case opText:
		w.body = msg.AppendPart(w.body, &msg.Text{Text: text})
	case opThink:
		w.body = msg.AppendPart(w.body, &msg.Thinking{Text: text, Signature: signature(s, number, w.blocks)})
	case opUse:
		w.uses++
		w.body = appendUse(w.body, useID(w.turn, s, number, w.uses), s.name, inputValue(text))
	case opBlock:
		w.body = append(w.body, compact(text)...)
	}
	w.blocks++
	w.open, w.text = nil, w.text[:0]
}

// inputValue returns the input of a tool as a JSON value: a string when it is no object.
func inputValue(text string) string {
	if u := msg.NewToolUse("", "", text); u.Malformed != "" {
		return string(msg.AppendString(nil, text))
	}
	return text
}

package replay

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"adze/internal/model/messages"
	"adze/internal/msg"
)

// streamed returns the turn's message as a stream of server-sent events.
func (t *turn) streamed(q *query) *answer {
	w := &streamer{turn: t, query: q, answer: newAnswer(q, t, 200, "text/event-stream; charset=utf-8")}
	for i := range t.steps {
		w.step(&t.steps[i])
	}
	if n := len(t.steps); n == 0 || !t.steps[n-1].op.ends() {
		w.finish()
	}
	return w.answer
}

// A streamer writes the events of one message.
type streamer struct {
	*answer
	turn  *turn
	query *query

	wait      time.Duration // before the next event
	started   bool
	index     int // of the block that is open or comes next
	open      bool
	signature string // of the open block
	content   int    // bytes
	uses      int
}

func (w *streamer) step(s *step) {
	if s.op == opWait {
		w.wait += s.wait
		return
	}
	if s.op < opCut {
		w.start()
	}
	text := w.turn.expand(s.text, w.query.number)
	switch s.op {
	case opText:
		if !s.more {
			w.openBlock(`{"type":"text","text":""}`)
		}
		w.deltas(s, `text_delta","text":`, text)
	case opThink:
		if !s.more {
			w.openBlock(`{"type":"thinking","thinking":"","signature":""}`)
			w.signature = signature(s, w.query.number, w.index)
		}
		w.deltas(s, `thinking_delta","thinking":`, text)
	case opUse:
		w.uses++
		w.openBlock(string(appendUse(nil, useID(w.turn, s, w.query.number, w.uses), s.name, "{}")))
		w.deltas(s, `input_json_delta","partial_json":`, text)
		if json.Valid([]byte(text)) { // nothing can follow; what is not whole yet may be cut off
			w.closeBlock()
		}
	case opBlock:
		w.openBlock(compact(text))
		w.content += len(text)
		w.closeBlock()
	case opEvent:
		w.event(typeOf(text), compact(text))
	case opPing:
		w.event("ping", `{"type":"ping"}`)
	case opUsage:
		w.messageDelta("null", s.tokens)
	case opGarble:
		w.event("content_block_delta", `{"type":"content_block_delta","index":`)
	case opErrorEvent:
		_, body := messages.ErrorBody(s.kind, text)
		w.event("error", string(body))
	case opReset:
		w.end = endReset
	case opHang:
		w.end = endHang
	}
	if s.op >= opCut && w.wait > 0 {
		w.send(w.wait, nil)
	}
}

// start opens the message, once.
func (w *streamer) start() {
	if w.started {
		return
	}
	w.started = true
	data := append([]byte(`{"type":"message_start","message":`), appendHead(nil, w.turn, w.query)...)
	data = append(data, `,"content":[],"stop_reason":null,"stop_sequence":null`...)
	if !w.turn.usage.none {
		data = append(data, `,"usage":`...)
		usage := w.turn.estimate(w.query, 0)
		usage.put(outputTokens, 1)
		data = usage.appendJSON(data)
	}
	w.event("message_start", string(append(data, '}', '}')))
}

func (w *streamer) openBlock(block string) {
	w.closeBlock()
	w.event("content_block_start", `{"type":"content_block_start","index":`+strconv.Itoa(w.index)+
		`,"content_block":`+block+`}`)
	w.open = true
}

// closeBlock closes the open block, thinking with its signature.
func (w *streamer) closeBlock() {
	if !w.open {
		return
	}
	if w.signature != "" {
		w.delta(`signature_delta","signature":`, w.signature)
	}
	w.event("content_block_stop", `{"type":"content_block_stop","index":`+strconv.Itoa(w.index)+`}`)
	w.open, w.signature = false, ""
	w.index++
}

// deltas sends text in as many fragments as the step says.
func (w *streamer) deltas(s *step, kind, text string) {
	w.content += len(text)
	for i := range s.pieces {
		fragment := text
		if left := s.pieces - i; left > 1 {
			fragment = text[:boundary(text, len(text)/left)]
		}
		text = text[len(fragment):]
		if i > 0 {
			w.wait += s.every
		}
		w.delta(kind, fragment)
	}
}

// boundary returns the last place at or before i in s where a character starts.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

func (w *streamer) delta(kind, text string) {
	data := []byte(`{"type":"content_block_delta","index":`)
	data = strconv.AppendInt(data, int64(w.index), 10)
	data = append(data, `,"delta":{"type":"`...)
	data = append(data, kind...)
	data = msg.AppendString(data, text)
	w.event("content_block_delta", string(append(data, '}', '}')))
}

// finish closes the message.
func (w *streamer) finish() {
	w.start()
	w.closeBlock()
	w.messageDelta(`"`+w.turn.stopReason(w.uses)+`"`, w.turn.estimate(w.query, w.content))
	w.event("message_stop", `{"type":"message_stop"}`)
}

func (w *streamer) messageDelta(reason string, usage tokens) {
	data := `{"type":"message_delta","delta":{"stop_reason":` + reason + `,"stop_sequence":null}`
	if !usage.none {
		data += `,"usage":` + string(usage.appendJSON(nil))
	}
	w.event("message_delta", data+`}`)
}

// event sends one event after the pause that is due.
func (w *streamer) event(name, data string) {
	b := append(w.body, "event: "...)
	b = append(b, name...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	w.body = append(b, '\n', '\n')
	w.pieces = append(w.pieces, piece{w.wait, len(w.body)})
	w.wait = 0
}

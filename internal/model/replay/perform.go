package replay

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// streamed returns the turn's message as a stream of events.
func (t *turn) streamed(q *query) *answer {
	p := newPerformer(t, q)
	p.answer = newAnswer(q, t, 200, wire.MediaType(q.server))
	for i := range t.steps {
		p.step(&t.steps[i])
	}
	if n := len(t.steps); n == 0 || !t.steps[n-1].op.ends() {
		p.finish()
	}
	return p.answer
}

// whole returns the turn's message without streaming, after all the pauses of the turn.
func (t *turn) whole(q *query) *answer {
	a := newAnswer(q, t, 200, "application/json")
	last := opText
	if n := len(t.steps); n > 0 {
		last = t.steps[n-1].op
	}
	switch last {
	case opErrorEvent: // before any output, an error is an HTTP status
		s := t.steps[len(t.steps)-1]
		status, body := q.server.EncodeError(s.kind, t.expand(s.text, q))
		a.status = status
		a.send(t.waits(), body)
		return a
	case opHang:
		a.end = endHang
		return a
	}
	p := newPerformer(t, q)
	p.answer = &answer{}
	for i := range t.steps {
		if !t.steps[i].op.ends() {
			p.step(&t.steps[i])
		}
	}
	p.finish()
	body := p.body
	switch last {
	case opReset:
		a.end = endReset
		body = body[:len(body)/2]
	case opCut:
		body = body[:len(body)/2]
	}
	a.send(t.waits(), body)
	return a
}

// A performer executes the steps of one message.
type performer struct {
	*answer
	turn    *turn
	query   *query
	speller wire.ResponseEncoder

	wait    time.Duration // pause before the next event
	started bool
	index   int // index of the open or next block
	open    *step
	text    strings.Builder // text of the open block
	content int             // bytes of content
	uses    int
	// signed is the signature of the last thinking block.
	signed string
}

func newPerformer(t *turn, q *query) *performer {
	return &performer{turn: t, query: q, speller: q.server.NewResponseEncoder(q.Stream)}
}

func (p *performer) step(s *step) {
	if s.op == opWait {
		p.wait += s.wait
		return
	}
	if s.op < opCut {
		p.start()
	}
	text := p.turn.expand(s.text, p.query)
	switch s.op {
	case opText, opThink, opUse:
		if !s.more {
			p.closeBlock()
			p.open = s
			if s.op == opUse {
				p.uses++
			}
		}
		p.deltas(s, text)
		if s.op == opUse && json.Valid([]byte(text)) { // complete, so it can't continue; incomplete input may be cut off
			p.closeBlock()
		}
	case opBlock:
		p.closeBlock()
		p.content += len(text)
		p.emit(p.speller.Event(model.BlockDone{Block: p.index, Part: &msg.Opaque{Raw: compact(text)}}))
		p.index++
	case opEvent:
		p.emit(p.speller.Raw(string(compact(text))))
	case opPing:
		p.emit(p.speller.Ping())
	case opUsage:
		p.emit(p.speller.Usage(s.tokens.counts()))
	case opGarble:
		p.emit(p.speller.Garble())
	case opErrorEvent:
		p.emit(p.speller.Fail(s.kind, text))
	case opReset:
		p.end = endReset
	case opHang:
		p.end = endHang
	}
	if s.op >= opCut && p.wait > 0 {
		p.send(p.wait, nil)
	}
}

// start opens the message, once.
func (p *performer) start() {
	if p.started {
		return
	}
	p.started = true
	name := p.turn.model
	if name == "" {
		name = p.query.Model
	}
	usage := p.turn.estimate(p.query, 0)
	usage.put(wire.OutputTokens, 1)
	p.emit(p.speller.Open("msg_"+strconv.Itoa(p.query.number), name, usage.counts()))
	if first := p.turn.steps; p.query.reasons && (len(first) == 0 || first[0].op != opThink) {
		p.open = &step{op: opThink}
		p.closeBlock()
	}
}

// deltas sends text in the step's number of fragments.
func (p *performer) deltas(s *step, text string) {
	p.content += len(text)
	p.text.WriteString(text)
	for i := range s.pieces {
		fragment := text
		if left := s.pieces - i; left > 1 {
			fragment = text[:boundary(text, len(text)/left)]
		}
		text = text[len(fragment):]
		if i > 0 {
			p.wait += s.every
		}
		p.emit(p.speller.Event(p.delta(fragment)))
	}
}

// boundary returns the last character start at or before i in s.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// delta returns the event for additional text of the open block.
func (p *performer) delta(text string) model.Event {
	switch p.open.op {
	case opThink:
		return model.ThinkingDelta{Block: p.index, Text: text}
	case opUse:
		return model.InputDelta{Block: p.index, ID: p.useID(), Name: p.open.name, JSON: text}
	default:
		return model.TextDelta{Block: p.index, Text: text}
	}
}

// closeBlock closes the open block, adding the signature to thinking.
func (p *performer) closeBlock() {
	if p.open == nil {
		return
	}
	var part msg.Part
	switch text := p.text.String(); p.open.op {
	case opThink:
		signature := p.signature()
		if signature != "" {
			p.emit(p.speller.Event(model.ThinkingDelta{Block: p.index, Signature: signature}))
		}
		part = &msg.Thinking{Text: text, Signature: signature}
	case opUse:
		part = msg.NewToolUse(p.useID(), p.open.name, text)
	default:
		part = &msg.Text{Text: text}
	}
	p.emit(p.speller.Event(model.BlockDone{Block: p.index, Part: part}))
	p.open = nil
	p.text.Reset()
	p.index++
}

// useID returns the ID of the open tool use, by default a unique one.
func (p *performer) useID() string {
	if p.open.id != "" {
		return p.turn.expand(p.open.id, p.query)
	}
	return "toolu_" + strconv.Itoa(p.query.number) + "_" + strconv.Itoa(p.uses)
}

// signature returns the signature of the open thinking block, by default a unique one bound to
// the request.
func (p *performer) signature() string {
	if p.open.signed {
		return p.open.signature
	}
	p.signed = p.query.server.Sign(p.query.body, "sig_"+strconv.Itoa(p.query.number)+"_"+strconv.Itoa(p.index), p.signed)
	return p.signed
}

// finish closes the message.
func (p *performer) finish() {
	p.start()
	p.closeBlock()
	p.emit(p.speller.Close(p.turn.stopReason(p.uses), p.turn.estimate(p.query, p.content).counts()))
}

// emit sends data after the pending pause.
func (p *performer) emit(data []byte) {
	if len(data) == 0 {
		return
	}
	p.send(p.wait, data)
	p.wait = 0
}

// compact returns object on one line.
func compact(object string) []byte {
	var b bytes.Buffer
	if json.Compact(&b, []byte(object)) != nil {
		return []byte(object)
	}
	return b.Bytes()
}

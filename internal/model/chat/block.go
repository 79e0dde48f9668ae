package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A reply is a partial answer and its events that were not taken yet.
type reply struct {
	dialect   Dialect
	tools     []msg.ToolSpec // offered tools, if known
	requestID string
	inner     jsonscan.Scanner // scans nested values in a chunk

	out    []model.Event
	id     string
	model  string
	begun  bool // the start event was emitted
	open   []*block
	blocks int // number of blocks so far
	calls  int
	ids    map[string]bool // call IDs
	tally  tally

	refused bool
}

func (r *reply) emit(e model.Event) { r.out = append(r.out, e) }

// begin emits the start event, once.
func (r *reply) begin() {
	if !r.begun {
		r.begun = true
		r.emit(model.Start{ID: r.id, Model: r.model, RequestID: r.requestID})
	}
}

// write adds text to the answer.
func (r *reply) write(text []byte) {
	if len(text) == 0 {
		return
	}
	b := r.continued(textBlock)
	b.text = append(b.text, text...)
	r.tally.text += len(text)
	r.emit(model.TextDelta{Block: b.index, Text: string(text)})
}

func (r *reply) think(text []byte) {
	if len(text) == 0 {
		return
	}
	b := r.continued(thinkingBlock)
	b.text = append(b.text, text...)
	r.tally.text += len(text)
	r.emit(model.ThinkingDelta{Block: b.index, Text: string(text)})
}

// refuse adds a model's refusal text.
func (r *reply) refuse(text []byte) {
	r.refused = r.refused || len(text) > 0
	r.write(text)
}

// A blockKind is the type of a block.
type blockKind uint8

const (
	textBlock blockKind = iota
	thinkingBlock
	callBlock
)

// A block is a part of the answer that is still being written. The wire has no blocks: a block
// ends when something else begins.
type block struct {
	index   int
	kind    blockKind
	text    []byte   // the text, the reasoning, or the arguments
	details []detail // reasoning details
	member  string   // member that held the reasoning, if it was separate from the text
	name    []byte   // tool name as received
	wireID  string   // server's call ID, or empty
	id      string   // call ID, unique within the answer; empty until announced
	tool    string   // tool name as announced
	number  int      // server's index of the call, or -1
}

// continued returns the last block if it has the given kind, or a new one.
func (r *reply) continued(kind blockKind) *block {
	if n := len(r.open); n > 0 && r.open[n-1].kind == kind {
		return r.open[n-1]
	}
	return r.start(&block{kind: kind})
}

// start begins a block. It closes the earlier blocks up to the first call whose arguments may
// continue.
func (r *reply) start(b *block) *block {
	r.begin()
	for len(r.open) > 0 && (r.open[0].kind != callBlock || whole(r.open[0].text)) {
		r.close()
	}
	b.index = r.blocks
	r.blocks++
	r.open = append(r.open, b)
	return b
}

// whole reports whether text is a complete JSON object.
func whole(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && text[len(text)-1] == '}' && json.Valid(text)
}

// close completes the first open block.
func (r *reply) close() {
	b := r.open[0]
	r.open = r.open[1:]
	var part msg.Part
	switch b.kind {
	case textBlock:
		part = &msg.Text{Text: string(b.text)}
	case thinkingBlock:
		t := &msg.Thinking{Text: string(b.text)}
		if r.dialect.Replay != ReplayNone {
			t.Signature = signature + string(appendDetails(nil, b.details))
			if r.dialect.Replay == ReplaySame && len(b.details) == 0 {
				t.Signature += b.member
			}
			r.emit(model.ThinkingDelta{Block: b.index, Signature: t.Signature})
		}
		part = t
	case callBlock:
		if len(b.name) == 0 { // no tool to call, but keep the model's text
			part = &msg.Text{Text: string(b.text)}
			break
		}
		r.show(b)
		r.calls++
		args := string(bytes.TrimSpace(b.text))
		if args == "null" {
			args = ""
		}
		part = msg.NewToolUse(b.id, toolname.Original(r.tools, string(b.name)), args)
	}
	r.emit(model.BlockDone{Block: b.index, Part: part})
}

// toolCalls handles a list of call fragments.
func (r *reply) toolCalls(list []byte) {
	s := jsonscan.Scanner{}
	s.Reset(list)
	s.Array()
	for first := true; s.Element(); first = false {
		if raw := s.Raw(); raw != nil && raw[0] == '{' {
			r.toolCall(raw, first)
		}
	}
}

// A piece is a fragment of a call as received.
type piece struct {
	number int // -1 if missing
	id     []byte
	name   []byte
	args   []byte
	// alone is true if it is the first piece in its chunk.
	alone bool
}

// toolCall handles a fragment of a call: an element of tool_calls, or the older function_call,
// which contains only the function.
func (r *reply) toolCall(raw []byte, alone bool) {
	p := piece{number: -1, alone: alone}
	r.inner.Reset(raw)
	p.read(&r.inner)
	if p.id == nil && p.name == nil && len(p.args) == 0 {
		return
	}
	b := r.callOf(&p)
	if b == nil && len(p.args) == 0 && r.ids[string(p.id)] { // repeats a completed call
		return
	}
	if b == nil {
		b = r.start(&block{kind: callBlock, number: p.number, wireID: string(p.id)})
	}
	fresh := len(b.name) == 0
	if len(b.text) == 0 && string(b.name) != string(p.name) {
		b.name = append(b.name, p.name...)
	}
	if b.wireID == "" && b.id == "" {
		b.wireID = string(p.id)
	}
	b.text = append(b.text, p.args...)
	r.tally.text += len(p.args)
	switch {
	case len(b.name) == 0:
	case len(p.args) > 0:
		r.show(b)
		r.emit(model.InputDelta{Block: b.index, ID: b.id, Name: b.tool, JSON: string(p.args)})
	case fresh && b.wireID != "" && (r.tools == nil || r.offered(b.name)): // well-formed start
		r.show(b)
	}
}

// read reads the members of a piece and of its function.
func (p *piece) read(s *jsonscan.Scanner) {
	s.Object()
	for {
		name, ok := s.Member()
		if !ok {
			return
		}
		switch kind := s.Kind(); {
		case string(name) == "index" && kind == '0':
			n, _ := s.Number()
			p.number = int(n)
		case string(name) == "id" && kind == '"':
			p.id = s.Text()
		case string(name) == "name" && kind == '"':
			p.name = s.Text()
		case (string(name) == "arguments" || string(name) == "parameters") && kind == '"':
			p.args = s.Text()
		case (string(name) == "arguments" || string(name) == "parameters") && kind == '{':
			p.args = s.Raw()
		case string(name) == "function" && kind == '{':
			p.read(s)
		default:
			s.Skip()
		}
	}
}

// callOf returns the open call that p continues, or nil if p begins one. Not every server
// numbers its calls, gives them IDs, or sends either only once.
func (r *reply) callOf(p *piece) *block {
	var b *block
	for i := len(r.open) - 1; i >= 0 && b == nil; i-- {
		if o := r.open[i]; o.kind == callBlock && (p.number < 0 || o.number < 0 || o.number == p.number) && (p.number >= 0 || len(p.id) == 0 || o.wireID == string(p.id)) {
			b = o
		}
	}
	switch {
	case b == nil:
		return nil
	case len(p.id) > 0 && b.wireID != "" && b.wireID != string(p.id):
		return nil
	case len(p.name) == 0:
		return b
	case len(p.id) > 0 && b.wireID == string(p.id): // repeated
		return b
	case p.number < 0 && !p.alone: // two in one chunk are separate calls
		return nil
	case len(b.name) == 0:
		return b
	case len(b.text) > 0 && string(p.name) != string(b.name):
		return nil
	case len(b.text) > 0 && whole(b.text): // the same tool again
		return nil
	case len(b.text) == 0 && string(p.name) != string(b.name) && r.offered(b.name) && !r.offered(append(b.name[:len(b.name):len(b.name)], p.name...)):
		return nil
	}
	return b // the name is repeated or continued
}

// offered reports whether name is an offered tool.
func (r *reply) offered(name []byte) bool {
	for i := range r.tools {
		if toolname.Restrict(r.tools[i].Name) == string(name) {
			return true
		}
	}
	return false
}

// show assigns a call its ID and announces it, once.
func (r *reply) show(b *block) {
	if b.id != "" {
		return
	}
	b.id = r.uniqueID(b)
	b.tool = toolname.Original(r.tools, string(b.name))
	r.emit(model.InputDelta{Block: b.index, ID: b.id, Name: b.tool})
}

// uniqueID returns the server's call ID, or a new one if it is missing or a duplicate.
func (r *reply) uniqueID(b *block) string {
	if b.wireID == "" {
		return fmt.Sprintf("call_%016x", rand.Uint64())
	}
	if r.ids == nil {
		r.ids = map[string]bool{}
	}
	id := b.wireID
	for n := 2; r.ids[id]; n++ {
		id = b.wireID + "_" + strconv.Itoa(n)
	}
	r.ids[id] = true
	return id
}

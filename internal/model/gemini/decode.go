package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A decoder converts responses into events. A stream is a sequence of responses, each with more
// parts of one answer. It ends with the connection, because many servers send the finish reason
// more than once.
type decoder struct {
	tools     []msg.ToolSpec
	requestID string
	raw       bool

	scan  jsonscan.Scanner
	out   []model.Event // pending events; reused
	held  bool          // out waits for content; see Take
	begun bool          // content has arrived

	id      string // response ID
	started bool
	open    openBlock
	index   int             // index of the open or next block
	calls   map[string]call // keyed by ID
	repeatDetector
	tally  tally
	finish string
}

// A call is a decoded call.
type call struct{ name, args string }

// repeatDetector detects calls without IDs that a server repeats. Equal calls in one response are
// distinct; the same call in the next response with content, unless its signature differs, is a
// repetition.
type repeatDetector struct {
	before, now map[call]occurrences
	content     bool // the response has content
}

// occurrences counts a call's occurrences in a response and holds its last signature.
type occurrences struct {
	times int
	sig   string
}

// repeats reports whether the call was in the previous response.
func (n *repeatDetector) repeats(c call, sig string) bool {
	if n.now == nil {
		n.now = map[call]occurrences{}
	}
	n.now[c] = occurrences{n.now[c].times + 1, sig}
	b := n.before[c]
	if b.times == 0 || sig != "" && b.sig != sig {
		return false
	}
	n.before[c] = occurrences{b.times - 1, b.sig}
	return true
}

// next ends a response.
func (n *repeatDetector) next() {
	if n.content {
		n.before, n.now = n.now, nil
	}
	n.content = false
}

// An openBlock is a text or thinking block that may continue.
type openBlock struct {
	kind blockKind
	text []byte
}

type blockKind uint8

const (
	noBlock blockKind = iota
	textBlock
	thoughtBlock
)

// Take implements [wire.Decoder]. The start events are held back until content follows, so that
// an error in its place comes before the first event, when the request can still be retried.
func (d *decoder) Take() []model.Event {
	if d.held {
		return nil
	}
	out := d.out
	d.out = d.out[:0]
	return out
}

func (d *decoder) emit(e model.Event) { d.out = append(d.out, e) }

// Event implements [wire.Decoder].
func (d *decoder) Event(_ string, data []byte) (wire.Progress, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return wire.Ignored, nil
	}
	known, err := d.response(data)
	switch {
	case err != nil:
		return wire.KeepAlive, err
	case !known:
		return wire.KeepAlive, nil
	}
	return wire.Content, nil
}

// response decodes a response or a list of them, and reports whether it contained anything
// known.
func (d *decoder) response(data []byte) (known bool, err error) {
	d.scan.Reset(data)
	if d.scan.Kind() == '[' {
		var all [][]byte
		for range d.scan.Elements {
			all = append(all, d.scan.Raw())
		}
		if err := d.scan.End(); err != nil {
			return false, notJSON(err)
		}
		for _, one := range all {
			some, err := d.response(one)
			if err != nil {
				return false, err
			}
			known = known || some
		}
		return known, nil
	}
	if !d.started {
		known, err := d.start(data)
		if err != nil || !known {
			return known, err
		}
	}
	if d.raw {
		d.emit(model.Raw{JSON: slices.Clone(data)})
	}
	return d.content(data)
}

func notJSON(err error) error {
	if jsonscan.IsWrongType(err) {
		return fmt.Errorf("the answer has a value of the %w", err)
	}
	return fmt.Errorf("the answer has an event that is not JSON: %w", err)
}

// start emits the start event with the data of the first response. Data that is not a response
// is ignored.
func (d *decoder) start(data []byte) (known bool, err error) {
	var version string
	s := &d.scan
	s.Reset(data)
	for name := range s.Members {
		switch string(name) {
		case "responseId":
			d.id = string(s.Text())
		case "modelVersion":
			version = string(s.Text())
		case "candidates", "usageMetadata", "promptFeedback":
			known = true
			s.Skip()
		case "error":
			return true, d.streamError(s.Raw())
		default:
			s.Skip()
		}
	}
	if err := s.End(); err != nil {
		return false, notJSON(err)
	}
	if known {
		d.started, d.held = true, true
		d.emit(model.Start{ID: d.id, Model: version, RequestID: d.requestID})
	}
	return known, nil
}

// content decodes a response's additions to the answer.
func (d *decoder) content(data []byte) (known bool, err error) {
	s := &d.scan
	s.Reset(data)
	defer d.next()
	blocked, reported, used := "", d.tally.reported, false
	for name := range s.Members {
		switch string(name) {
		case "candidates":
			known = true
			if err := d.candidates(); err != nil {
				return known, err
			}
		case "usageMetadata":
			known, used = true, d.tally.read(s)
		case "promptFeedback":
			blocked = d.feedback()
		case "error":
			return true, d.streamError(s.Raw())
		default:
			s.Skip()
		}
	}
	d.tally.final = used && d.finish != "" || d.tally.final && !used
	switch {
	case s.End() != nil:
		return known, notJSON(s.End())
	case blocked != "" && !d.begun:
		return known, d.refused("the prompt was blocked: " + blocked)
	case d.finish != "" && !ends(d.finish):
		return known, &model.Error{Kind: model.Broken, Lasting: true, RequestID: d.requestID, Message: unusable(d.finish)}
	case !reported && d.tally.reported:
		// Insert the usage after the start and before the content; only the last of the later
		// reports counts.
		u := model.Usage{Usage: d.tally.usage()}
		d.out = slices.Insert(d.out, d.afterStart(), model.Event(u))
	}
	return known, nil
}

// afterStart returns the index in out after the start event.
func (d *decoder) afterStart() int {
	for i, e := range d.out {
		if _, ok := e.(model.Start); ok {
			return i + 1
		}
	}
	return len(d.out)
}

func (d *decoder) feedback() (reason string) {
	s := &d.scan
	for name := range s.Members {
		if string(name) == "blockReason" {
			reason = string(s.Text())
		} else {
			s.Skip()
		}
	}
	return reason
}

func (d *decoder) refused(message string) error {
	return &model.Error{Kind: model.Refused, RequestID: d.requestID, Message: message}
}

// candidates reads the answer, using only the first candidate.
func (d *decoder) candidates() error {
	s := &d.scan
	first := true
	for range s.Elements {
		if !first {
			s.Skip()
			continue
		}
		first = false
		for name := range s.Members {
			switch string(name) {
			case "content":
				if err := d.parts(); err != nil {
					return err
				}
			case "finishReason":
				if reason := s.Text(); len(reason) > 0 {
					d.finish = string(reason)
					d.begin()
				}
			case "groundingMetadata":
				d.out = d.tally.search(d.out, s.Raw())
			default:
				s.Skip()
			}
		}
	}
	return nil
}

// begin records that content has arrived.
func (d *decoder) begin() { d.held, d.begun = false, true }

// parts reads the answer's content.
func (d *decoder) parts() error {
	s := &d.scan
	for name := range s.Members {
		if string(name) != "parts" {
			s.Skip()
			continue
		}
		for range s.Elements {
			if err := d.part(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A part is one part of a response.
type part struct {
	text    []byte
	sig     []byte
	call    callPart
	hasText bool
	hasCall bool
	thought bool
	other   bool // unknown content
}

type callPart struct{ id, name, args []byte }

func (d *decoder) part() error {
	s := &d.scan
	var p part
	d.repeatDetector.content = true
	start := s.Pos()
	for name := range s.Members {
		switch string(name) {
		case "text":
			p.hasText = s.Kind() == '"'
			p.text = s.Text()
		case "thought":
			p.thought = s.Bool()
		case "thoughtSignature":
			p.sig = s.Text()
		case "functionCall":
			p.hasCall = s.Kind() == '{'
			p.call = d.callPart()
		case "partMetadata", "videoMetadata", "mediaResolution":
			s.Skip()
		default:
			p.other = true
			s.Skip()
		}
	}
	switch {
	case s.Err() != nil:
		return nil // End reports the reason
	case p.hasCall:
		return d.call(p)
	case p.other:
		d.begin()
		d.closeBlock("")
		d.done(&msg.Opaque{Raw: slices.Concat([]byte(`{"type":"gemini_part","part":`), s.From(start), []byte("}"))})
	case p.thought:
		d.thought(p)
	case p.hasText || len(p.sig) > 0:
		d.text(p)
	}
	return nil
}

func (d *decoder) callPart() (c callPart) {
	s := &d.scan
	for name := range s.Members {
		switch string(name) {
		case "id":
			c.id = s.Text()
		case "name":
			c.name = s.Text()
		case "args":
			c.args = s.Raw()
		default:
			s.Skip()
		}
	}
	return c
}

// call handles a call, which is always complete.
func (d *decoder) call(p part) error {
	if len(p.call.name) == 0 {
		return errors.New("the answer has a function call without a name")
	}
	name, args := original(d.tools, string(p.call.name)), string(p.call.args)
	if d.calls[string(p.call.id)] == (call{name, args}) {
		return nil // duplicate
	}
	if len(p.call.id) == 0 && d.repeats(call{name, args}, string(p.sig)) {
		return nil
	}
	d.begin()
	d.sign(onNext, p.sig)
	id := d.callID(p.call.id)
	if d.calls == nil {
		d.calls = map[string]call{}
	}
	d.calls[id] = call{name, args}
	d.tally.text += len(args)
	d.emit(model.InputDelta{Block: d.index, ID: id, Name: name, JSON: args})
	d.done(msg.NewToolUse(id, name, args))
	return nil
}

// callID returns a call's ID. If it is missing or taken by another call of the answer, it is
// derived from the response's ID.
func (d *decoder) callID(given []byte) string {
	id := string(given)
	if d.calls[id].name != "" || id == "" {
		from := d.id
		if from == "" {
			from = msg.NewID()
		}
		id = "call_" + from + "_" + strconv.Itoa(len(d.calls)+1)
	}
	return id
}

// thought adds thinking.
func (d *decoder) thought(p part) {
	d.begin()
	if d.open.kind != thoughtBlock {
		d.closeBlock("")
		d.open.kind = thoughtBlock
	}
	d.open.text = append(d.open.text, p.text...)
	d.tally.text += len(p.text)
	if len(p.text) > 0 {
		d.emit(model.ThinkingDelta{Block: d.index, Text: string(p.text)})
	}
	if len(p.sig) > 0 {
		d.sign(onThought, p.sig)
	}
}

// text adds text. A text with a signature becomes a separate block.
func (d *decoder) text(p part) {
	switch {
	case len(p.text) == 0 && len(p.sig) == 0:
		return
	case len(p.text) == 0:
		d.begin()
		d.sign(onNothing, p.sig)
		return
	case len(p.sig) > 0:
		d.sign(onNext, p.sig)
	}
	d.begin()
	if d.open.kind != textBlock {
		d.closeBlock("")
		d.open.kind = textBlock
	}
	d.open.text = append(d.open.text, p.text...)
	d.tally.text += len(p.text)
	d.emit(model.TextDelta{Block: d.index, Text: string(p.text)})
	if len(p.sig) > 0 {
		d.closeBlock("")
	}
}

// sign closes the open block with a signature if it is thinking; otherwise the signature
// becomes a separate block. An empty signature only closes the block.
func (d *decoder) sign(on place, sig []byte) {
	if len(sig) == 0 {
		d.closeBlock("")
		return
	}
	if d.open.kind != thoughtBlock {
		d.closeBlock("")
		d.open.kind = thoughtBlock
	}
	signature := string(on) + string(sig)
	d.emit(model.ThinkingDelta{Block: d.index, Signature: signature})
	d.closeBlock(signature)
}

// closeBlock ends the open block, if any.
func (d *decoder) closeBlock(signature string) {
	text := string(d.open.text)
	switch d.open.kind {
	case noBlock:
		return
	case textBlock:
		d.done(&msg.Text{Text: text})
	default:
		d.done(&msg.Thinking{Text: text, Signature: signature})
	}
}

// done ends a block.
func (d *decoder) done(p msg.Part) {
	d.open = openBlock{}
	d.emit(model.BlockDone{Block: d.index, Part: p})
	d.index++
}

// End implements [wire.Decoder]. An answer with a usable finish reason is complete. The usage
// of an answer that broke off is an estimate; if err is the server's own error and came before
// any content, the answer never started.
func (d *decoder) End(err error) (complete bool) {
	d.held = false
	if d.finish != "" && ends(d.finish) && (err == io.EOF || model.KindOf(err) == model.Unknown) {
		d.stop()
		return true
	}
	switch kind := model.KindOf(err); {
	case !d.begun && kind != model.Broken && kind != model.Unknown:
		d.out = d.out[:0]
	case len(d.out) > 0 || d.begun:
		d.tally.final = false
		d.emit(model.Usage{Usage: d.tally.estimate()})
	}
	return false
}

// stop ends the answer.
func (d *decoder) stop() {
	d.closeBlock("")
	d.emit(model.Usage{Usage: d.tally.estimate()})
	d.emit(model.Stop{Reason: stopReason(d.finish, len(d.calls) > 0)})
}

// Message implements [wire.Decoder].
func (d *decoder) Message(body []byte) error {
	if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
		return errors.New("a web page came instead of an answer")
	}
	known, err := d.response(body)
	switch {
	case err != nil && !d.started && model.KindOf(err) == model.Unknown:
		return fmt.Errorf("the answer cannot be read: %w", err)
	case err != nil:
		return err
	case !known:
		return errors.New("the answer has no candidates")
	case d.finish == "":
		return errors.New("the answer stopped before its end")
	}
	d.held = false
	d.stop()
	return nil
}

package messages

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

// A decoder converts wire events to model events.
type decoder struct {
	requestID string
	raw       bool

	scan  jsonscan.Scanner
	out   []model.Event // pending events; reused
	held  bool          // out waits for content; see Take
	begun bool          // content has arrived
	opens bool          // the start has arrived

	open    []*block          // ordered by start
	queries map[string]string // search queries so far, by ID
	query   string            // last announced query
	tally   tally
	stop    model.StopReason
}

// A wireEvent is any stream event.
type wireEvent struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      wireMessage     `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        wireDelta       `json:"delta"`
	Usage        *wireUsage      `json:"usage"`
	Error        wireError       `json:"error"`
}

// foreign reports whether e is a keep-alive or of an unknown kind, which may use our field
// names differently.
func (e *wireEvent) foreign() bool {
	switch e.Type {
	case "", "error", "message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop":
		return false
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta", "thinking_delta", "signature_delta", "input_json_delta":
			return false
		}
	}
	return true
}

type wireDelta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

// A wireMessage is a response, either whole or as started. A whole one may be an error instead.
type wireMessage struct {
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      *wireUsage        `json:"usage"`
	Error      wireError         `json:"error"`
}

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

// Event implements [wire.Decoder].
func (d *decoder) Event(name string, data []byte) (wire.Progress, error) {
	if !d.raw && d.quick(data) {
		return wire.Content, nil
	}
	var e wireEvent
	err := json.Unmarshal(data, &e)
	switch {
	case len(data) == 0 || e.foreign() && errors.As(err, new(*json.UnmarshalTypeError)):
		return wire.Ignored, nil
	case err != nil:
		return wire.Ignored, notJSON("the stream has an event that is not JSON", err)
	case e.Type == "":
		e.Type = name
	}
	if e.foreign() {
		return wire.KeepAlive, nil
	}
	if e.Type == "error" {
		return wire.KeepAlive, d.streamError(e.Error)
	}
	switch first := e.Type == "message_start"; {
	case first && d.opens:
		return wire.KeepAlive, errors.New("the answer starts twice")
	case !first && !d.opens:
		return wire.KeepAlive, errors.New("the answer does not begin with its start")
	}
	d.held = !d.opens
	d.opens = true
	d.begun = d.begun || !d.held
	if d.raw {
		d.emit(model.Raw{JSON: slices.Clone(data)})
	}
	switch e.Type {
	case "message_start":
		d.start(e.Message)
	case "content_block_start":
		err = d.startBlock(e.Index, e.ContentBlock)
	case "content_block_delta":
		err = d.delta(e.Index, e.Delta)
	case "content_block_stop":
		err = d.stopBlock(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			d.stop = model.StopReason(e.Delta.StopReason)
		}
		d.use(e.Usage, latest)
	case "message_stop":
		return wire.Complete, d.finish()
	}
	return wire.Content, err
}

// notJSON returns an error with the given text. It wraps cause but hides its message, which
// only names a position.
func notJSON(text string, cause error) error { return unreadable{text, cause} }

type unreadable struct {
	text string
	error
}

func (u unreadable) Error() string { return u.text }
func (u unreadable) Unwrap() error { return u.error }

// A quickDelta is the event that makes up nearly all of a stream.
type quickDelta struct {
	event, kind, text []byte
	index             float64
	odd               bool // something in it is unusual
}

// quick handles a delta of text, thinking or input. It returns false and does nothing for all
// other events and for unusual deltas.
func (d *decoder) quick(data []byte) bool {
	if len(d.open) == 0 || d.held {
		return false
	}
	q := d.readDelta(data)
	b := d.open[len(d.open)-1]
	if q.odd || len(q.text) == 0 || string(q.event) != "content_block_delta" || int(q.index) != b.index {
		return false
	}
	switch {
	case b.kind == "text" && string(q.kind) == "text_delta":
		d.emit(model.TextDelta{Block: b.index, Text: string(q.text)})
	case b.kind == "thinking" && string(q.kind) == "thinking_delta":
		d.emit(model.ThinkingDelta{Block: b.index, Text: string(q.text)})
	case b.kind == "tool_use" && string(q.kind) == "input_json_delta":
		d.emit(model.InputDelta{Block: b.index, ID: b.id, Name: b.name, JSON: string(q.text)})
	default:
		return false
	}
	b.text = append(b.text, q.text...)
	d.tally.text += len(q.text)
	return true
}

func (d *decoder) readDelta(data []byte) (q quickDelta) {
	s := &d.scan
	s.Reset(data)
	for name := range s.Members {
		switch string(name) {
		case "type":
			q.event = s.Text()
		case "index":
			q.index, _ = s.Number()
		case "delta":
			for name := range s.Members {
				switch string(name) {
				case "type":
					q.kind = s.Text()
				case "text", "thinking", "partial_json":
					q.odd = q.odd || q.text != nil
					q.text = s.Text()
				default:
					s.Skip()
				}
			}
		default:
			s.Skip()
		}
	}
	q.odd = q.odd || s.End() != nil
	return q
}

func (d *decoder) emit(e model.Event) { d.out = append(d.out, e) }

func (d *decoder) start(m wireMessage) {
	d.emit(model.Start{ID: m.ID, Model: m.Model, RequestID: d.requestID})
	d.use(m.Usage, opening)
}

func (d *decoder) use(u *wireUsage, when reportTime) {
	if d.tally.add(u, when) {
		d.emit(model.Usage{Usage: d.tally.usage})
	}
}

// finish ends the message: it completes the blocks still open and adds the usage if the server
// has not reported it.
func (d *decoder) finish() error {
	for len(d.open) > 0 {
		if err := d.stopBlock(d.open[0].index); err != nil {
			return err
		}
	}
	if d.tally.estimate() {
		d.emit(model.Usage{Usage: d.tally.usage})
	}
	d.emit(model.Stop{Reason: stopReason(d.stop)})
	return nil
}

// End implements [wire.Decoder]. Only message_stop completes a message. The usage of a message
// that broke off is an estimate; if err is the server's own error and came before any content,
// the message never started.
func (d *decoder) End(err error) (complete bool) {
	switch kind := model.KindOf(err); {
	case !d.begun && kind != model.Broken && kind != model.Unknown:
		d.out = nil
	case d.opens:
		d.tally.final = false
		d.tally.estimate()
		d.emit(model.Usage{Usage: d.tally.usage})
	}
	d.held = false
	return false
}

// streamError returns the error the server sent instead of continuing. After any content it is
// reported as a broken answer.
func (d *decoder) streamError(w wireError) error {
	err := w.classify(0)
	err.RequestID = d.requestID
	return err.Within(d.begun)
}

func stopReason(r model.StopReason) model.StopReason {
	switch r {
	case model.StopTools, model.StopMaxTokens, model.StopSequence, model.StopRefusal, model.StopPause,
		model.StopContextExceeded:
		return r
	}
	return model.StopEnd
}

var errNotAnswer = errors.New("a web page came instead of an answer")

// Message implements [wire.Decoder].
func (d *decoder) Message(body []byte) error {
	var m wireMessage
	if err := json.Unmarshal(body, &m); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return errNotAnswer
		}
		return notJSON("the answer is not JSON", err)
	}
	switch m.Type {
	case "message":
	case "error":
		return d.streamError(m.Error)
	default:
		return fmt.Errorf("the answer is not a message")
	}
	d.start(wireMessage{ID: m.ID, Model: m.Model})
	for i, raw := range m.Content {
		if err := d.startBlock(i, raw); err != nil {
			return err
		}
		if err := d.stopBlock(i); err != nil {
			return err
		}
	}
	d.stop = model.StopReason(m.StopReason)
	d.use(m.Usage, latest)
	return d.finish()
}

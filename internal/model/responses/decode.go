package responses

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// A decoder converts wire events to model events. Each output item is a block.
type decoder struct {
	dialect   Dialect
	tools     []msg.ToolSpec // offered tools
	requestID string
	raw       bool

	out     []model.Event // pending events
	held    bool          // out waits for content; see Take
	started bool          // the start event was emitted
	begun   bool          // content has arrived

	items    []*item         // pending items, in output order
	next     int             // output index of the next item to emit
	finished map[string]bool // IDs of emitted items and calls
	block    int             // number of the next block
	given    int             // number of emitted items
	sequence int             // number of the last event

	tally   tally
	called  bool // there was a call
	refused bool // the model refused
}

// An event is any stream event. Values are raw JSON.
type event struct {
	kind     []byte
	sequence int
	index    int    // output index
	piece    int    // piece within the item
	id       []byte // item ID
	delta    []byte
	whole    []byte // complete text, after the deltas
	item     []byte
	response []byte
	failure  []byte
}

// scan parses an event.
func (e *event) scan(data []byte) error {
	return jsonscan.Object(data, func(name, value []byte) error {
		switch string(name) {
		case "type":
			if len(value) > 2 && value[0] == '"' {
				e.kind = value[1 : len(value)-1]
			} else if !jsonscan.IsNull(value) {
				return errors.New("the type is not a string")
			}
		case "sequence_number":
			e.sequence, _ = jsonscan.Int(value)
		case "output_index":
			e.index, _ = jsonscan.Int(value)
		case "content_index", "summary_index":
			e.piece, _ = jsonscan.Int(value)
		case "item_id":
			e.id = value
		case "delta":
			e.delta = value
		case "text", "arguments", "refusal":
			e.whole = value
		case "item":
			e.item = value
		case "response":
			e.response = value
		case "error":
			e.failure = value
		}
		return nil
	})
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

func (d *decoder) emit(e model.Event) { d.out = append(d.out, e) }

// Event implements [wire.Decoder].
func (d *decoder) Event(name string, data []byte) (wire.Progress, error) {
	if len(data) == 0 || string(data) == "[DONE]" {
		return wire.Ignored, nil
	}
	var e event
	if err := e.scan(data); err != nil {
		return wire.Ignored, fmt.Errorf("the stream has an event that is not JSON: %w", err)
	}
	if e.kind == nil {
		e.kind = []byte(name)
	}
	k := kindOf(e.kind)
	switch {
	case k == unknownEvent && len(e.failure) > 0 && !jsonscan.IsNull(e.failure):
		k = failed // a gateway's event, which has no type
	case k == unknownEvent:
		return wire.KeepAlive, nil
	case k.isDelta() && e.sequence > 0 && e.sequence == d.sequence:
		return wire.KeepAlive, nil // duplicate
	}
	if e.sequence > 0 {
		d.sequence = e.sequence
	}
	if k == failed {
		return wire.KeepAlive, d.streamError(failureOf(data, &e))
	}
	d.held = k == created && !d.begun
	d.begun = d.begun || !d.held
	if d.raw {
		d.emit(model.Raw{JSON: slices.Clone(data)})
	}
	if k == created {
		d.start(e.response)
		return wire.Content, nil
	}
	d.start(nil)
	var err error
	switch k {
	case itemAdded:
		err = d.add(&e)
	case itemDone:
		err = d.finishItem(&e)
	case completed, incomplete:
		return wire.Complete, d.finish(e.response, k == incomplete)
	default:
		err = d.text(k, &e)
	}
	return wire.Content, err
}

// An eventKind is the type of an event.
type eventKind uint8

const (
	unknownEvent eventKind = iota
	created
	itemAdded
	itemDone
	completed
	incomplete
	failed
	textDelta
	textDone
	argumentsDelta
	argumentsDone
	summaryDelta
	summaryDone
	reasoningDelta
	reasoningDone
)

func (k eventKind) isDelta() bool {
	return k == textDelta || k == argumentsDelta || k == summaryDelta || k == reasoningDelta
}

func kindOf(name []byte) eventKind {
	switch string(name) {
	case "response.output_text.delta", "response.refusal.delta":
		return textDelta
	case "response.function_call_arguments.delta":
		return argumentsDelta
	case "response.reasoning_summary_text.delta":
		return summaryDelta
	case "response.reasoning_text.delta":
		return reasoningDelta
	case "response.output_text.done", "response.refusal.done":
		return textDone
	case "response.function_call_arguments.done":
		return argumentsDone
	case "response.reasoning_summary_text.done":
		return summaryDone
	case "response.reasoning_text.done":
		return reasoningDone
	case "response.created":
		return created
	case "response.output_item.added":
		return itemAdded
	case "response.output_item.done":
		return itemDone
	case "response.completed", "response.done":
		return completed
	case "response.incomplete":
		return incomplete
	case "response.failed", "response.cancelled", "error":
		return failed
	}
	return unknownEvent
}

// start emits the start event, once. It tolerates servers that do not announce the answer.
func (d *decoder) start(response []byte) {
	if d.started {
		return
	}
	d.started = true
	s := model.Start{RequestID: d.requestID}
	jsonscan.Object(response, func(name, value []byte) error { // ok: the ID and model are optional
		switch string(name) {
		case "id":
			s.ID, _ = jsonscan.String(value)
		case "model":
			s.Model, _ = jsonscan.String(value)
		}
		return nil
	})
	d.emit(s)
}

// A reply is the response object of a whole answer, or of the final event of a stream.
type reply struct {
	object, status, reason []byte
	output, usage, failure []byte
}

func (r *reply) scan(data []byte) error {
	return jsonscan.Object(data, func(name, value []byte) error {
		switch string(name) {
		case "object":
			r.object = value
		case "status":
			r.status = value
		case "incomplete_details":
			if len(value) > 0 && value[0] == '{' {
				return jsonscan.Object(value, func(name, value []byte) error {
					if string(name) == "reason" {
						r.reason = value
					}
					return nil
				})
			}
		case "output":
			r.output = value
		case "usage":
			r.usage = value
		case "error":
			r.failure = value
		}
		return nil
	})
}

// finish ends the answer: it adds items that were left open or never streamed, and the usage if
// the server has not reported it.
func (d *decoder) finish(response []byte, cut bool) error {
	var r reply
	if !jsonscan.IsNull(response) {
		if err := r.scan(response); err != nil {
			return fmt.Errorf("the end of the answer: %w", err)
		}
	}
	if len(r.output) > 0 && r.output[0] == '[' {
		i := 0
		err := jsonscan.List(r.output, func(value []byte) error {
			err := d.settle(i, value)
			i++
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, it := range d.items {
		it.whole = true
	}
	d.next = int(^uint(0) >> 1) // don't wait for missing items
	if err := d.emitReady(); err != nil {
		return err
	}
	if told := d.tally.add(r.usage); d.tally.estimate() || told {
		d.emit(model.Usage{Usage: d.tally.usage})
	}
	d.emit(model.Stop{Reason: d.stopReason(cut || jsonscan.Is(r.status, "incomplete"), r.reason)})
	return nil
}

func (d *decoder) stopReason(cut bool, why []byte) model.StopReason {
	switch {
	case cut && jsonscan.Is(why, "content_filter"):
		return model.StopRefusal
	case cut:
		return model.StopMaxTokens
	case d.called:
		return model.StopTools
	case d.refused:
		return model.StopRefusal
	}
	return model.StopEnd
}

// End implements [wire.Decoder]. Only the final event completes an answer. The usage of an
// answer that broke off is an estimate; if err is the server's own error and came before any
// content, the answer never started.
func (d *decoder) End(err error) (complete bool) {
	switch kind := model.KindOf(err); {
	case !d.begun && kind != model.Broken && kind != model.Unknown:
		d.out = nil
	case len(d.out) > 0 || d.begun:
		d.tally.final = false
		d.tally.estimate()
		d.emit(model.Usage{Usage: d.tally.usage})
	}
	d.held = false
	return false
}

// streamError returns the error the server sent instead of continuing. After any content it is
// reported as a broken answer.
func (d *decoder) streamError(f failure) error {
	err := f.classify(0)
	err.RequestID = d.requestID
	return err.Within(d.begun)
}

var errNotAnswer = errors.New("a web page came instead of an answer")

// Message implements [wire.Decoder].
func (d *decoder) Message(body []byte) error {
	var r reply
	if err := r.scan(body); err != nil {
		if text := bytes.TrimSpace(body); len(text) > 0 && text[0] == '<' {
			return errNotAnswer
		}
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	switch {
	case !jsonscan.IsNull(r.failure):
		return d.streamError(parseFailure(r.failure))
	case jsonscan.Is(r.status, "failed") || jsonscan.Is(r.status, "cancelled"):
		return d.streamError(failure{})
	case jsonscan.IsNull(r.output):
		return errors.New("the answer is not a response")
	}
	d.start(body)
	return d.finish(body, false)
}

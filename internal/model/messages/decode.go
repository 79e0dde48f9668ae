package messages

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"adze/internal/model"
	"adze/internal/msg"
)

// A decoder turns wire events into ours.
type decoder struct {
	requestID string
	raw       bool

	out        []model.Event // not yet taken
	held       bool          // out waits for the answer proper; see take
	any        bool          // some event of the stream was understood
	begun      bool          // content has arrived
	progressed bool          // the last event was more than a keep-alive
	done       bool          // the message is complete

	open  []*block // in order of their start
	tally tally
	stop  model.StopReason
}

// A wireEvent is any event of the stream.
type wireEvent struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      wireMessage     `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        wireDelta       `json:"delta"`
	Usage        *wireUsage      `json:"usage"`
	Error        wireError       `json:"error"`
}

type wireDelta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

// A wireMessage is a response: whole, or as it starts. A whole one may be an error instead.
type wireMessage struct {
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      *wireUsage        `json:"usage"`
	Error      wireError         `json:"error"`
}

// take returns the events to hand on. The opening ones wait for what follows them: an error in its
// place then comes before the first event, where a request can still be repeated.
func (d *decoder) take() []model.Event {
	if d.held {
		return nil
	}
	out := d.out
	d.out = nil
	return out
}

// event decodes one event of a stream.
func (d *decoder) event(name string, data []byte) error {
	d.progressed = false
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		if len(data) == 0 {
			return nil
		}
		return fmt.Errorf("the stream has an event that is not JSON: %w", err)
	}
	if e.Type == "" {
		e.Type = name
	}
	d.any = true
	switch e.Type {
	case "error":
		return d.streamError(e.Error)
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
	default:
		return nil // ping, and what is yet to be invented
	}
	d.progressed = true
	d.held = e.Type == "message_start"
	d.begun = d.begun || !d.held
	if d.raw {
		d.emit(model.Raw{JSON: slices.Clone(data)})
	}
	switch e.Type {
	case "message_start":
		d.start(e.Message)
	case "content_block_start":
		return d.startBlock(e.Index, e.ContentBlock)
	case "content_block_delta":
		return d.delta(e.Index, e.Delta)
	case "content_block_stop":
		return d.stopBlock(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			d.stop = model.StopReason(e.Delta.StopReason)
		}
		d.use(e.Usage, latest)
	case "message_stop":
		return d.finish()
	}
	return nil
}

func (d *decoder) emit(e model.Event) { d.out = append(d.out, e) }

func (d *decoder) start(m wireMessage) {
	d.emit(model.Start{ID: m.ID, Model: m.Model, RequestID: d.requestID})
	d.use(m.Usage, opening)
}

func (d *decoder) use(u *wireUsage, when moment) {
	if d.tally.add(u, when) {
		d.emit(model.Usage{Usage: d.tally.usage})
	}
}

// finish ends the message: with the blocks that were left open, and the usage if the server has not
// told it.
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
	d.done = true
	return nil
}

// abandon ends a message that failed with err: what it has cost until then is known only roughly. If
// err is the server's own, given before anything else, there was no message.
func (d *decoder) abandon(err error) {
	switch kind := model.KindOf(err); {
	case !d.begun && kind != model.Broken && kind != model.Unknown:
		d.out = nil
	case len(d.out) > 0 || d.begun:
		d.tally.final = false
		d.tally.estimate()
		d.emit(model.Usage{Usage: d.tally.usage})
	}
	d.held = false
}

// streamError returns the error the server sent instead of going on. Once there was content, what
// counts is that the answer broke.
func (d *decoder) streamError(w wireError) error {
	err := w.classify(0)
	err.RequestID = d.requestID
	if d.begun {
		return &model.Error{
			Kind: model.Broken, RequestID: d.requestID,
			Message: "the server broke off its answer: " + err.Error(), Err: err,
		}
	}
	return err
}

func stopReason(r model.StopReason) model.StopReason {
	switch r {
	case model.StopTools, model.StopMaxTokens, model.StopSequence, model.StopRefusal, model.StopPause,
		model.StopContextExceeded:
		return r
	}
	return model.StopEnd
}

// ReadMessage yields the events of a whole response body, as [ReadStream] would have for a stream.
func ReadMessage(body []byte, o StreamOptions) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if o.Close != nil {
			defer o.Close()
		}
		d := &decoder{requestID: o.RequestID}
		err := d.message(body)
		if err != nil {
			yield(nil, d.failure(err))
			return
		}
		for _, e := range d.out {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (d *decoder) message(body []byte) error {
	var m wireMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("the answer is not JSON; check the base URL and the proxy: %w", err)
	}
	switch m.Type {
	case "message":
	case "error":
		return d.streamError(m.Error)
	default:
		return fmt.Errorf("the answer is not a message; check the base URL")
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

// A block is a content block that is still being written.
type block struct {
	index    int
	kind     string
	raw      json.RawMessage // as it started
	id, name string          // of a tool use
	text     []byte          // the text, the thinking, or the input
	whole    []byte          // input that came with the start
	sig      []byte
}

func (d *decoder) startBlock(index int, raw json.RawMessage) error {
	if d.find(index) >= 0 {
		return fmt.Errorf("content block %d starts twice", index)
	}
	var w struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("content block %d: %w", index, err)
	}
	b := &block{index: index, kind: w.Type, raw: slices.Clone(raw)}
	d.open = append(d.open, b)
	switch w.Type {
	case "":
		return fmt.Errorf("content block %d has no type", index)
	case "text":
		return d.delta(index, wireDelta{Type: "text_delta", Text: w.Text})
	case "thinking":
		if err := d.delta(index, wireDelta{Type: "thinking_delta", Thinking: w.Thinking}); err != nil {
			return err
		}
		return d.delta(index, wireDelta{Type: "signature_delta", Signature: w.Signature})
	case "tool_use":
		if w.ID == "" || w.Name == "" {
			return fmt.Errorf("content block %d is a tool use without an id or a name", index)
		}
		b.id, b.name = w.ID, w.Name
		first := model.InputDelta{Block: index, ID: b.id, Name: b.name}
		if in := string(w.Input); in != "" && in != "{}" && in != "null" {
			b.whole = slices.Clone(w.Input)
			first.JSON = in
		}
		d.emit(first)
	}
	return nil
}

// delta adds to an open block. Kinds of delta that do not belong to the block's kind are ignored, like
// those it does not know.
func (d *decoder) delta(index int, w wireDelta) error {
	i := d.find(index)
	if i < 0 {
		return fmt.Errorf("content block %d goes on before it starts", index)
	}
	b := d.open[i]
	more := w.Text + w.Thinking + w.PartialJSON
	d.tally.text += len(more)
	switch b.kind + " " + w.Type {
	case "text text_delta":
		b.text = append(b.text, w.Text...)
		if w.Text != "" {
			d.emit(model.TextDelta{Block: index, Text: w.Text})
		}
	case "thinking thinking_delta", "thinking signature_delta":
		b.text = append(b.text, w.Thinking...)
		b.sig = append(b.sig, w.Signature...)
		if w.Thinking != "" || w.Signature != "" {
			d.emit(model.ThinkingDelta{Block: index, Text: w.Thinking, Signature: w.Signature})
		}
	case "tool_use input_json_delta":
		b.text = append(b.text, w.PartialJSON...)
		if w.PartialJSON != "" {
			d.emit(model.InputDelta{Block: index, ID: b.id, Name: b.name, JSON: w.PartialJSON})
		}
	default:
		b.text = append(b.text, w.PartialJSON...)
	}
	return nil
}

func (d *decoder) stopBlock(index int) error {
	i := d.find(index)
	if i < 0 {
		return fmt.Errorf("content block %d stops before it starts", index)
	}
	b := d.open[i]
	d.open = slices.Delete(d.open, i, i+1)
	p, err := b.part()
	if err != nil {
		return fmt.Errorf("content block %d: %w", index, err)
	}
	d.emit(model.BlockDone{Block: index, Part: p})
	return nil
}

func (d *decoder) find(index int) int {
	return slices.IndexFunc(d.open, func(b *block) bool { return b.index == index })
}

// part returns the complete block.
func (b *block) part() (msg.Part, error) {
	switch b.kind {
	case "text":
		return &msg.Text{Text: string(b.text)}, nil
	case "thinking":
		return &msg.Thinking{Text: string(b.text), Signature: string(b.sig)}, nil
	case "tool_use":
		if len(b.text) == 0 {
			b.text = b.whole
		}
		return msg.NewToolUse(b.id, b.name, string(b.text)), nil
	}
	if !json.Valid(b.text) { // no input, or half of one: the block is what it started as
		return msg.ParsePart(b.raw)
	}
	ms, err := members(b.raw)
	if err != nil {
		return nil, err
	}
	var raw []byte
	for i, m := range set(ms, "input", b.text) {
		raw = append(raw, "{,"[min(i, 1)])
		raw = msg.AppendString(raw, m.name)
		raw = append(raw, ':')
		raw = append(raw, m.value...)
	}
	return msg.ParsePart(append(raw, '}'))
}

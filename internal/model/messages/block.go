package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// A block is a content block that is still being written.
type block struct {
	index    int
	kind     string
	raw      json.RawMessage // block as started
	id, name string          // tool use ID and name
	text     []byte          // the text, the thinking, or the input
	whole    []byte          // input sent with the start
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
	if err := json.Unmarshal(raw, &w); err != nil && (isOurs(w.Type) || !errors.As(err, new(*json.UnmarshalTypeError))) {
		return notJSON(fmt.Sprintf("content block %d has an unexpected type", index), err)
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

// isOurs reports whether the members of a block of this kind are known. Other kinds may use the
// same names differently.
func isOurs(kind string) bool {
	return kind == "" || kind == "text" || kind == "thinking" || kind == "tool_use"
}

// delta adds to an open block. Deltas that are unknown or do not match the block's kind are
// ignored.
func (d *decoder) delta(index int, w wireDelta) error {
	i := d.find(index)
	if i < 0 {
		return fmt.Errorf("content block %d goes on before it starts", index)
	}
	b := d.open[i]
	d.tally.text += len(w.Text) + len(w.Thinking) + len(w.PartialJSON)
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
		if b.kind == serverUse {
			d.searching(partialQuery(b.text))
		}
	}
	return nil
}

func (d *decoder) stopBlock(index int) error {
	i := d.find(index)
	if i < 0 {
		return fmt.Errorf("content block %d stops before it starts", index)
	}
	if i > 0 {
		return fmt.Errorf("content block %d stops before block %d", index, d.open[0].index)
	}
	b := d.open[i]
	d.open = slices.Delete(d.open, i, i+1)
	p, err := b.part()
	if err != nil {
		return notJSON(fmt.Sprintf("content block %d has an unexpected type", index), err)
	}
	d.emit(model.BlockDone{Block: index, Part: p})
	if s, ok := p.(*msg.Server); ok {
		d.search(s.Raw)
	}
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
	if !json.Valid(b.text) { // no or partial input: keep the block as started
		return msg.ParsePart(b.raw)
	}
	ms, err := wire.Members(b.raw)
	if err != nil {
		return nil, err
	}
	return msg.ParsePart(append(wire.Options(wire.SetMember(ms, "input", b.text)), '}'))
}

package responses

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
)

// An item is an output item that is incomplete or waits for earlier ones.
type item struct {
	index int
	kind  itemKind
	id    string
	raw   []byte // last received JSON, for unknown kinds

	callID, name string
	text         []byte // text, arguments or reasoning
	shown        int    // bytes of text emitted
	piece        int    // last piece of the text
	sealed       []byte // reasoning as sent back, or nil
	cited        []model.Page
	phase        []byte // message phase as raw JSON, or nil
	announced    bool   // call or phase was emitted
	whole        bool   // item is complete
}

type itemKind uint8

const (
	otherItem itemKind = iota
	messageItem
	callItem
	reasoningItem
)

func itemKindOf(name []byte) itemKind {
	switch {
	case jsonscan.Is(name, "message"):
		return messageItem
	case jsonscan.Is(name, "function_call"):
		return callItem
	case jsonscan.Is(name, "reasoning"):
		return reasoningItem
	}
	return otherItem
}

// isFirst reports whether the item's deltas are emitted as they arrive.
func (d *decoder) isFirst(it *item) bool {
	return len(d.items) > 0 && d.items[0] == it && it.index <= d.next
}

// find returns an event's item, or nil. Some gateways change an item's ID in each event, so the
// output index counts too.
func (d *decoder) find(index int, id []byte) *item {
	for _, it := range d.items {
		if it.id != "" && jsonscan.Is(id, it.id) {
			return it
		}
	}
	for i := len(d.items) - 1; i >= 0; i-- {
		if it := d.items[i]; it.index == index && !it.whole {
			return it
		}
	}
	return nil
}

// over reports whether an item was already emitted.
func (d *decoder) over(id []byte) bool { return len(id) > 2 && d.finished[string(id[1:len(id)-1])] }

// place inserts an item in output order. Items without an index stay in order of arrival.
func (d *decoder) place(it *item) error {
	at := len(d.items)
	if at >= maxWaiting {
		return errors.New("too many items are open at once")
	}
	for at > 0 && d.items[at-1].index > it.index && d.items[at-1].shown == 0 && !d.items[at-1].announced {
		at--
	}
	d.items = slices.Insert(d.items, at, it)
	return nil
}

// maxWaiting is the maximum number of open or waiting items. Real answers have a few.
const maxWaiting = 1000

// add opens an item.
func (d *decoder) add(e *event) error {
	it := &item{index: e.index}
	if err := it.read(d, e.item); err != nil {
		return fmt.Errorf("item %d: %w", e.index, err)
	}
	for _, other := range d.items {
		if other.id == it.id && it.id != "" {
			return nil // duplicate
		}
	}
	if d.finished[it.id] && it.id != "" {
		return nil
	}
	if err := d.place(it); err != nil {
		return err
	}
	return d.emitReady()
}

// text handles a delta, or the complete text if no deltas came.
func (d *decoder) text(k eventKind, e *event) error {
	it := d.find(e.index, e.id)
	if it == nil {
		if d.over(e.id) || e.index < d.next {
			return nil // too late
		}
		it = &item{index: e.index, kind: messageItem}
		switch k {
		case argumentsDelta, argumentsDone:
			it.kind = callItem
		case summaryDelta, summaryDone, reasoningDelta, reasoningDone:
			it.kind = reasoningItem
		}
		it.id, _ = jsonscan.String(e.id)
		if err := d.place(it); err != nil {
			return err
		}
		if err := d.emitReady(); err != nil {
			return err
		}
	}
	piece := e.piece
	if k == reasoningDelta || k == reasoningDone {
		piece += 1 << 20 // after the summary
	}
	if !k.isDelta() {
		if len(it.text) == 0 || piece > it.piece {
			it.begin(piece)
			it.text = jsonscan.Append(it.text, e.whole)
			d.show(it)
		}
		return nil
	}
	said, ok := jsonscan.String(e.delta)
	if !ok {
		return fmt.Errorf("item %d: a delta is not a string", e.index)
	}
	if said == "" {
		return nil
	}
	d.tally.text += len(said)
	if it.begin(piece) || !d.isFirst(it) || it.shown < len(it.text) {
		it.text = append(it.text, said...)
		d.show(it)
		return nil
	}
	it.text = append(it.text, said...)
	it.shown = len(it.text)
	d.delta(it, said)
	return nil
}

// begin switches to a piece of the item and reports whether it added a separator. Pieces of
// reasoning are paragraphs.
func (it *item) begin(piece int) bool {
	if piece == it.piece {
		return false
	}
	it.piece = piece
	if it.kind != reasoningItem || len(it.text) == 0 {
		return false
	}
	it.text = append(it.text, '\n', '\n')
	return true
}

// show emits the rest of an item's text if it is the first item.
func (d *decoder) show(it *item) {
	if !d.isFirst(it) {
		return
	}
	if it.kind == messageItem && it.phase != nil && it.shown == 0 && !it.announced {
		it.announced = true
		d.emit(model.BlockDone{Block: d.block, Part: &msg.Thinking{Signature: signature + phaseMember + string(it.phase) + "}"}})
		d.block++
	}
	if it.kind == callItem && !it.announced && it.callID != "" && it.name != "" {
		it.announced = true
		said := string(it.text)
		it.shown = len(it.text)
		d.delta(it, said)
		return
	}
	if it.shown < len(it.text) && (it.kind != callItem || it.announced) {
		said := string(it.text[it.shown:])
		it.shown = len(it.text)
		d.delta(it, said)
	}
}

// delta emits more of the first item.
func (d *decoder) delta(it *item, said string) {
	switch it.kind {
	case messageItem:
		d.emit(model.TextDelta{Block: d.block, Text: said})
	case reasoningItem:
		d.emit(model.ThinkingDelta{Block: d.block, Text: said})
	case callItem:
		if it.announced {
			d.emit(model.InputDelta{Block: d.block, ID: it.callID, Name: it.name, JSON: said})
		}
	}
}

// finishItem completes an item.
func (d *decoder) finishItem(e *event) error {
	id := idOf(e.item)
	it := d.find(e.index, id)
	if it == nil {
		if d.over(id) {
			return nil
		}
		it = &item{index: e.index}
		if err := it.read(d, e.item); err != nil {
			return fmt.Errorf("item %d: %w", e.index, err)
		}
		if it.callID != "" && d.finished[it.callID] {
			return nil
		}
		if err := d.place(it); err != nil {
			return err
		}
	}
	return d.complete(it, e.item)
}

// settle handles an item from the end of the answer, where all items are listed, unless it was
// already emitted.
func (d *decoder) settle(index int, raw []byte) error {
	e := event{index: index, item: raw}
	if it := d.find(index, idOf(raw)); it != nil {
		return d.complete(it, raw)
	}
	if index < d.given+len(d.items) {
		return nil
	}
	return d.finishItem(&e)
}

func idOf(raw []byte) (id []byte) {
	jsonscan.Object(raw, func(name, value []byte) error { // ok: an item without an ID is found by index
		if string(name) == "id" {
			id = value
		}
		return nil
	})
	return id
}

// complete sets an item's final state.
func (d *decoder) complete(it *item, raw []byte) error {
	if err := it.finish(d, raw); err != nil {
		return fmt.Errorf("item %d: %w", it.index, err)
	}
	it.whole = true
	return d.emitReady()
}

// emitReady emits the complete items at the front and the text of the next one so far.
func (d *decoder) emitReady() error {
	for len(d.items) > 0 && d.items[0].index <= d.next {
		it := d.items[0]
		d.show(it)
		if !it.whole {
			return nil
		}
		if err := d.close(it); err != nil {
			return fmt.Errorf("item %d: %w", it.index, err)
		}
		d.items = slices.Delete(d.items, 0, 1)
		d.next = max(d.next, it.index+1)
		for _, id := range []string{it.id, it.callID} {
			if id == "" {
				continue
			}
			if d.finished == nil {
				d.finished = map[string]bool{}
			}
			d.finished[id] = true
		}
		d.block++
		d.given++
	}
	return nil
}

// close emits a complete item.
func (d *decoder) close(it *item) error {
	var p msg.Part
	switch it.kind {
	case messageItem:
		p = &msg.Text{Text: string(it.text)}
	case callItem:
		if it.name == "" {
			return errors.New("a call without a name")
		}
		if it.callID == "" { // unique in the answer; the history makes it unique in the conversation
			it.callID = "call_" + strconv.Itoa(d.block+1)
		}
		d.show(it)
		d.called = true
		p = msg.NewToolUse(it.callID, it.name, string(it.text))
	case reasoningItem:
		t := &msg.Thinking{Text: string(it.text)}
		if it.sealed != nil {
			t.Signature = signature + string(it.sealed)
			d.emit(model.ThinkingDelta{Block: d.block, Signature: t.Signature})
		}
		p = t
	default:
		p = &msg.Opaque{Raw: it.raw}
	}
	d.emit(model.BlockDone{Block: d.block, Part: p})
	if it.kind == otherItem {
		d.search(it.raw)
	}
	if len(it.cited) > 0 {
		d.emit(model.SearchResult{Found: it.cited})
	}
	return nil
}

// read parses an item as it starts.
func (it *item) read(d *decoder, raw []byte) error {
	return jsonscan.Object(raw, func(name, value []byte) error {
		switch string(name) {
		case "type":
			if it.kind = itemKindOf(value); it.kind == otherItem {
				it.raw = bytes.Clone(raw)
			}
		case "id":
			it.id, _ = jsonscan.String(value)
		case "call_id":
			it.callID, _ = jsonscan.String(value)
		case "name":
			it.name = d.toolName(value)
		case "phase":
			it.phase = phaseOf(value)
		}
		return nil
	})
}

// phaseMember begins the item stored in the signature of an empty thinking part. Such a part
// precedes a message that has a phase, which has to be sent back to the model.
const phaseMember = `{"phase":`

// phaseOf returns a phase as raw JSON, or nil.
func phaseOf(value []byte) []byte {
	if len(value) > 2 && value[0] == '"' {
		return bytes.Clone(value)
	}
	return nil
}

// toolName returns a tool's name as given in the request.
func (d *decoder) toolName(value []byte) string {
	name, _ := jsonscan.String(value)
	return toolname.Original(d.tools, name)
}

// finish parses an item's final state. Text received as deltas is replaced only by another
// text.
func (it *item) finish(d *decoder, raw []byte) error {
	var kind, content, summary, sealed, arguments []byte
	err := jsonscan.Object(raw, func(name, value []byte) error {
		switch string(name) {
		case "type":
			kind = value
		case "call_id":
			if s, _ := jsonscan.String(value); s != "" && !it.announced {
				it.callID = s
			}
		case "name":
			if s := d.toolName(value); s != "" && !it.announced {
				it.name = s
			}
		case "arguments":
			arguments = value
		case "phase":
			it.phase = phaseOf(value)
		case "content":
			content = value
		case "summary":
			summary = value
		case "encrypted_content":
			sealed = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	if kind != nil {
		it.kind = itemKindOf(kind)
	}
	var text []byte
	switch it.kind {
	case messageItem:
		text, err = d.texts(content, "")
		it.cited = citations(content)
	case callItem:
		if text = jsonscan.Append(nil, arguments); text == nil && len(arguments) > 0 && arguments[0] == '{' {
			text = arguments // a gateway's; the API has a string here
		}
	case reasoningItem:
		if text, err = d.texts(summary, "\n\n"); len(text) == 0 && err == nil {
			text, err = d.texts(content, "\n\n")
		}
		it.sealed = d.dialect.seal(it.id, summary, content, sealed)
	default:
		it.raw = bytes.Clone(raw)
	}
	if err != nil {
		return err
	}
	if len(text) > 0 {
		d.tally.text += max(0, len(text)-len(it.text))
		if !bytes.HasPrefix(text, it.text[:it.shown]) {
			it.shown = len(text) // different text was shown, but this one counts
		}
		it.text = text
	}
	return nil
}

// texts returns the joined texts of a list of pieces.
func (d *decoder) texts(list []byte, between string) (text []byte, err error) {
	if len(list) == 0 || list[0] != '[' {
		return nil, nil
	}
	err = jsonscan.List(list, func(value []byte) error {
		if len(value) == 0 || value[0] != '{' {
			return nil
		}
		return jsonscan.Object(value, func(name, value []byte) error {
			switch string(name) {
			case "refusal":
				d.refused = d.refused || len(value) > 2
			case "text":
			default:
				return nil
			}
			if len(text) > 0 {
				text = append(text, between...)
			}
			text = jsonscan.Append(text, value)
			return nil
		})
	})
	return text, err
}

// seal returns a reasoning item in the form in which it is sent back, or nil if it is not.
func (d Dialect) seal(id string, summary, content, sealed []byte) []byte {
	encrypted := len(sealed) > 2 && sealed[0] == '"'
	open := d.OpenReasoning && len(content) > 2 && content[0] == '['
	if !encrypted && !open {
		return nil
	}
	v := []byte(`{"type":"reasoning"`)
	if id != "" {
		v = msg.AppendString(append(v, `,"id":`...), id)
	}
	v = append(v, `,"summary":`...)
	if len(summary) > 0 && summary[0] == '[' {
		v = append(v, summary...)
	} else {
		v = append(v, "[]"...)
	}
	if open {
		v = append(append(v, `,"content":`...), content...)
	}
	if encrypted {
		v = append(append(v, `,"encrypted_content":`...), sealed...)
	}
	return append(v, '}')
}

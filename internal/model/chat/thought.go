package chat

import "bytes"

// Servers that do not parse a model's reasoning tags leave them in its text: the answer then
// begins with a tag.
const (
	thoughtTag    = "<think>"
	thoughtEndTag = "</think>"
)

// thoughtParser extracts reasoning at the beginning of an answer's text.
type thoughtParser struct {
	state thoughtState
	held  []byte // text that may be, or belong to, a tag
}

type thoughtState uint8

const (
	beforeText thoughtState = iota // only white space so far
	inThought
	afterThought // thinking has ended or was absent
)

// add adds text, forwards reasoning to r, and returns the remaining text.
func (t *thoughtParser) add(r *reply, text []byte) []byte {
	if t.state == afterThought {
		return text
	}
	if len(t.held) > 0 {
		t.held = append(t.held, text...)
		text, t.held = t.held, nil
	}
	if t.state == beforeText {
		begins := bytes.TrimLeft(text, " \t\r\n")
		switch {
		case len(begins) == 0 || short(begins, thoughtTag):
			t.held = bytes.Clone(text)
			return nil
		case !bytes.HasPrefix(begins, []byte(thoughtTag)):
			t.state = afterThought
			return text
		}
		t.state, text = inThought, begins[len(thoughtTag):]
	}
	inside, rest, ended := bytes.Cut(text, []byte(thoughtEndTag))
	if ended {
		t.state = afterThought
		r.think(inside)
		return bytes.TrimLeft(rest, "\r\n")
	}
	for n := min(len(text), len(thoughtEndTag)-1); n > 0; n-- {
		if end := text[len(text)-n:]; short(end, thoughtEndTag) {
			text, t.held = text[:len(text)-n], bytes.Clone(end)
			break
		}
	}
	r.think(text)
	return nil
}

// end handles the end of the answer and returns the held-back text.
func (t *thoughtParser) end(r *reply) []byte {
	held := t.held
	t.held = nil
	if t.state == inThought {
		r.think(held)
		return nil
	}
	return held
}

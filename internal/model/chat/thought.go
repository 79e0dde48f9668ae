package chat

import "bytes"

// Servers that do not know the marks of a model's reasoning leave them in its text: the answer then begins with a tag.
const (
	thoughtTag    = "<think>"
	thoughtEndTag = "</think>"
)

// thought finds reasoning that the text of an answer begins with.
type thought struct {
	state thoughtState
	held  []byte // what may be a tag, or belong to one
}

type thoughtState uint8

const (
	beforeText thoughtState = iota // nothing but white space has come
	inThought
	afterThought // or there was none
)

// add takes in more text, hands reasoning on to r, and returns what is text.
func (t *thought) add(r *reply, text []byte) []byte {
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

// end takes in that the answer is over, and returns what is text after all.
func (t *thought) end(r *reply) []byte {
	held := t.held
	t.held = nil
	if t.state == inThought {
		r.think(held)
		return nil
	}
	return held
}

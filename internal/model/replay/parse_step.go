package replay

import (
	"encoding/json"
	"strconv"
	"strings"
)

// step parses a directive that adds to the message.
func (p *parser) step(word, rest string) (known bool, err error) {
	s := step{line: p.line, pieces: 1}
	switch word {
	case "say", "say+":
		s.op = opText
		s.text, err = p.prose(rest)
	case "text", "text+":
		s.op = opText
		s.text, err = p.exact(rest)
	case "think", "think+":
		err = p.think(&s, word, rest)
	case "use", "badjson":
		err = p.use(&s, word, rest)
	case "block", "event":
		err = p.raw(&s, word, rest)
	case "fragments":
		return true, p.announce(rest)
	case "delay":
		s.op = opWait
		s.wait, err = p.duration(strings.TrimSpace(rest))
	case "usage+":
		s.op = opUsage
		s.tokens, err = p.tokens(strings.TrimSpace(rest))
	case "error-event":
		name, message, _ := strings.Cut(strings.TrimSpace(rest), " ")
		s.op, s.text = opErrorEvent, strings.TrimSpace(message)
		s.kind, err = p.kind(name)
	case "ping", "garble", "cut", "reset", "hang":
		s.op = map[string]op{"ping": opPing, "garble": opGarble, "cut": opCut, "reset": opReset, "hang": opHang}[word]
		err = p.noArgument(word, rest)
	default:
		return false, nil
	}
	s.more = s.op.content() && strings.HasSuffix(word, "+")
	if err == nil {
		err = p.add(word, s)
	}
	return true, err
}

// add appends s to the turn if it is allowed there.
func (p *parser) add(word string, s step) error {
	t := p.turn
	if t.fixed != nil {
		return p.errorAt(s.line, "%s cannot follow %s, which is a whole answer", word, t.fixed.word)
	}
	if n := len(t.steps); n > 0 && t.steps[n-1].op.ends() {
		return p.errorAt(s.line, "nothing can follow line %d, which ends the message", t.steps[n-1].line)
	}
	if s.more && !t.continues(s.op) {
		return p.errorAt(s.line, "%s continues a block, but the block before it is of another kind", word)
	}
	if s.op.content() && p.fragments.line > 0 {
		s.pieces, s.every = p.fragments.pieces, p.fragments.every
		p.fragments.line = 0
	}
	t.steps = append(t.steps, s)
	return nil
}

// continues reports whether the last block is of kind o.
func (t *turn) continues(o op) bool {
	for i := len(t.steps) - 1; i >= 0; i-- {
		switch last := t.steps[i].op; {
		case last.content():
			return last == o
		case last == opBlock:
			return false
		}
	}
	return false
}

func (p *parser) think(s *step, word, rest string) (err error) {
	s.op = opThink
	if word == "think" {
		var given map[string]string
		given, rest = options(rest, "sig")
		s.signature, s.signed = given["sig"]
	}
	s.text, err = p.prose(rest)
	return err
}

func (p *parser) use(s *step, word, rest string) (err error) {
	s.op = opUse
	given, rest := options(rest, "id")
	s.id = given["id"]
	var input string
	s.name, input, _ = strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	if !isName(s.name) {
		return p.errorf("expected the name of a tool, found %q", s.name)
	}
	if s.text, err = p.prose(input); err != nil {
		return err
	}
	if s.text == "" {
		s.text = "{}"
	}
	if word == "use" {
		return p.object(s, "the input of a tool, a JSON object (badjson takes anything)")
	}
	return nil
}

// object checks that the text of s is a JSON object.
func (p *parser) object(s *step, what string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(p.turn.expand(s.text, nil)), &members); err != nil || members == nil {
		if err == nil {
			return p.errorAt(s.line, "expected %s, found %q", what, s.text)
		}
		return p.errorAt(s.line, "expected %s: %v", what, err)
	}
	return nil
}

func (p *parser) raw(s *step, word, rest string) (err error) {
	s.op = opBlock
	if word == "event" {
		s.op = opEvent
	}
	if s.text, err = p.prose(rest); err != nil {
		return err
	}
	if err := p.object(s, "a JSON object with a type"); err != nil {
		return err
	}
	if !isName(typeOf(p.turn.expand(s.text, nil))) {
		return p.errorAt(s.line, "expected a JSON object with a type, found none in %s", s.text)
	}
	return nil
}

// typeOf returns the type of a raw block or event.
func typeOf(object string) string {
	var o struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(object), &o) != nil {
		return ""
	}
	return o.Type
}

const maxFragments = 10_000

// announce parses "N [every=DURATION]" for the next text or input.
func (p *parser) announce(rest string) (err error) {
	count, more, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxFragments {
		return p.errorf("expected a number of fragments from 1 to %d, found %q", maxFragments, count)
	}
	given, more := options(more, "every")
	if more != "" {
		return p.errorf("expected nothing or every=DURATION, found %q", more)
	}
	p.fragments.line, p.fragments.pieces, p.fragments.every = p.line, n, 0
	if every, ok := given["every"]; ok {
		p.fragments.every, err = p.duration(every)
	}
	return err
}

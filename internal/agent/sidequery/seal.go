package sidequery

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
)

// A Nonce is a random word for one question about untrusted text. Text quoted with it cannot end
// its quotation, and an answer counts only if it repeats the word, so that untrusted text
// cannot answer in place of the model.
type Nonce string

// NewNonce returns a new seal.
func NewNonce() Nonce { return Nonce(rand.Text()[:12]) }

// Quote returns text quoted as data in a question, under a name.
func (s Nonce) Quote(name, text string) string {
	return fmt.Sprintf("<%s seal=%q>\n%s\n</%s seal=%q>", name, string(s), text, name, string(s))
}

// Open returns the members of an answer, which must be a single JSON object that contains the
// seal. All other answers are an error; see [Answer.Words]. Names are case-insensitive and must
// not occur twice.
func (s Nonce) Open(a *Answer) (map[string]json.RawMessage, error) {
	text, err := a.Words()
	if err != nil {
		return nil, err
	}
	members, err := object(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnusable, err)
	}
	var word string
	if err := json.Unmarshal(members["seal"], &word); err != nil || word != string(s) {
		return nil, fmt.Errorf("%w: it does not repeat the seal", ErrUnusable)
	}
	return members, nil
}

// object parses text that is a single JSON object, optionally in a fenced block.
func object(text string) (map[string]json.RawMessage, error) {
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		inner = strings.TrimPrefix(inner, "json")
		if inner, ok = strings.CutSuffix(inner, "```"); ok {
			text = inner
		}
	}
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		for other := range members {
			if strings.EqualFold(other, name) {
				return nil, fmt.Errorf("it has %q twice", name)
			}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members[name] = bytes.TrimSpace(value)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("there is more after it")
	}
	return members, nil
}

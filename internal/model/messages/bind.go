package messages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"adze/internal/model"
)

// A server signs thinking together with the content before it and accepts it later only if all
// of that is unchanged: the model, the system prompt, the tools, and the preceding messages,
// without cache marks and earlier thinking, none of which may be missing in between. A [Server]
// puts hashes of these into the signature itself, so that one server can check another's
// signatures.

// A binding identifies the content that a signature binds its thinking to.
type binding struct{ model, system, tools, messages, before string }

// sealSize is the length of each hash in a signature.
const sealSize = 8

func (s binding) String() string {
	return strings.Join([]string{s.model, s.system, s.tools, s.messages, s.before}, ".")
}

// parseSeal returns the seal at the end of a [Server] signature.
func parseSeal(signature string) (s binding, ok bool) {
	fields := strings.Split(signature, ".")
	if len(fields) != 6 {
		return s, false
	}
	for _, f := range fields[1:] {
		if len(f) != sealSize {
			return s, false
		}
	}
	return binding{fields[1], fields[2], fields[3], fields[4], fields[5]}, true
}

// digest returns a short hash of texts.
func digest(texts ...[]byte) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write(t)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:sealSize]
}

// Sign implements [wire.Server].
func (Server) Sign(body []byte, id, before string) string {
	w := newWalk(body)
	last := ""
	for w.next() {
		if was, ok := parseSeal(w.signature); ok && was.model == w.now.model {
			last = w.signature
		}
	}
	if before == "" {
		before = last
	}
	s := w.now
	if before != "" {
		s.before = digest([]byte(before))
	}
	return id + "." + s.String()
}

// checkBound checks that all thinking is bound to the content actually before it.
func checkBound(body []byte) error {
	w := newWalk(body)
	verified := 0 // messages before this one are unchanged
	before := ""
	for w.next() {
		was, ok := parseSeal(w.signature)
		if !ok || was.model != w.now.model {
			continue // another server's, or for another model and therefore ignored
		}
		now := w.now
		now.before = was.before
		if before != "" {
			now.before = digest([]byte(before))
		}
		if was != now {
			return &model.Error{Kind: model.BadSignature, Message: fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block. "+
				"The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to %q, "+
				"which requires %s in the `anthropic-beta` header. Changed: %s", w.message, w.block, dropBlock, bindingBeta, was.change(now, verified, w.message))}
		}
		verified, before = w.message, w.signature
	}
	return nil
}

// change names the first part that differs.
func (s binding) change(now binding, verified, message int) string {
	switch {
	case s.system != now.system:
		return "system"
	case s.tools != now.tools:
		return "tools"
	case s.messages == now.messages:
		return "thinking before it is missing"
	case verified+1 < message:
		return fmt.Sprintf("messages.%d to messages.%d", verified, message-1)
	}
	return fmt.Sprintf("messages.%d", verified)
}

// A thinkingIterator iterates over the thinking blocks of a request.
type thinkingIterator struct {
	messages []sealedMessage
	now      binding // binding of the content before the block, without the previous thinking

	message, block int
	signature      string
}

type sealedMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func newWalk(body []byte) *thinkingIterator {
	var r struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Tools    json.RawMessage `json:"tools"`
		Messages []sealedMessage `json:"messages"`
	}
	json.Unmarshal(body, &r) // ok: an invalid body was already rejected
	return &thinkingIterator{
		messages: r.Messages, block: -1,
		now: binding{
			model: digest([]byte(r.Model)), system: digest(markless(r.System)), tools: digest(markless(r.Tools)),
			messages: digest(), before: strings.Repeat("0", sealSize),
		},
	}
}

// next advances to the next thinking block, or past the last message if none follows.
func (w *thinkingIterator) next() bool {
	for ; w.message < len(w.messages); w.message++ {
		var blocks []json.RawMessage
		m := w.messages[w.message]
		json.Unmarshal(m.Content, &blocks) // ok: a string has no thinking
		for w.block++; w.block < len(blocks); w.block++ {
			if b := signed(blocks[w.block]); b != "" {
				w.signature = b
				return true
			}
		}
		w.now.messages = digest([]byte(w.now.messages), []byte(m.Role), markless(m.withoutThinking(blocks)))
		w.block = -1
	}
	return false
}

// withoutThinking returns the content without thinking, unchanged if it has none.
func (m sealedMessage) withoutThinking(blocks []json.RawMessage) []byte {
	var kept [][]byte
	for _, b := range blocks {
		if !isThinking(b) {
			kept = append(kept, b)
		}
	}
	if len(kept) == len(blocks) {
		return m.Content
	}
	return append(append([]byte{'['}, bytes.Join(kept, []byte{','})...), ']')
}

func isThinking(block []byte) bool {
	return bytes.HasPrefix(block, []byte(`{"type":"thinking"`)) || bytes.HasPrefix(block, []byte(`{"type":"redacted_thinking"`))
}

// signed returns a thinking block's signature, or "".
func signed(block []byte) string {
	if !isThinking(block) {
		return ""
	}
	var b struct {
		Signature string `json:"signature"`
	}
	json.Unmarshal(block, &b) // ok: the body is valid
	return b.Signature
}

var markText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,"cache_control":\{[^{}]*\}`) })

// markless returns JSON without cache marks. Text in a string that looks like a mark has
// escaped quotes.
func markless(raw []byte) []byte { return markText().ReplaceAll(raw, nil) }

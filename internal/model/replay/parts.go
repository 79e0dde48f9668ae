package replay

import (
	"bytes"
	"encoding/json"
	"strconv"

	"adze/internal/msg"
)

// What the two forms of a message have in common: the same ids, signatures and counts.

// useID returns the id of a tool use, by default one that no other use has.
func useID(t *turn, s *step, number, use int) string {
	if s.id != "" {
		return t.expand(s.id, number)
	}
	return "toolu_" + strconv.Itoa(number) + "_" + strconv.Itoa(use)
}

// signature returns the signature of a thinking block, by default one that no other block has.
func signature(s *step, number, block int) string {
	if s.signed {
		return s.signature
	}
	return "sig_" + strconv.Itoa(number) + "_" + strconv.Itoa(block)
}

// appendHead appends a message up to its content, still open.
func appendHead(dst []byte, t *turn, q *query) []byte {
	name := t.model
	if name == "" {
		name = q.model
	}
	dst = append(dst, `{"id":"msg_`...)
	dst = strconv.AppendInt(dst, int64(q.number), 10)
	dst = append(dst, `","type":"message","role":"assistant","model":`...)
	return msg.AppendString(dst, name)
}

// appendUse appends a tool use whose input is a JSON value.
func appendUse(dst []byte, id, name, input string) []byte {
	dst = append(dst, `{"type":"tool_use","id":`...)
	dst = msg.AppendString(dst, id)
	dst = append(dst, `,"name":`...)
	dst = msg.AppendString(dst, name)
	dst = append(dst, `,"input":`...)
	dst = append(dst, input...)
	return append(dst, '}')
}

// bytesPerToken is a rough measure, for turns that do not say what they cost.
const bytesPerToken = 4

// estimate returns the turn's usage after the given bytes of content, estimated as far as the script
// says nothing.
func (t *turn) estimate(q *query, content int) tokens {
	u := t.usage.or(inputTokens, countTokens(q.body))
	u = u.or(cacheWrite, 0).or(cacheRead, 0)
	return u.or(outputTokens, max(1, content/bytesPerToken))
}

// compact returns object on one line.
func compact(object string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(object)) != nil {
		return object
	}
	return b.String()
}

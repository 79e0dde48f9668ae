package wire_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/model/wire"
	"adze/internal/msg"
)

// TestTranscript checks that a transcript of many chunks equals one written in a single pass,
// regardless of its earlier content, and that bodies do not change.
//
// Proves LOOP-11.
func TestTranscript(t *testing.T) {
	write := func(dst []byte, after bool, m *wire.EncodedMessage) []byte {
		if after {
			dst = append(dst, ',')
		}
		m.Mark = len(dst)
		return append(dst, m.Parts[0].(*msg.Text).Text...)
	}
	rapid.Check(t, func(t *rapid.T) {
		var said wire.Transcript
		var history []msg.Message
		type sent struct {
			body wire.Body
			text string
		}
		var bodies []sent
		for range rapid.IntRange(1, 5).Draw(t, "requests") {
			history = history[:rapid.IntRange(0, len(history)).Draw(t, "kept")]
			for range rapid.IntRange(0, 6).Draw(t, "added") {
				text := strings.Repeat(rapid.StringMatching("[a-z]").Draw(t, "letter"), rapid.IntRange(1, 200_000).Draw(t, "length"))
				history = append(history[:len(history):len(history)], msg.UserText(text))
			}
			said.Update(history, write)
			var texts []string
			for _, m := range history {
				texts = append(texts, m.Text())
			}
			whole := strings.Join(texts, ",")
			from := rapid.IntRange(0, len(whole)).Draw(t, "from")
			to := rapid.IntRange(from, len(whole)).Draw(t, "to")
			if got := said.AppendTo(nil, from, to).Bytes(); said.Len() != len(whole) || !bytes.Equal(got, []byte(whole[from:to])) {
				t.Fatalf("from %d to %d of %d: %d bytes of %d", from, to, len(whole), len(got), said.Len())
			}
			for i, w := range said.Messages() {
				if whole[w.Mark:w.End] != texts[i] {
					t.Fatalf("message %d is reported between %d and %d", i, w.Mark, w.End)
				}
			}
			bodies = append(bodies, sent{said.AppendTo(nil, 0, said.Len()), whole})
			for i, b := range bodies {
				if string(b.body.Bytes()) != b.text {
					t.Fatalf("body %d changed after it was handed out", i)
				}
			}
		}
	})
}

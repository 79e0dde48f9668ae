package wire

import (
	"slices"

	"adze/internal/msg"
)

// A Transcript holds the encoded messages of the last request, so that only additions are
// encoded for the next one. Unchanged messages are recognized by the identity of their parts.
// The zero value is empty.
//
// It is stored in chunks, because a single growing buffer would exist twice each time it is
// reallocated.
type Transcript struct {
	full [][]byte // complete chunks
	base int      // total length of full
	last []byte   // chunk being written
	kept []EncodedMessage
}

// chunkSize is the length at which a chunk is complete.
const chunkSize = 256 << 10

// An EncodedMessage is an encoded message in a transcript.
type EncodedMessage struct {
	Role msg.Role
	// Parts are retained, so that their addresses are not reused.
	Parts []msg.Part
	// End is the offset of the message's end in the transcript, Mark the offset for a cache
	// mark, or -1.
	End, Mark int
	// Blocks is the number of parts sent, for encoders that count them.
	Blocks int
}

func (w *EncodedMessage) is(m msg.Message) bool {
	return w.Role == m.Role && slices.Equal(w.Parts, m.Parts)
}

// Continues reports whether messages begin with the transcript's conversation.
func (t *Transcript) Continues(messages []msg.Message) bool {
	return len(t.kept) > 0 && len(messages) > 0 && t.kept[0].is(messages[0])
}

// Update makes the transcript hold messages. It keeps the longest unchanged prefix; write
// appends each other message to dst, after a comma if after is true. It may set the message's
// Blocks, and its Mark as an offset in dst.
func (t *Transcript) Update(messages []msg.Message, write func(dst []byte, after bool, m *EncodedMessage) []byte) {
	n := 0
	for n < len(t.kept) && n < len(messages) && t.kept[n].is(messages[n]) {
		n++
	}
	t.cut(n)
	for _, m := range messages[n:] {
		w := EncodedMessage{Role: m.Role, Parts: slices.Clone(m.Parts), Mark: -1}
		t.last = write(t.last, t.Len() > 0, &w)
		if w.Mark >= 0 {
			w.Mark += t.base
		}
		w.End = t.Len()
		t.kept = append(t.kept, w)
		if len(t.last) >= chunkSize {
			t.full, t.base, t.last = append(t.full, slices.Clip(t.last)), w.End, nil
		}
	}
}

// cut keeps the first n messages.
func (t *Transcript) cut(n int) {
	if n == len(t.kept) {
		return
	}
	clear(t.kept[n:]) // releases the parts
	t.kept = t.kept[:n]
	end := 0
	if n > 0 {
		end = t.kept[n-1].End
	}
	for end < t.base {
		i := len(t.full) - 1
		t.last, t.full = t.full[i], t.full[:i]
		t.base -= len(t.last)
	}
	// The rest may still be in flight, so it must not be overwritten.
	t.last = slices.Clone(t.last[:end-t.base])
}

// Reset forgets the conversation.
func (t *Transcript) Reset() { *t = Transcript{} }

// Messages returns the encoded messages, valid until the next update.
func (t *Transcript) Messages() []EncodedMessage { return t.kept }

// Len returns the transcript's length in bytes.
func (t *Transcript) Len() int { return t.base + len(t.last) }

// AppendTo appends the bytes between two offsets to body. The pieces never change.
func (t *Transcript) AppendTo(body Body, from, to int) Body {
	at := 0
	for i := 0; i <= len(t.full) && at < to; i++ {
		chunk := t.last
		if i < len(t.full) {
			chunk = t.full[i]
		}
		if begin, end := max(from-at, 0), min(to-at, len(chunk)); begin < end {
			body = append(body, chunk[begin:end:end])
		}
		at += len(chunk)
	}
	return body
}

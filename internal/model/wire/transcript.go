package wire

import (
	"slices"

	"adze/internal/msg"
)

// A Transcript holds the messages of the last request as an encoder wrote them, so that only what the next request
// adds is encoded. Unchanged messages are recognised by the identity of their parts. The zero value is empty.
//
// It is written in chunks: one buffer that grows would be there twice each time that it does.
type Transcript struct {
	full [][]byte // chunks that are complete
	base int      // how long they are together
	last []byte   // the chunk that is written to
	kept []Written
}

// chunkSize is from which length on a chunk is complete.
const chunkSize = 256 << 10

// A Written message is one that a transcript holds.
type Written struct {
	Role msg.Role
	// Parts are held on to, so that their addresses stay theirs.
	Parts []msg.Part
	// End is where in the transcript the message ends, Mark where a cache mark goes, or -1.
	End, Mark int
	// Blocks is how many parts are sent, for encoders that count them.
	Blocks int
}

func (w *Written) is(m msg.Message) bool {
	return w.Role == m.Role && slices.Equal(w.Parts, m.Parts)
}

// Continues reports whether messages begin with the conversation of the transcript.
func (t *Transcript) Continues(messages []msg.Message) bool {
	return len(t.kept) > 0 && len(messages) > 0 && t.kept[0].is(messages[0])
}

// Update makes the transcript hold messages. It keeps the longest unchanged beginning; write appends each of the others
// to dst, after a comma if something comes before it. It may fill in the blocks of the message, and its mark as a place in dst.
func (t *Transcript) Update(messages []msg.Message, write func(dst []byte, after bool, m *Written) []byte) {
	n := 0
	for n < len(t.kept) && n < len(messages) && t.kept[n].is(messages[n]) {
		n++
	}
	t.cut(n)
	for _, m := range messages[n:] {
		w := Written{Role: m.Role, Parts: slices.Clone(m.Parts), Mark: -1}
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
	clear(t.kept[n:]) // lets go of the parts
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
	// What follows may still be on its way: it is not written over.
	t.last = slices.Clone(t.last[:end-t.base])
}

// Reset forgets the conversation.
func (t *Transcript) Reset() { *t = Transcript{} }

// Messages returns what is held, valid until the next update.
func (t *Transcript) Messages() []Written { return t.kept }

// Len returns how long the transcript is.
func (t *Transcript) Len() int { return t.base + len(t.last) }

// AppendTo appends what was written between two places to body. The pieces never change.
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

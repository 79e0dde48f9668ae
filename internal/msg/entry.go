package msg

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"
)

// An Entry is a message as stored in a session's log, with its identity and metadata.
type Entry struct {
	// ID is a UUID; Parent is the ID of the entry before it, empty for the first.
	ID     string
	Parent string
	Time   time.Time

	Message Message

	// Hidden entries are for the model and not shown to the user.
	Hidden bool
	// Pasted holds the parts of the first text that the user pasted, which front ends abbreviate.
	Pasted []Span
	// Aborted marks an assistant message that was cut off by an interruption.
	Aborted bool

	// The following are set on assistant messages only: the model, the provider's response and
	// request IDs, the stop reason and the usage.
	Model      string
	ResponseID string
	RequestID  string
	Stop       string
	Usage      *Usage

	// Structured maps tool-use IDs to the structured values of this message's tool results.
	Structured map[string]json.RawMessage
}

// A Span is a range of a text, in bytes.
type Span struct{ From, To int }

// NewID returns a random UUID (version 4).
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // ok: never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

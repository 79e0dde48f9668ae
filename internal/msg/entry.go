package msg

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"
)

// An Entry is a message as a session's log keeps it: with its identity and what was known when it
// was written.
type Entry struct {
	// ID is a UUID; Parent is the ID of the entry before it, empty for the first.
	ID     string
	Parent string
	Time   time.Time

	Message Message

	// Hidden entries are for the model and not shown to the user.
	Hidden bool
	// Aborted marks an assistant message that was cut off by an interruption.
	Aborted bool

	// The following belong to assistant messages: the model that answered, the provider's ids of the
	// response and of the request, why it stopped, and what it cost.
	Model      string
	ResponseID string
	RequestID  string
	Stop       string
	Usage      *Usage

	// Structured holds, for a message of tool results, the structured value of each by tool use ID.
	Structured map[string]json.RawMessage
}

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

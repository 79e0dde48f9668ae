package wire

import (
	"net/http"

	"adze/internal/model"
)

// A Server is the server side of a dialect: it reads requests and writes answers. Scripts and
// tests use it to emulate a model.
type Server interface {
	Dialect

	// Admit accepts a posted request. An error is for the client; status 404 means that there
	// is nothing at the path.
	Admit(path string, h http.Header, body []byte) (RequestInfo, *model.Error)

	// Check returns an error for the first rule of the protocol that a request violates, or
	// nil. An in-process request has no headers.
	Check(h http.Header, body []byte) error

	// Sign returns a signature for thinking in the answer to a request body; it begins with id.
	// before is the signature of the preceding thinking in the answer, or empty.
	Sign(body []byte, id, before string) string

	// Read parses a request body as far as the dialect can express it.
	Read(body []byte) (*model.Request, error)

	// NewResponseEncoder returns a speller for one answer, streamed or whole.
	NewResponseEncoder(stream bool) ResponseEncoder

	// EncodeError returns the status and body of an error response. It is the inverse of
	// [Dialect.Error]. An empty message means the usual one.
	EncodeError(kind model.Kind, message string) (status int, body []byte)

	// EncodeTokenCount returns the response body for a token-counting request.
	EncodeTokenCount(n int) []byte
}

// RequestInfo describes a parsed request.
type RequestInfo struct {
	Model  string
	Stream bool
	// Thinks is true if the model may think.
	Thinks bool
	// Count is true if only the tokens are to be counted.
	Count bool
}

// A ResponseEncoder writes one answer, in the order Open, any of the others, Close. It is the inverse
// of a [Decoder]. The bytes returned by each method are appended to the response body. A whole
// answer comes from Close alone.
type ResponseEncoder interface {
	// Open begins the answer.
	Open(id, model string, u Counts) []byte

	// Event writes a [model.TextDelta], [model.ThinkingDelta] or [model.InputDelta], opening
	// its block if necessary, or a [model.BlockDone], which closes it. A part that no delta
	// announced is written whole; an [msg.Opaque] part verbatim.
	Event(e model.Event) []byte

	// Usage reports the usage so far.
	Usage(u Counts) []byte

	// Ping returns a keep-alive.
	Ping() []byte

	// Raw returns an event that the dialect does not know, as JSON.
	Raw(json string) []byte

	// Garble returns an unreadable event. A whole answer lacks its end.
	Garble() []byte

	// Fail returns an error within the answer.
	Fail(kind model.Kind, message string) []byte

	// Close ends the answer.
	Close(reason model.StopReason, u Counts) []byte
}

// Counts are the numbers of a usage report. A nil map means no report.
type Counts map[Counter]int

// A Counter is a kind of tokens, or another billed quantity.
type Counter uint8

// The counters.
const (
	InputTokens Counter = iota
	CacheWrite
	CacheRead
	OutputTokens
	CacheWrite1h
	WebSearches
	Counters // number of counters
)

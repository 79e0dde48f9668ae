package wire

import (
	"net/http"

	"adze/internal/model"
)

// A Server is the other side of a dialect: it reads requests and writes answers. With it, scripts and
// tests play a model.
type Server interface {
	Dialect

	// Admit takes in a request that was posted. An error is for the client; status 404 means that there is
	// nothing at the path.
	Admit(path string, h http.Header, body []byte) (Asked, *model.Error)

	// Check returns the first rule of the protocol that a request breaks, or nil. A request that was not
	// posted has no headers.
	Check(h http.Header, body []byte) error

	// Sign returns the signature of thinking in the answer to a request body; it begins with id. Before is that of
	// the thinking before it in the answer, or empty.
	Sign(body []byte, id, before string) string

	// Read reads a request body, as far as the dialect can tell what it means.
	Read(body []byte) (*model.Request, error)

	// NewSpeller returns a speller for one answer, streamed or whole.
	NewSpeller(stream bool) Speller

	// SpellError returns the status and body of an error response. It is the inverse of [Dialect.Error].
	// An empty message stands for the usual one.
	SpellError(kind model.Kind, message string) (status int, body []byte)

	// SpellCount returns the body of the answer to a request that counts tokens.
	SpellCount(n int) []byte
}

// Asked is what a request asks for.
type Asked struct {
	Model  string
	Stream bool
	// Thinks says that the model may think.
	Thinks bool
	// Count says that only the tokens are to be counted.
	Count bool
}

// A Speller writes one answer, in the order Open, any of the others, Close: the inverse of a [Decoder].
// What a method returns is added to the body of the response. A whole answer comes from Close alone.
type Speller interface {
	// Open begins the answer.
	Open(id, model string, u Counts) []byte

	// Event spells a [model.TextDelta], [model.ThinkingDelta] or [model.InputDelta], which opens its block
	// if need be, or a [model.BlockDone], which closes it. A part that no delta announced is spelled whole;
	// an [msg.Opaque] one verbatim.
	Event(e model.Event) []byte

	// Usage reports the cost so far.
	Usage(u Counts) []byte

	// Ping is a keep-alive.
	Ping() []byte

	// Raw is an event that the dialect does not know, as JSON.
	Raw(json string) []byte

	// Garble is an event that cannot be read. A whole answer lacks its end.
	Garble() []byte

	// Fail is an error within the answer.
	Fail(kind model.Kind, message string) []byte

	// Close ends the answer.
	Close(reason model.StopReason, u Counts) []byte
}

// Counts are the numbers of a usage report. A nil map stands for no report.
type Counts map[Counter]int

// A Counter is a kind of tokens, or another quantity that is paid for.
type Counter uint8

// The counters.
const (
	InputTokens Counter = iota
	CacheWrite
	CacheRead
	OutputTokens
	CacheWrite1h
	WebSearches
	Counters // their number
)

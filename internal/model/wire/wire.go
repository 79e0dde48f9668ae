// Package wire is what every provider over HTTP needs: a transport, credentials, one POST, streams of
// server-sent events, and the errors of all of these. What is written and read is up to a [Dialect]; a
// provider is a [Service].
package wire

import (
	"encoding/json"
	"io"
	"net/http"

	"adze/internal/model"
)

// A Dialect is a wire format: how a request is written and how its answer is read. It holds no state and
// is safe for concurrent use.
type Dialect interface {
	// Path returns where req is posted, relative to the provider's address. It may have a query. A dialect whose models are
	// served at several addresses may return a whole URL.
	Path(req *model.Request) string

	// NewEncoder returns an encoder that has seen no conversation yet.
	NewEncoder() Encoder

	// NewDecoder returns a decoder for one answer. The request id is the server's, as far as it is known;
	// raw asks for [model.Raw] events.
	NewDecoder(requestID string, raw bool) Decoder

	// Error classifies an error response by its status and body. The caller adds what the headers say.
	Error(status int, body []byte) *model.Error
}

// An Encoder writes request bodies. It may keep what it wrote to write the next request of the same
// conversation faster. One goroutine at a time may use it.
type Encoder interface {
	// EncodeBody returns the body for req. The members of the JSON object extra, which may be nil, are
	// added to it.
	EncodeBody(req *model.Request, extra json.RawMessage) (Body, error)

	// Continues reports whether req starts with the conversation of the last request.
	Continues(req *model.Request) bool
}

// A Selective encoder leaves out tools that its dialect has no words for.
type Selective interface {
	// LeftOut says of each tool that the last body is without, which it is and why.
	LeftOut() []string
}

// A Decoder reads one answer, either as a stream or whole.
type Decoder interface {
	// Event decodes one event of a stream. Data is valid during the call only.
	Event(name string, data []byte) (Progress, error)

	// End is called when a stream is over before Event reported [Complete]: err is [io.EOF], or the reason
	// why it broke off. End reports whether the answer is complete nevertheless. If it is not, the events
	// that it leaves for Take say what the answer has cost so far.
	End(err error) (complete bool)

	// Message decodes a whole answer.
	Message(body []byte) error

	// Take returns the events decoded since the last call. The slice is valid until more is decoded.
	Take() []model.Event
}

// Progress says what an event of a stream was.
type Progress uint8

// The kinds of progress.
const (
	Ignored   Progress = iota // not an event of the dialect
	KeepAlive                 // nothing but a sign of life, or unknown
	Content                   // a part of the answer
	Complete                  // the end of the answer
)

// A Heading dialect has requests that need headers of their own.
type Heading interface {
	// Header returns those of req, or nil. The user's headers of the same name are sent before them.
	Header(req *model.Request) http.Header
}

// A Counting dialect has a request that counts tokens.
type Counting interface {
	CountPath(req *model.Request) string
	EncodeCount(req *model.Request) ([]byte, error)
	DecodeCount(body []byte) (int, error)
}

// A Referring dialect reads an answer with the help of what was asked.
type Referring interface {
	// For returns the dialect for the answer to req, which it may keep until the answer is read.
	For(req *model.Request) Dialect
}

// Reading returns the dialect that reads the answer to req.
func Reading(d Dialect, req *model.Request) Dialect {
	if r, ok := d.(Referring); ok {
		return r.For(req)
	}
	return d
}

// A Framed dialect streams its answers in a framing of its own, not as server-sent events.
type Framed interface {
	// MediaType is the content type of such a stream.
	MediaType() string
	// NewFrames returns what splits a stream into events.
	NewFrames(r io.Reader) Frames
}

// Frames splits a stream into events.
type Frames interface {
	// Next returns the next event, or [io.EOF] after the last one. Data is valid until the following call.
	Next() (name string, data []byte, err error)
}

const eventStream = "text/event-stream"

// MediaType returns the content type of the streams of d.
func MediaType(d Dialect) string {
	if f, ok := d.(Framed); ok {
		return f.MediaType()
	}
	return eventStream
}

// newFrames returns what splits a stream of the given type into events. A gateway may send server-sent events where the
// service itself does not.
func newFrames(d Dialect, media string, r io.Reader) Frames {
	if f, ok := d.(Framed); ok && media != eventStream {
		return f.NewFrames(r)
	}
	return &sseReader{r: r}
}

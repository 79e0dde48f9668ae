// Package wire implements the common parts of HTTP providers: transport, credentials, requests,
// event streams and errors. A [Dialect] defines the wire format; a [Service] describes a
// provider.
package wire

import (
	"encoding/json"
	"io"
	"net/http"

	"adze/internal/model"
)

// A Dialect is a wire format: how requests are written and answers are read. It is stateless
// and safe for concurrent use.
type Dialect interface {
	// Path returns the path to post req to, relative to the provider's address. It may have a
	// query. A dialect whose models are served at several addresses may return a full URL.
	Path(req *model.Request) string

	// NewEncoder returns an encoder that has seen no conversation yet.
	NewEncoder() Encoder

	// NewDecoder returns a decoder for one answer. requestID is the server's request ID, if
	// known; raw requests [model.Raw] events.
	NewDecoder(requestID string, raw bool) Decoder

	// Error classifies an error response by its status and body. The caller adds information
	// from the headers.
	Error(status int, body []byte) *model.Error
}

// An Encoder writes request bodies. It may cache its output to encode the next request of the
// same conversation faster. It is not safe for concurrent use.
type Encoder interface {
	// EncodeBody returns the body for req, with the members of the JSON object extra added,
	// which may be nil.
	EncodeBody(req *model.Request, extra json.RawMessage) (Body, error)

	// Continues reports whether req starts with the conversation of the last request.
	Continues(req *model.Request) bool
}

// A SelectiveEncoder encoder omits tools that its dialect cannot express.
type SelectiveEncoder interface {
	// LeftOut returns a note for each tool omitted from the last body, with the reason.
	LeftOut() []string
}

// A Decoder reads one answer, either as a stream or whole.
type Decoder interface {
	// Event decodes one stream event. data is valid only during the call.
	Event(name string, data []byte) (Progress, error)

	// End is called when a stream ends before Event reported [Complete]: err is [io.EOF], or
	// the reason it broke off. End reports whether the answer is complete nevertheless. If it
	// is not, the remaining events for Take include the usage so far.
	End(err error) (complete bool)

	// Message decodes a whole answer.
	Message(body []byte) error

	// Take returns the events decoded since the last call. The slice is valid until more is
	// decoded.
	Take() []model.Event
}

// Progress classifies a stream event.
type Progress uint8

// The kinds of progress.
const (
	Ignored   Progress = iota // unknown to the dialect
	KeepAlive                 // keep-alive or unknown event
	Content                   // a part of the answer
	Complete                  // the end of the answer
)

// A HeaderDialect dialect has requests that need additional headers.
type HeaderDialect interface {
	// Header returns req's headers, or nil. The user's headers of the same name are sent before
	// them.
	Header(req *model.Request) http.Header
}

// A CountingDialect dialect has a request that counts tokens.
type CountingDialect interface {
	CountPath(req *model.Request) string
	EncodeCount(req *model.Request) ([]byte, error)
	DecodeCount(body []byte) (int, error)
}

// A RequestAwareDialect dialect needs the request to decode its answer.
type RequestAwareDialect interface {
	// For returns the dialect for the answer to req, which it may retain until the answer is
	// read.
	For(req *model.Request) Dialect
}

// DialectFor returns the dialect that decodes the answer to req.
func DialectFor(d Dialect, req *model.Request) Dialect {
	if r, ok := d.(RequestAwareDialect); ok {
		return r.For(req)
	}
	return d
}

// A FramedDialect dialect streams its answers in its own framing instead of server-sent events.
type FramedDialect interface {
	// MediaType is the content type of such a stream.
	MediaType() string
	// NewFrames returns a Frames that splits a stream into events.
	NewFrames(r io.Reader) Frames
}

// Frames splits a stream into events.
type Frames interface {
	// Next returns the next event, or [io.EOF] after the last one. data is valid until the
	// following call.
	Next() (name string, data []byte, err error)
}

const eventStream = "text/event-stream"

// MediaType returns the content type of d's streams.
func MediaType(d Dialect) string {
	if f, ok := d.(FramedDialect); ok {
		return f.MediaType()
	}
	return eventStream
}

// newFrames returns a Frames for a stream of the given type. A gateway may send server-sent
// events even if the service itself does not.
func newFrames(d Dialect, media string, r io.Reader) Frames {
	if f, ok := d.(FramedDialect); ok && media != eventStream {
		return f.NewFrames(r)
	}
	return &sseReader{r: r}
}

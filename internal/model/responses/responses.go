// Package responses is the wire dialect of OpenAI's Responses API, as several services and local servers speak it: it
// writes request bodies, reads streamed and whole answers, classifies errors, and plays the server for scripts and tests.
// Requests are stateless: nothing is stored at the server, and reasoning comes encrypted and goes back as it came.
package responses

import (
	"encoding/json"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Dialect implements [wire.Dialect], [wire.Referring] and [wire.Lenient]. Its fields are the ways in which services differ; the
// zero value is OpenAI's own.
type Dialect struct {
	// SystemRole is the role of the system prompt; empty means developer.
	SystemRole string
	// UserMember is where the id of the user goes; empty means safety_identifier.
	UserMember string
	// TextResults says that the result of a tool is text alone. Images and documents in it go into the user's message
	// that follows.
	TextResults bool
	// OpenReasoning says that reasoning which is not encrypted goes back too, as open models want it.
	OpenReasoning bool
	// NoSummary asks for no summary of the reasoning, which OpenAI sends only on request.
	NoSummary bool
}

// signature begins the signature of a [msg.Thinking] that holds a reasoning item of this dialect.
const signature = "responses:"

// Path implements [wire.Dialect].
func (Dialect) Path(*model.Request) string { return "responses" }

// ListPath implements [wire.Listing].
func (Dialect) ListPath() string { return "models" }

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{dialect: d, requestID: requestID, raw: raw}
}

// For implements [wire.Referring].
func (d Dialect) For(req *model.Request) wire.Dialect { return bound{d, req.Tools} }

// A bound dialect reads the answer to a request with tools.
type bound struct {
	Dialect
	tools []msg.ToolSpec
}

func (b bound) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{dialect: b.Dialect, tools: b.tools, requestID: requestID, raw: raw}
}

// own returns the item that a signature of this dialect holds.
func own(sig string) (item string, ok bool) {
	item, ok = strings.CutPrefix(sig, signature)
	return item, ok && json.Valid([]byte(item))
}

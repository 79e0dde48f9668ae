// Package responses implements the wire dialect of OpenAI's Responses API, which several
// services and local servers support: it writes request bodies, reads streamed and whole
// answers, classifies errors, and emulates the server for scripts and tests. Requests are
// stateless: nothing is stored on the server, and encrypted reasoning is sent back as received.
package responses

import (
	"encoding/json"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Dialect implements [wire.Dialect], [wire.RequestAwareDialect] and [wire.LenientDialect]. Its fields cover
// differences between services; the zero value is OpenAI's own.
type Dialect struct {
	// SystemRole is the role of the system prompt; empty means developer.
	SystemRole string
	// UserMember is the member for the user's ID; empty means safety_identifier.
	UserMember string
	// TextResults limits tool results to text. Their images and documents are moved to the
	// following user message.
	TextResults bool
	// OpenReasoning also sends unencrypted reasoning back, as open models require.
	OpenReasoning bool
	// If NoSummary is true, no summary of the reasoning is requested. OpenAI sends one only on
	// request.
	NoSummary bool
}

// signature prefixes the signature of a [msg.Thinking] that holds a reasoning item of this
// dialect.
const signature = "responses:"

// Path implements [wire.Dialect].
func (Dialect) Path(*model.Request) string { return "responses" }

// ListPath implements [wire.ListingDialect].
func (Dialect) ListPath() string { return "models" }

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{dialect: d, requestID: requestID, raw: raw}
}

// For implements [wire.RequestAwareDialect].
func (d Dialect) For(req *model.Request) wire.Dialect { return bound{d, req.Tools} }

// A bound dialect decodes the answer to a request with tools.
type bound struct {
	Dialect
	tools []msg.ToolSpec
}

func (b bound) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{dialect: b.Dialect, tools: b.tools, requestID: requestID, raw: raw}
}

// own returns the item in a signature of this dialect.
func own(sig string) (item string, ok bool) {
	item, ok = strings.CutPrefix(sig, signature)
	return item, ok && json.Valid([]byte(item))
}

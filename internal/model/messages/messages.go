// Package messages implements the Messages wire dialect: it writes request bodies, reads
// streamed and whole responses, classifies error responses, and checks request bodies against
// the rules a server enforces.
package messages

import (
	"adze/internal/model"
	"adze/internal/model/wire"
)

// Dialect implements [wire.Dialect], [wire.CountingDialect], [wire.HeaderDialect] and [wire.LenientDialect]. The
// zero value is the dialect of the first-party service; clouds that serve the same models set
// the fields.
type Dialect struct {
	// Version is the protocol version if it is part of the body. Such a body does not name the
	// model; the path does.
	Version string
	// StreamInPath is true if the path, not the body, selects streaming.
	StreamInPath bool
	// BetasInBody is true if betas are named in the body, not in a header.
	BetasInBody bool
}

// Path implements [wire.Dialect].
func (Dialect) Path(*model.Request) string { return "v1/messages" }

// ListPath implements [wire.ListingDialect].
func (Dialect) ListPath() string { return "v1/models?limit=1000" }

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &Encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{requestID: requestID, raw: raw}
}

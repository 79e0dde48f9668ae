// Package chat implements the Chat Completions wire dialect, which most servers and gateways
// use: it writes request bodies, reads streamed and whole answers, classifies error responses,
// and emulates the server. Server differences are fields of [Dialect].
package chat

import (
	"fmt"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Dialect implements [wire.Dialect], [wire.RequestAwareDialect] and [wire.LenientDialect]. The zero value uses
// no feature that a compatible server may lack.
type Dialect struct {
	// Developer gives the system prompt the role developer.
	Developer bool
	// CompletionLimit names the output limit max_completion_tokens, as the vendor of reasoning
	// models requires; other servers call it max_tokens.
	CompletionLimit bool
	// Documents is true if the server accepts PDF files. Otherwise the model is notified that a
	// file was omitted.
	Documents bool
	// Marks is true if the server accepts cache marks on content, like gateways to models that
	// cache nothing without them.
	Marks bool
	// CacheKey is true if the server accepts a key that routes a session's requests to the same
	// cache.
	CacheKey bool
	// Parallel requests several calls per answer, for servers that do not allow them by
	// default.
	Parallel bool
	// NoThinking is the effort that disables reasoning, such as none or minimal. It is empty if
	// reasoning can't be disabled.
	NoThinking string
	// Replay is how the model's reasoning is sent back.
	Replay Replay
	// ShortIDs is true if call IDs must be nine letters and digits.
	ShortIDs bool
	// TextTools is for models without native tool calls: tools are described in the system
	// prompt, and calls are parsed from the answer's text. Without it, only calls at the end of
	// an answer are recognized; see [prose].
	TextTools bool
}

// Replay is a way to send reasoning back.
type Replay uint8

// The ways to send reasoning back.
const (
	// ReplayNone sends none.
	ReplayNone Replay = iota
	// ReplayContent sends the text as reasoning_content, to servers that continue thinking
	// after a call.
	ReplayContent
	// ReplayText sends the text as reasoning.
	ReplayText
	// ReplayDetails sends the reasoning_details list, which may be signed or encrypted,
	// unchanged.
	ReplayDetails
	// ReplaySame sends the reasoning in the member in which it was received.
	ReplaySame
)

var replayNames = [...]string{"none", "reasoning_content", "reasoning", "reasoning_details", "same"}

// UnmarshalText parses the name of a Replay: the member it sends, or "same".
func (r *Replay) UnmarshalText(text []byte) error {
	for i, name := range replayNames {
		if string(text) == name {
			*r = Replay(i)
			return nil
		}
	}
	return fmt.Errorf("invalid replay mode %q (want one of %s)", text, strings.Join(replayNames[:], ", "))
}

// Path implements [wire.Dialect].
func (Dialect) Path(*model.Request) string { return "chat/completions" }

// ListPath implements [wire.ListingDialect].
func (Dialect) ListPath() string { return "models" }

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{reply: reply{dialect: d, requestID: requestID}, raw: raw}
}

// For implements [wire.RequestAwareDialect].
func (d Dialect) For(req *model.Request) wire.Dialect { return bound{d, req.Tools} }

// A bound dialect decodes the answer to a request with tools.
type bound struct {
	Dialect
	tools []msg.ToolSpec
}

func (b bound) NewDecoder(requestID string, raw bool) wire.Decoder {
	d := &decoder{reply: reply{dialect: b.Dialect, tools: b.tools, requestID: requestID}, raw: raw}
	if len(b.tools) > 0 {
		d.prose = &textCallParser{tools: b.tools, late: !b.TextTools}
	}
	return d
}

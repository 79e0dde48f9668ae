// Package chat is the Chat Completions wire dialect, which most servers and gateways speak: it writes request bodies, reads
// streamed and whole answers, classifies error responses, and plays the server. How servers differ is a field of
// [Dialect].
package chat

import (
	"fmt"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Dialect implements [wire.Dialect], [wire.Referring] and [wire.Lenient]. The zero value asks for nothing that a compatible
// server may not know.
type Dialect struct {
	// Developer gives the system prompt the role developer.
	Developer bool
	// CompletionLimit calls the output limit max_completion_tokens, as models that reason demand of those who call their
	// maker; others know it as max_tokens.
	CompletionLimit bool
	// Documents says that PDF files are taken. Without it the model is told that one was left out.
	Documents bool
	// Marks says that cache marks on content are taken, as by gateways to models that cache nothing without them.
	Marks bool
	// CacheKey says that a key is taken which leads the requests of one session to the same cache.
	CacheKey bool
	// Parallel asks for several calls in one answer, where a server does not allow them unasked.
	Parallel bool
	// NoThinking is the effort that switches reasoning off, such as none or minimal; empty where nothing does.
	NoThinking string
	// Replay is how the model's reasoning goes back.
	Replay Replay
	// ShortIDs says that ids of calls are nine letters and digits.
	ShortIDs bool
	// TextTools is for models without tools in their wire: tools are described in the system prompt, and calls of them are
	// found in the text of answers. Without it, calls are only recognised where an answer ends in them; see [prose].
	TextTools bool
}

// Replay is a way to send reasoning back.
type Replay uint8

// The ways to send reasoning back.
const (
	// ReplayNone sends none.
	ReplayNone Replay = iota
	// ReplayContent sends the text as reasoning_content, to servers that think on after a call.
	ReplayContent
	// ReplayText sends the text as reasoning.
	ReplayText
	// ReplayDetails sends the list reasoning_details, which may be signed or encrypted, as it came.
	ReplayDetails
	// ReplaySame sends the reasoning in the member in which it came.
	ReplaySame
)

var replayNames = [...]string{"none", "reasoning_content", "reasoning", "reasoning_details", "same"}

// UnmarshalText reads the name of a way: that of the member it sends, or same.
func (r *Replay) UnmarshalText(text []byte) error {
	for i, name := range replayNames {
		if string(text) == name {
			*r = Replay(i)
			return nil
		}
	}
	return fmt.Errorf("replay %q is not one of %s", text, strings.Join(replayNames[:], ", "))
}

// Path implements [wire.Dialect].
func (Dialect) Path(*model.Request) string { return "chat/completions" }

// ListPath implements [wire.Listing].
func (Dialect) ListPath() string { return "models" }

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{reply: reply{dialect: d, requestID: requestID}, raw: raw}
}

// For implements [wire.Referring].
func (d Dialect) For(req *model.Request) wire.Dialect { return bound{d, req.Tools} }

// A bound dialect reads the answer to a request with tools.
type bound struct {
	Dialect
	tools []msg.ToolSpec
}

func (b bound) NewDecoder(requestID string, raw bool) wire.Decoder {
	d := &decoder{reply: reply{dialect: b.Dialect, tools: b.tools, requestID: requestID}, raw: raw}
	if len(b.tools) > 0 {
		d.prose = &prose{tools: b.tools, late: !b.TextTools}
	}
	return d
}

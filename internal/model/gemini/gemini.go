// Package gemini implements the generateContent wire dialect: it writes request bodies, reads
// streamed and whole responses, classifies error responses, and emulates a server that is as
// strict as the service.
//
// The service attaches signatures of its reasoning to parts of an answer and requires them back
// on the same parts. Such a signature is kept as a [msg.Thinking] whose signature begins with
// "gemini:"; see [signature].
package gemini

import (
	"cmp"
	"net/url"
	"strings"

	"adze/internal/model"
	"adze/internal/model/toolname"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Dialect implements [wire.Dialect], [wire.RequestAwareDialect], [wire.CountingDialect] and [wire.LenientDialect]. The
// zero value is the dialect of the service itself.
type Dialect struct {
	// Models is the path prefix of a model's name; empty means v1beta/models/.
	Models string
	// OpenAPI sends tool schemas in the OpenAPI subset that older servers support, not as JSON
	// Schema.
	OpenAPI bool
	// FlatResults limits tool results to text; their images follow them as separate parts. It
	// is implied for models known to require it.
	FlatResults bool
	// NoCallIDs omits the IDs of calls and results.
	NoCallIDs bool

	tools []msg.ToolSpec // tools of the request being answered
}

// Path implements [wire.Dialect]. Without alt=sse the stream would be one JSON array.
func (d Dialect) Path(req *model.Request) string {
	if req.NoStream {
		return d.path(req, "generateContent")
	}
	return d.path(req, "streamGenerateContent?alt=sse")
}

func (d Dialect) path(req *model.Request, method string) string {
	models := d.Models
	if models == "" {
		models = "v1beta/models/"
	}
	return models + url.PathEscape(strings.TrimPrefix(req.Model, "models/")) + ":" + method
}

// ListPath implements [wire.ListingDialect].
func (d Dialect) ListPath() string {
	return cmp.Or(strings.TrimSuffix(d.Models, "/"), "v1beta/models") + "?pageSize=1000"
}

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{tools: d.tools, requestID: requestID, raw: raw}
}

// For implements [wire.RequestAwareDialect]: it maps tool names in calls back to the original ones.
func (d Dialect) For(req *model.Request) wire.Dialect {
	d.tools = req.Tools
	return d
}

// isOlder reports whether a model is of a generation that takes a thinking budget rather than a
// level, has no images in tool results and does not require signatures.
func isOlder(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, generation := range []string{"gemini-1.", "gemini-1-", "gemini-2.", "gemini-2-", "gemma-"} {
		if strings.HasPrefix(name, generation) {
			return true
		}
	}
	return false
}

// wireName returns a tool name that the service accepts: 1 to 64 letters, digits, _ and -, not
// starting with a digit or -.
func wireName(name string) string {
	short := toolname.Restrict(name)
	if c := short[0]; c == '-' || '0' <= c && c <= '9' {
		return toolname.Restrict("_ " + name) // always changed, so it ends in a unique hash
	}
	return short
}

// original returns the tool name for a name on the wire.
func original(tools []msg.ToolSpec, name string) string {
	for i := range tools {
		if tools[i].Name == name {
			return name
		}
	}
	for i := range tools {
		if wireName(tools[i].Name) == name {
			return tools[i].Name
		}
	}
	return name
}

// A signature is the service's signature for a part of its answer. It is stored in a
// [msg.Thinking], with a prefix that identifies the part.
type signature struct {
	on   place
	data string
}

// A place identifies the part that a signature belongs to. Its value is the prefix of the
// [msg.Thinking] signature.
type place string

const (
	onNext    place = "gemini:"         // the following text or call
	onThought place = "gemini:thought:" // the thinking itself
	onNothing place = "gemini:empty:"   // a separate, empty text
)

// signatureOf returns the signature in a part if it belongs to this dialect.
func signatureOf(p msg.Part) (s signature, ok bool) {
	t, ok := p.(*msg.Thinking)
	if !ok {
		return s, false
	}
	for _, on := range []place{onThought, onNothing, onNext} {
		if data, ok := strings.CutPrefix(t.Signature, string(on)); ok && data != "" {
			return signature{on, data}, true
		}
	}
	return s, false
}

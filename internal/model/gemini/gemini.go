// Package gemini is the generateContent wire dialect: it writes request bodies, reads streamed and whole responses,
// classifies error responses, and plays a server that is as strict as the service. Connections, credentials and retries
// belong to the providers that use it.
//
// The service attaches signatures of its reasoning to parts of an answer, and wants them back on the same parts. Such a
// signature is kept as a [msg.Thinking] whose signature begins with "gemini:"; see [signature].
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

// Dialect implements [wire.Dialect], [wire.Referring], [wire.Counting] and [wire.Lenient]. The zero value is that of the
// service itself.
type Dialect struct {
	// Models is the path before a model's name; empty means v1beta/models/.
	Models string
	// OpenAPI says that schemas of tools go out in the subset of OpenAPI that older servers know, not as JSON Schema.
	OpenAPI bool
	// FlatResults says that results of tools hold text only: their images follow them as parts of their own. So it is
	// for models that are known to want it, too.
	FlatResults bool
	// NoCallIDs says that calls and results go without ids.
	NoCallIDs bool

	tools []msg.ToolSpec // of the request whose answer is read
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

// ListPath implements [wire.Listing].
func (d Dialect) ListPath() string {
	return cmp.Or(strings.TrimSuffix(d.Models, "/"), "v1beta/models") + "?pageSize=1000"
}

// NewEncoder implements [wire.Dialect].
func (d Dialect) NewEncoder() wire.Encoder { return &encoder{dialect: d} }

// NewDecoder implements [wire.Dialect].
func (d Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{tools: d.tools, requestID: requestID, raw: raw}
}

// For implements [wire.Referring]: calls come back with the names that the tools were given.
func (d Dialect) For(req *model.Request) wire.Dialect {
	d.tools = req.Tools
	return d
}

// isOlder reports whether a model is of a generation that is told how many tokens to think, not how hard; that has no
// images in results of tools, and does not insist on signatures.
func isOlder(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, generation := range []string{"gemini-1.", "gemini-1-", "gemini-2.", "gemini-2-", "gemma-"} {
		if strings.HasPrefix(name, generation) {
			return true
		}
	}
	return false
}

// wireName returns the name of a tool as the service takes it: 1 to 64 letters, digits, _ and -, not first a digit or -.
func wireName(name string) string {
	short := toolname.Restrict(name)
	if c := short[0]; c == '-' || '0' <= c && c <= '9' {
		return toolname.Restrict("_ " + name) // which has to change, and so ends in a hash that is its own
	}
	return short
}

// original returns the name of the tool that a name on the wire stands for.
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

// A signature is what the service attached to a part of its answer, as this program keeps it: in a [msg.Thinking], with
// a word before it that says which part it was.
type signature struct {
	on   place
	data string
}

// A place is the part that a signature belongs to. The value is the beginning of the signature of the [msg.Thinking].
type place string

const (
	onNext    place = "gemini:"         // the text or the call that follows
	onThought place = "gemini:thought:" // the thinking itself
	onNothing place = "gemini:empty:"   // a text of its own, which is empty
)

// signatureOf returns the signature in a part, if it is of this dialect.
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

// Package msg defines messages and their parts, tool descriptions and usage. It implements the
// JSON form of a message and repairs malformed conversations; it does not depend on providers,
// tools or files.
package msg

import "encoding/json"

// A Role identifies the author of a message.
type Role string

// The two conversation roles. Tool results are sent in user messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one contribution to a conversation.
//
// A message is immutable once it has been handed on: its parts are shared between the history,
// the request view and the encoders, which recognize an unchanged message by the identity of
// its parts.
type Message struct {
	Role  Role
	Parts []Part
}

// A Part is a content block. The pointer types below are the only implementations.
type Part interface{ part() }

type (
	// Text is plain text.
	Text struct{ Text string }

	// Thinking is the model's reasoning. Signature binds it to the model that wrote it, so it
	// must be sent back unchanged or not at all.
	Thinking struct{ Text, Signature string }

	// Redacted is reasoning the provider encrypted.
	Redacted struct{ Data string }

	// ToolUse is the model's request to run a tool. Input holds the model's own bytes and is
	// always a JSON object; if the model wrote anything else, Input is {} and Malformed holds
	// the original text.
	ToolUse struct {
		ID, Name  string
		Input     json.RawMessage
		Malformed string
	}

	// ToolResult answers the ToolUse with the same ID. Its parts may only be Text, Image and
	// Document.
	ToolResult struct {
		ID      string
		Parts   []Part
		IsError bool
	}

	// Image is a picture; Data is the encoded file.
	Image struct {
		MediaType string
		Data      []byte
	}

	// Document is a file the provider reads itself, such as a PDF.
	Document struct {
		MediaType, Title string
		Data             []byte
	}

	// Server is a use or result of a tool run by the provider. It is sent back verbatim.
	Server struct{ Raw json.RawMessage }

	// Opaque is a block of unknown kind. It is kept in the log but never sent.
	Opaque struct{ Raw json.RawMessage }
)

func (*Text) part()       {}
func (*Thinking) part()   {}
func (*Redacted) part()   {}
func (*ToolUse) part()    {}
func (*ToolResult) part() {}
func (*Image) part()      {}
func (*Document) part()   {}
func (*Server) part()     {}
func (*Opaque) part()     {}

// UserText returns a user message with one text part.
func UserText(text string) Message {
	return Message{Role: User, Parts: []Part{&Text{Text: text}}}
}

// Uses returns m's tool uses in order.
func (m Message) Uses() []*ToolUse {
	var uses []*ToolUse
	for _, p := range m.Parts {
		if u, ok := p.(*ToolUse); ok {
			uses = append(uses, u)
		}
	}
	return uses
}

// Text returns m's text parts, joined.
func (m Message) Text() string { return PlainText(m.Parts) }

// PlainText returns the text parts, joined, and ignores all others.
func PlainText(parts []Part) string {
	var one string
	var many []byte
	for _, p := range parts {
		t, ok := p.(*Text)
		switch {
		case !ok:
		case one == "" && many == nil:
			one = t.Text
		default:
			if many == nil {
				many = []byte(one)
			}
			many = append(many, t.Text...)
		}
	}
	if many != nil {
		return string(many)
	}
	return one
}

// A ToolSpec describes a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the input's JSON Schema in compact form. Its bytes are sent as they are.
	Schema json.RawMessage
	// Strict asks providers that support it to enforce the schema.
	Strict bool
}

// Usage counts the tokens of one or more responses.
type Usage struct {
	Input      int
	Output     int
	CacheRead  int
	CacheWrite int
	// CacheWrite1h is the part of CacheWrite with a one-hour lifetime.
	CacheWrite1h int
	WebSearches  int
	// Estimated is true if at least one number was not reported by the provider.
	Estimated bool
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:        u.Input + v.Input,
		Output:       u.Output + v.Output,
		CacheRead:    u.CacheRead + v.CacheRead,
		CacheWrite:   u.CacheWrite + v.CacheWrite,
		CacheWrite1h: u.CacheWrite1h + v.CacheWrite1h,
		WebSearches:  u.WebSearches + v.WebSearches,
		Estimated:    u.Estimated || v.Estimated,
	}
}

// Total returns all tokens that passed through the context window.
func (u Usage) Total() int { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

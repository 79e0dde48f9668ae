package prompt

import (
	"strings"

	"adze/internal/model"
	"adze/internal/msg"
)

// A Layout determines the blocks of a request and where it may be cached.
type Layout struct {
	// Client identifies the program to the provider, such as "adze/1.0 (headless)"; empty omits
	// it.
	Client string
	// Shared is true if the provider can share the common prefix between all users. The
	// provider decides whether to request that.
	Shared bool
	// Tools is the number of built-in tools, which come first in the request; Foreign is true
	// if others follow.
	Tools   int
	Foreign bool
	// Hour requests the long cache lifetime. It must not change during a session.
	Hour bool
	// Branch is true if several conversations share this prefix; see [model.Mark].
	Branch bool
	// None omits all marks.
	None bool
}

// A Block is a part of the system prompt as sent.
type Block struct {
	Pieces []Piece `json:"pieces"`
	// Marked is true if the request may be cached up to here, Global if the cache may be shared
	// with others.
	Marked bool `json:"marked,omitempty"`
	Global bool `json:"global,omitempty"`
}

// Text returns the text to send.
func (b *Block) Text() string {
	texts := make([]string, len(b.Pieces))
	for i, p := range b.Pieces {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}

// Blocks divides a prompt into blocks. The client block is never cached, since it changes with
// every version. If sharing is supported, the part common to everyone is one block; otherwise
// everything but the identity is. A mark after the identity alone would cache no more than the
// one after the tools, so it is saved for the messages because of the server's lookback.
func (a Assembly) Blocks(l Layout) []Block {
	var blocks []Block
	add := func(marked, global bool, pieces ...Piece) {
		if len(pieces) > 0 {
			blocks = append(blocks, Block{pieces, marked && !l.None, global && !l.None})
		}
	}
	if l.Client != "" {
		add(false, false, Piece{"client", l.Client})
	}
	prefix, rest := 0, a.Pieces
	if len(rest) > 0 && rest[0].Name == "identity" {
		prefix = 1
	}
	if l.Shared && a.Boundary > prefix && !l.Foreign {
		add(false, false, rest[:prefix]...)
		add(true, true, rest[prefix:a.Boundary]...)
		add(false, false, rest[a.Boundary:]...)
		return blocks
	}
	add(prefix == len(rest), false, rest[:prefix]...)
	add(true, false, rest[prefix:]...)
	return blocks
}

// Parts returns the blocks as request parts, with the request's marks: the marks of the blocks,
// one after the last built-in tool, and one after the last message.
func (a Assembly) Parts(l Layout) ([]msg.Part, []model.Mark) {
	var parts []msg.Part
	blocks := a.Blocks(l)
	for _, b := range blocks {
		parts = append(parts, &msg.Text{Text: b.Text()})
	}
	return parts, marks(blocks, l)
}

// marks returns the marks of a request with these blocks.
func marks(blocks []Block, l Layout) []model.Mark {
	if l.None {
		return nil
	}
	var marks []model.Mark
	for i, b := range blocks {
		if b.Marked {
			marks = append(marks, model.Mark{Place: model.InSystem, Index: i, Hour: l.Hour, Global: b.Global})
		}
	}
	if l.Tools > 0 {
		marks = append(marks, model.Mark{Place: model.InTools, Index: l.Tools - 1, Hour: l.Hour})
	}
	return append(marks, model.Mark{Place: model.InMessages, Hour: l.Hour, Branch: l.Branch})
}

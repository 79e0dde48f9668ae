package brief

import (
	"strings"

	"adze/internal/model"
	"adze/internal/msg"
)

// A Layout is what decides about the blocks of a request and where it may be cached.
type Layout struct {
	// Client names the program to the provider, such as "adze/1.0 (headless)"; empty leaves it out.
	Client string
	// Shared says that the provider can share what is the same for everyone between all who ask. It
	// decides itself whether to ask for that.
	Shared bool
	// Tools is how many tools the request offers at the beginning of its list that are built in, and
	// Foreign whether there are others after them.
	Tools   int
	Foreign bool
	// Hour asks for the long lifetime. It must not change during a session.
	Hour bool
	// Branch says that the conversation is one of several that begin alike; see [model.Mark].
	Branch bool
	// None leaves out all marks.
	None bool
}

// A Block is a part of the system prompt as it is sent.
type Block struct {
	Pieces []Piece `json:"pieces"`
	// Marked says that the request may be cached up to here, Global that others may share it.
	Marked bool `json:"marked,omitempty"`
	Global bool `json:"global,omitempty"`
}

// Text returns what is sent.
func (b *Block) Text() string {
	texts := make([]string, len(b.Pieces))
	for i, p := range b.Pieces {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n\n")
}

// Blocks divides a prompt. The client's block is never cached, since it changes with every version. What
// everyone shares is one block, where it can be shared; else all but who the model is. A mark after that alone would
// cache no more than the one after the tools, and is left for the messages: see the lookback of a server.
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

// Parts returns the blocks as a request has them, with its marks: those of the blocks, one after the last
// tool that is built in, and one after the last message.
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

// Package tokens estimates the number of tokens in a request without asking a provider. It uses
// the characters and the positions where words and punctuation begin, as the tokenizer of the
// model's family would, and corrects the sum by the usage that the provider reported for
// earlier requests to the same model.
//
// For a conversation, the estimate is at most 15 % off for families with a public tokenizer,
// and for unknown ones once usage was reported for a request of which the greater part is sent
// again; if a model no longer uses its family's tokenizer, it is then at most 20 % off. For a
// single text it is at most 15 % off for prose, code, diffs, data and logs, 20 % for Chinese
// and 30 % for lists of paths.
package tokens

import (
	"bytes"

	"adze/internal/msg"
	"adze/internal/platform/text/picture"
)

// perToken is the number of characters per token in a signature or in encrypted reasoning.
const perToken = 4

// Media is the default token count of a picture or document.
const Media = 2000

// Token overhead of a message, of a tool use or result, and of a tool.
const (
	perMessage = 4
	perCall    = 12
	perTool    = 12
)

// An Estimator estimates the tokens of requests to one model. It is not safe for concurrent use.
type Estimator struct {
	machine *machine
	wide    int32 // cost of a wide character
	// factor corrects the count; 0 means that no usage was reported yet.
	factor float64
	parts  map[msg.Part]int32 // cached counts of large parts
	last   []counted          // cached counts of the last request's messages
}

// A counted is a message with its count; a message is identified by its parts.
type counted struct {
	first *msg.Part
	parts int
	n     int
}

// New returns a gauge for the model with this ID.
func New(model string) *Estimator {
	f := familyOf(model)
	return &Estimator{machine: f.machine(), wide: f.wide}
}

// The correction stays within these bounds, regardless of the reports.
const minFactor, maxFactor = 0.4, 3

// Report records that the provider counted reported tokens for a request where [Estimator.Count]
// returns counted. Small requests are ignored, since they say little about large ones.
func (g *Estimator) Report(counted, reported int) {
	if counted < 100 || reported < 100 {
		return
	}
	g.factor = min(maxFactor, max(minFactor, float64(reported)/float64(counted)))
}

// AtLeast records that a request with this count has more than the given tokens, as reported by
// a provider that rejected it.
func (g *Estimator) AtLeast(counted, reported int) {
	if counted > 0 && g.Correct(counted) < reported {
		g.factor = min(maxFactor, float64(reported)/float64(counted))
	}
}

// Correct returns the estimate for a count.
func (g *Estimator) Correct(counted int) int {
	if g.factor == 0 {
		return counted
	}
	return int(float64(counted) * g.factor)
}

// Request returns the estimate for a request.
func (g *Estimator) Request(system []msg.Part, tools []msg.ToolSpec, messages []msg.Message) int {
	return g.Correct(g.Count(system, tools, messages))
}

// Messages returns the estimate for messages.
func (g *Estimator) Messages(messages ...msg.Message) int { return g.Request(nil, nil, messages) }

// Parts returns the estimate for parts.
func (g *Estimator) Parts(parts ...msg.Part) int { return g.Request(parts, nil, nil) }

// Text returns the estimate for a text.
func (g *Estimator) Text(text string) int { return g.Correct(g.text(text)) }

// Count returns the uncorrected token count of a request.
func (g *Estimator) Count(system []msg.Part, tools []msg.ToolSpec, messages []msg.Message) int {
	n := g.count(system)
	for _, t := range tools {
		n += perTool + g.text(t.Name) + g.text(t.Description) + g.text(string(t.Schema))
	}
	if len(messages) < 2 {
		for _, m := range messages {
			n += perMessage + g.count(m.Parts)
		}
		return n
	}
	for i, m := range messages {
		n += g.message(i, m)
	}
	return n
}

// message returns the tokens of message i. A conversation mostly grows, so earlier messages are
// cached.
func (g *Estimator) message(i int, m msg.Message) int {
	if len(m.Parts) == 0 {
		return perMessage
	}
	if i < len(g.last) {
		if k := g.last[i]; k.first == &m.Parts[0] && k.parts == len(m.Parts) {
			return k.n
		}
		g.last = g.last[:i]
	}
	k := counted{&m.Parts[0], len(m.Parts), perMessage + g.count(m.Parts)}
	if i == len(g.last) {
		g.last = append(g.last, k)
	}
	return k.n
}

// Forget drops the cached counts of parts.
func (g *Estimator) Forget() { g.parts, g.last = nil, nil }

func (g *Estimator) count(parts []msg.Part) int {
	n := 0
	for _, p := range parts {
		n += g.part(p)
	}
	return n
}

func (g *Estimator) part(p msg.Part) int {
	switch p := p.(type) {
	case *msg.Text:
		return g.kept(p, len(p.Text), func() int { return g.text(p.Text) })
	case *msg.Thinking:
		return g.kept(p, len(p.Text)+len(p.Signature), func() int { return g.text(p.Text) + len(p.Signature)/perToken })
	case *msg.Redacted:
		return len(p.Data) / perToken
	case *msg.ToolUse:
		return perCall + g.text(p.Name) + g.kept(p, len(p.Input), func() int { return g.text(string(p.Input)) })
	case *msg.ToolResult:
		return perCall + g.count(p.Parts)
	case *msg.Image:
		return g.kept(p, len(p.Data), func() int { return image(p) })
	case *msg.Document:
		return g.kept(p, len(p.Data), func() int { return document(p) })
	case *msg.Server:
		return g.kept(p, len(p.Raw), func() int { return g.text(string(p.Raw)) })
	}
	return 0
}

// kept returns the result of count. A part never changes, so the counts of large parts are
// cached.
func (g *Estimator) kept(p msg.Part, size int, count func() int) int {
	if size < 256 {
		return count()
	}
	if n, ok := g.parts[p]; ok {
		return int(n)
	}
	n := count()
	if g.parts == nil {
		g.parts = make(map[msg.Part]int32)
	}
	g.parts[p] = int32(n)
	return n
}

// Pictures cost a token per so many pixels, after being scaled to fit into a square.
const (
	pixelsPerToken = 750
	maxEdge        = 1568
	maxPicture     = 1600
)

func image(p *msg.Image) int {
	_, size, err := picture.Measure(p.Data)
	if err != nil || size.Width <= 0 || size.Height <= 0 {
		return Media
	}
	w, h := float64(size.Width), float64(size.Height)
	if long := max(w, h); long > maxEdge {
		w, h = w*maxEdge/long, h*maxEdge/long
	}
	return min(maxPicture, int(w*h/pixelsPerToken)+1)
}

// document counts the visible pages of a PDF and treats each as a picture with text.
func document(p *msg.Document) int {
	if p.MediaType != "application/pdf" {
		return max(Media, len(p.Data)/perToken)
	}
	pages := bytes.Count(p.Data, []byte("/Type /Page")) + bytes.Count(p.Data, []byte("/Type/Page")) -
		bytes.Count(p.Data, []byte("/Type /Pages")) - bytes.Count(p.Data, []byte("/Type/Pages"))
	return Media * max(1, pages)
}

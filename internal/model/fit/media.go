package fit

import (
	"fmt"

	"adze/internal/model/catalog"
	"adze/internal/msg"
)

// media returns messages with a text in place of each image and document that m does not
// accept. Texts from earlier requests are reused, because encoders recognize parts by their
// identity.
func (p *provider) media(m catalog.Model, messages []msg.Message) []msg.Message {
	if m.Images && m.Documents || !hasMedia(messages) {
		return messages
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := substitution{model: m, earlier: p.texts, made: map[msg.Part]msg.Part{}}
	out := make([]msg.Message, len(messages))
	for i, message := range messages {
		out[i] = message
		out[i].Parts = s.parts(message.Parts)
	}
	p.texts = s.made
	return out
}

func hasMedia(messages []msg.Message) bool {
	for _, m := range messages {
		for _, part := range m.Parts {
			switch part := part.(type) {
			case *msg.Image, *msg.Document:
				return true
			case *msg.ToolResult:
				if hasMedia([]msg.Message{{Parts: part.Parts}}) {
					return true
				}
			}
		}
	}
	return false
}

// A substitution replaces media with texts.
type substitution struct {
	model         catalog.Model
	earlier, made map[msg.Part]msg.Part // texts by replaced part
}

// parts returns the parts to send, which may be the same slice.
func (s *substitution) parts(parts []msg.Part) []msg.Part {
	var out []msg.Part // nil until something changes
	for i, part := range parts {
		sent := s.part(part)
		if out == nil && sent != part {
			out = append(make([]msg.Part, 0, len(parts)), parts[:i]...)
		}
		if out != nil {
			out = append(out, sent)
		}
	}
	if out == nil {
		return parts
	}
	return out
}

func (s *substitution) part(part msg.Part) msg.Part {
	switch q := part.(type) {
	case *msg.Image:
		if s.model.Images {
			return part
		}
		return s.keep(part, func() msg.Part {
			return &msg.Text{Text: fmt.Sprintf("[An image (%s) is here, and %s cannot see images.]", q.MediaType, s.model.ID)}
		})
	case *msg.Document:
		if s.model.Documents {
			return part
		}
		return s.keep(part, func() msg.Part {
			return &msg.Text{Text: fmt.Sprintf("[A document (%s) is here, and %s cannot read documents.]", q.MediaType, s.model.ID)}
		})
	case *msg.ToolResult:
		inner := s.parts(q.Parts)
		if len(inner) == 0 || &inner[0] == &q.Parts[0] {
			return part
		}
		return s.keep(part, func() msg.Part { return &msg.ToolResult{ID: q.ID, Parts: inner, IsError: q.IsError} })
	}
	return part
}

// keep returns the replacement for a part, reusing the previous request's.
func (s *substitution) keep(part msg.Part, create func() msg.Part) msg.Part {
	if known, ok := s.made[part]; ok {
		return known
	}
	text, ok := s.earlier[part]
	if !ok {
		text = create()
	}
	s.made[part] = text
	return text
}

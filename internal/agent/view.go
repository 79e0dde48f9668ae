package agent

import (
	"context"
	"fmt"
	"slices"

	"adze/internal/msg"
)

// A View is the conversation as one request sends it.
type View struct {
	// Messages belong to the view: a step may change the list, but not what it lists.
	Messages []msg.Message
	// Compacted says that the history has begun anew; the last step says it.
	Compacted *Compacted
	// Stuck says that the last step found the view too long and could not make it shorter.
	Stuck bool
	// Size is the request as the last step estimates it, in tokens; 0 means that there is no estimate.
	Size int
}

// A Step makes the view of a request shorter, working on what the step before left. One that fails is
// skipped. Steps change only what is sent; the last may also replace the history by a summary.
type Step struct {
	Name string
	Do   func(context.Context, View) (View, error)
}

// view returns what the next request sends of the history. If the last step makes the history begin anew,
// the others look at it again.
func (r *run) view(s State) View {
	v := r.apply(r.a.Steps, View{Messages: r.messages(s)})
	if v.Compacted == nil {
		return v
	}
	r.emit(*v.Compacted)
	s.Entries = r.h.Entries()
	return r.apply(r.a.Steps[:len(r.a.Steps)-1], View{Messages: r.messages(s)})
}

func (r *run) apply(steps []Step, v View) View {
	for _, step := range steps {
		next, err := protect(func() (View, error) { return step.Do(r.ctx, v) })
		if err != nil {
			r.a.logger().Error("a step of the view failed and was skipped", "step", step.Name, "err", err)
			continue
		}
		v = next
	}
	return v
}

// withContext adds to the messages of a view what is said before the first of them. The history does not
// hold it.
func (r *run) withContext(messages []msg.Message) []msg.Message {
	if r.a.Context == nil || len(messages) == 0 {
		return messages
	}
	parts := r.a.Context()
	if len(parts) == 0 {
		return messages
	}
	if messages[0].Role != msg.User {
		return slices.Insert(messages, 0, msg.Message{Role: msg.User, Parts: parts})
	}
	messages[0].Parts = slices.Concat(parts, messages[0].Parts)
	return messages
}

// A reader turns the history into messages that one model can read: without the reasoning of other
// models and without media that were rejected. It keeps what it has read, since a history only grows.
type reader struct {
	conv      msg.Conversation
	first     string // ID of the first entry
	read      int    // entries
	told      int    // problems that were logged
	model     string
	noMedia   bool
	noThought bool
}

// messages returns the history as the model in use can read it, well formed.
func (r *run) messages(s State) []msg.Message {
	rd := &r.reader
	if len(s.Entries) < rd.read || rd.read > 0 && s.Entries[0].ID != rd.first ||
		rd.model != s.Model.ID || rd.noMedia != r.memo().NoMedia || rd.noThought != r.noThinking {
		*rd = reader{}
	}
	if rd.read == 0 && len(s.Entries) > 0 {
		rd.first, rd.model = s.Entries[0].ID, s.Model.ID
		rd.noMedia, rd.noThought = r.memo().NoMedia, r.noThinking
	}
	for _, e := range s.Entries[rd.read:] {
		m := e.Message
		if m.Role == msg.Assistant && (rd.noThought || e.Model != rd.model) {
			m.Parts = without(m.Parts, isThinking)
		}
		if rd.noMedia {
			m.Parts = withoutMedia(m.Parts)
		}
		rd.conv.Add(m)
	}
	rd.read = len(s.Entries)
	messages, problems := rd.conv.Messages()
	for _, p := range problems[min(rd.told, len(problems)):] {
		r.a.logger().Warn("history mended", "message", p.Message, "problem", p.Text)
	}
	rd.told = len(problems)
	return messages
}

func isThinking(p msg.Part) bool {
	switch p.(type) {
	case *msg.Thinking, *msg.Redacted:
		return true
	}
	return false
}

// without returns parts less those that drop names; the same slice if there are none.
func without(parts []msg.Part, drop func(msg.Part) bool) []msg.Part {
	for i, p := range parts {
		if !drop(p) {
			continue
		}
		kept := append([]msg.Part(nil), parts[:i]...)
		for _, p := range parts[i:] {
			if !drop(p) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	return parts
}

// withoutMedia returns parts with a text in place of each image and document.
func withoutMedia(parts []msg.Part) []msg.Part {
	out := make([]msg.Part, len(parts))
	changed := false
	for i, p := range parts {
		switch q := p.(type) {
		case *msg.Image:
			p = mediaMarker("image", q.MediaType, len(q.Data))
		case *msg.Document:
			p = mediaMarker("document", q.MediaType, len(q.Data))
		case *msg.ToolResult:
			if inner := withoutMedia(q.Parts); len(inner) > 0 && len(q.Parts) > 0 && &inner[0] != &q.Parts[0] {
				p = &msg.ToolResult{ID: q.ID, Parts: inner, IsError: q.IsError}
			}
		}
		out[i] = p
		changed = changed || p != parts[i]
	}
	if !changed {
		return parts
	}
	return out
}

func mediaMarker(kind, mediaType string, size int) *msg.Text {
	return &msg.Text{Text: fmt.Sprintf("[%s left out: the provider rejected the size of the media in this conversation (%s, %d KB)]", kind, mediaType, (size+1023)/1024)}
}

func hasMedia(messages []msg.Message) bool {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch q := p.(type) {
			case *msg.Image, *msg.Document:
				return true
			case *msg.ToolResult:
				if hasMedia([]msg.Message{{Parts: q.Parts}}) {
					return true
				}
			}
		}
	}
	return false
}

// estimate guesses the tokens of a request from the bytes of its text.
func estimate(system []msg.Part, tools []msg.ToolSpec, messages []msg.Message) int {
	n := bytesOf(system)
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range messages {
		n += 16 + bytesOf(m.Parts)
	}
	return n / 4
}

// mediaBytes is what a picture or document counts for in an estimate, in bytes of text.
const mediaBytes = 4 * 1600

func bytesOf(parts []msg.Part) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text:
			n += len(p.Text)
		case *msg.Thinking:
			n += len(p.Text) + len(p.Signature)
		case *msg.Redacted:
			n += len(p.Data)
		case *msg.ToolUse:
			n += len(p.Name) + len(p.Input) + 32
		case *msg.ToolResult:
			n += bytesOf(p.Parts) + 32
		case *msg.Image, *msg.Document:
			n += mediaBytes
		case *msg.Server:
			n += len(p.Raw)
		}
	}
	return n
}

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"adze/internal/msg"
)

// A View is the conversation as it is sent in one request.
type View struct {
	// Messages belongs to the view: a step may change the list, but not the messages.
	Messages []msg.Message
	// Compacted is non-nil if the history has started over. The last step sets it.
	Compacted *Compacted
	// Stuck is true if the last step found the view too long and could not shorten it.
	Stuck bool
	// Size is the last step's estimate of the request size, in tokens; 0 means unknown.
	Size int
}

// A Step shortens the view for a request. It receives the previous step's view. A step that
// fails is skipped. Steps change only the view; the last one may also replace the history with
// a summary.
type Step struct {
	Name string
	Do   func(context.Context, View) (View, error)
}

// view returns the view for the next request. If the last step restarts the history, or a step
// causes reasoning to be withheld, the others run again.
func (r *run) view(s State) View {
	memo := r.recovery.memo
	v := r.apply(r.a.Steps, View{Messages: r.reader.messages(s.Entries, memo.audience(s.Model), r.log)})
	if v.Compacted != nil {
		r.emit(*v.Compacted)
	} else if r.reader.to == memo.audience(s.Model) {
		return v
	}
	again := r.apply(r.a.Steps[:max(0, len(r.a.Steps)-1)], View{Messages: r.reader.messages(r.h.Entries(), memo.audience(s.Model), r.log)})
	if v.Compacted == nil {
		again.Size, again.Stuck = v.Size, v.Stuck
	}
	return again
}

// messageFilter returns the filter for messages to a model. It changes when reasoning has to be
// withheld.
func (m *Memo) audience(model Model) messageFilter {
	return messageFilter{model.ID, m.NoMedia, &m.Withheld, len(m.Withheld.ids)}
}

func (r *run) apply(steps []Step, v View) View {
	for _, step := range steps {
		next, err := protect(func() (View, error) { return step.Do(r.ctx, v) })
		if err != nil {
			r.log.Error("a step of the view failed and was skipped", "step", step.Name, "err", err)
			continue
		}
		v = next
	}
	return v
}

// open inserts the context before a view's first message. The context is not part of the
// history.
func (p Preamble) open(messages []msg.Message) []msg.Message {
	if p.Context == nil || len(messages) == 0 {
		return messages
	}
	parts := p.Context()
	if len(parts) == 0 {
		return messages
	}
	if messages[0].Role != msg.User {
		return slices.Insert(messages, 0, msg.Message{Role: msg.User, Parts: parts})
	}
	messages[0].Parts = slices.Concat(parts, messages[0].Parts)
	return messages
}

// A reader converts the history into messages for one model, without other models' reasoning
// and without rejected media. It caches the messages, since a history only grows.
type reader struct {
	to    messageFilter
	conv  msg.Conversation
	first string // ID of the first entry
	read  int    // number of entries read
	told  int    // problems already logged
}

// A messageFilter determines which parts of the history a model receives.
type messageFilter struct {
	model    string
	noMedia  bool
	withheld *WithheldReasoning // nil if nothing is withheld
	count    int                // number of withheld answers
}

// includesReasoning reports whether an answer's reasoning is sent.
func (a messageFilter) includesReasoning(e msg.Entry) bool {
	return e.Model == a.model && (a.withheld == nil || !a.withheld.ids[e.ID])
}

// messages returns the well-formed history for an audience.
func (rd *reader) messages(entries []msg.Entry, to messageFilter, log *slog.Logger) []msg.Message {
	if len(entries) < rd.read || rd.read > 0 && entries[0].ID != rd.first || rd.to != to {
		*rd = reader{to: to}
	}
	if len(entries) > 0 {
		rd.first = entries[0].ID
	}
	for _, e := range entries[rd.read:] {
		m := e.Message
		if m.Role == msg.Assistant && !to.includesReasoning(e) {
			m.Parts = msg.WithoutThinking(m.Parts)
		}
		if to.noMedia {
			m.Parts = withoutMedia(m.Parts)
		}
		rd.conv.Add(m)
	}
	rd.read = len(entries)
	messages, problems := rd.conv.Messages()
	for _, p := range problems[min(rd.told, len(problems)):] {
		log.Warn("history mended", "message", p.Message, "problem", p.Text)
	}
	rd.told = len(problems)
	return messages
}

// Messages returns a history as well-formed messages for a model, without withheld reasoning.
func Messages(entries []msg.Entry, m Model, w *WithheldReasoning) []msg.Message {
	return new(reader).messages(entries, messageFilter{model: m.ID, withheld: w}, slog.New(slog.DiscardHandler))
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

package gemini

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// An encoder builds request bodies. It caches the encoded messages of the last request and
// encodes only changed ones, recognizing unchanged messages by the identity of their parts. A
// request's system prompt, tools and contents are a byte-exact prefix of the next request's, as
// long as the next one only adds messages.
type encoder struct {
	dialect Dialect
	older   bool            // the contents are for an older model
	said    wire.Transcript // encoded contents, comma-separated
	front   front
}

// EncodeBody implements [wire.Encoder]. Members of extra replace options of the same name;
// generationConfig is merged member by member. They must not affect the conversation.
func (e *encoder) EncodeBody(req *model.Request, extra json.RawMessage) (wire.Body, error) {
	head, err := options(req, extra)
	if err != nil {
		return nil, err
	}
	return e.body(req, head), nil
}

func (e *encoder) body(req *model.Request, head []byte) wire.Body {
	if older := isOlder(req.Model); older != e.older {
		e.said.Reset()
		e.older = older
	}
	e.said.Update(req.Messages, e.write)
	body := e.said.AppendTo(wire.Body{head, e.front.encode(e.dialect, req)}, 0, e.said.Len())
	return append(body, []byte("]}"))
}

// Continues implements [wire.Encoder].
func (e *encoder) Continues(req *model.Request) bool {
	return e.said.Continues(req.Messages)
}

// LeftOut implements [wire.SelectiveEncoder].
func (e *encoder) LeftOut() []string { return e.front.leftOut }

// emptyMessage replaces a message without sendable content, so that roles still alternate.
const emptyMessage = `{"text":"(nothing to show)"}`

// write appends a message to the preceding ones.
func (e *encoder) write(dst []byte, after bool, m *wire.EncodedMessage) []byte {
	if after {
		dst = append(dst, ',')
	}
	role := "user"
	if m.Role == msg.Assistant {
		role = "model"
	}
	dst = append(dst, `{"role":"`...)
	dst = append(dst, role...)
	dst = append(dst, `","parts":[`...)
	w := contentWriter{buf: dst, start: len(dst), dialect: e.dialect, older: e.older}
	if m.Role == msg.Assistant {
		w.answer(m.Parts)
	} else {
		var asked []msg.Part
		if before := e.said.Messages(); len(before) > 0 {
			asked = before[len(before)-1].Parts
		}
		w.prompt(m.Parts, asked)
	}
	if len(w.buf) == w.start {
		w.buf = append(w.buf, emptyMessage...)
	}
	return append(w.buf, "]}"...)
}

// A contentWriter writes the parts of one message.
type contentWriter struct {
	buf     []byte
	start   int // start of the parts
	dialect Dialect
	older   bool
}

// part begins a part. begin is its first member without the brace.
func (w *contentWriter) part(begin string) {
	if len(w.buf) > w.start {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, begin...)
}

func (w *contentWriter) text(text string) {
	w.part(`{"text":`)
	w.buf = append(msg.AppendString(w.buf, text), '}')
}

func (w *contentWriter) media(mediaType string, data []byte) {
	w.part("")
	w.buf = appendMedia(w.buf, mediaType, data)
}

func appendMedia(dst []byte, mediaType string, data []byte) []byte {
	dst = append(dst, `{"inlineData":{"mimeType":`...)
	dst = msg.AppendString(dst, mediaType)
	dst = append(dst, `,"data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, `"}}`...)
}

// foreignCall is the documented signature for a call that the service has not made itself: it
// rejects the first call of a step without a signature.
const foreignCall = "skip_thought_signature_validator"

// answer writes a model's parts. It omits reasoning of other dialects and unknown parts.
func (w *contentWriter) answer(parts []msg.Part) {
	next := ""     // signature of the next part
	calls := false // a call was written
	sign := func(with string) {
		if with != "" {
			w.buf = append(w.buf, `,"thoughtSignature":`...)
			w.buf = msg.AppendString(w.buf, with)
		}
		w.buf = append(w.buf, '}')
		next = ""
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Thinking:
			s, ok := signatureOf(p)
			switch {
			case !ok:
			case s.on == onNext:
				next = s.data
			case s.on == onThought:
				w.part(`{"thought":true,"text":`)
				w.buf = msg.AppendString(w.buf, p.Text)
				sign(s.data)
			default:
				w.part(`{"text":""`)
				sign(s.data)
			}
		case *msg.Text:
			w.part(`{"text":`)
			w.buf = msg.AppendString(w.buf, p.Text)
			sign(next)
		case *msg.ToolUse:
			w.call(p)
			if next == "" && !calls && !w.older {
				next = foreignCall
			}
			calls = true
			sign(next)
		}
	}
}

// call writes a call without its closing brace.
func (w *contentWriter) call(u *msg.ToolUse) {
	w.part(`{"functionCall":{`)
	w.id(u.ID)
	w.buf = append(w.buf, `"name":`...)
	w.buf = msg.AppendString(w.buf, wireName(u.Name))
	w.buf = append(w.buf, `,"args":`...)
	if len(u.Input) == 0 {
		w.buf = append(w.buf, '{', '}')
	}
	w.buf = append(w.buf, u.Input...)
	w.buf = append(w.buf, '}')
}

func (w *contentWriter) id(id string) {
	if w.dialect.NoCallIDs {
		return
	}
	w.buf = append(w.buf, `"id":`...)
	w.buf = msg.AppendString(w.buf, id)
	w.buf = append(w.buf, ',')
}

// prompt writes the user's parts. Tool results come first, as the service requires; asked holds
// the parts of the previous message, which name the tools.
func (w *contentWriter) prompt(parts, asked []msg.Part) {
	flat := w.dialect.FlatResults || w.older
	for _, p := range parts {
		if r, ok := p.(*msg.ToolResult); ok {
			w.result(r, toolOf(asked, r.ID), flat)
		}
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.ToolResult:
			if flat {
				w.moved(p, toolOf(asked, p.ID))
			}
		default:
			if mediaType, data, ok := mediaOf(p); ok {
				w.media(mediaType, data)
			} else if text, ok := textOf(p); ok {
				w.text(text)
			}
		}
	}
}

// toolOf returns the name of the tool called with the given ID, or "".
func toolOf(parts []msg.Part, id string) string {
	for _, p := range parts {
		if u, ok := p.(*msg.ToolUse); ok && u.ID == id {
			return u.Name
		}
	}
	return ""
}

// result writes a result. A result without a call, which does not occur in a well-formed
// conversation, becomes text, so that no tool output is lost.
func (w *contentWriter) result(r *msg.ToolResult, tool string, flat bool) {
	if tool == "" {
		w.text("Result of the call " + r.ID + ":\n" + resultText(r, flat))
		return
	}
	w.part(`{"functionResponse":{`)
	w.id(r.ID)
	w.buf = append(w.buf, `"name":`...)
	w.buf = msg.AppendString(w.buf, wireName(tool))
	key := `,"response":{"output":`
	if r.IsError {
		key = `,"response":{"error":`
	}
	w.buf = append(w.buf, key...)
	w.buf = msg.AppendString(w.buf, resultText(r, flat))
	w.buf = append(w.buf, '}')
	sep := `,"parts":[`
	for _, p := range r.Parts {
		if mediaType, data, ok := mediaOf(p); ok && !flat {
			w.buf = append(w.buf, sep...)
			w.buf = appendMedia(w.buf, mediaType, data)
			sep = ","
		}
	}
	if sep == "," {
		w.buf = append(w.buf, ']')
	}
	w.buf = append(w.buf, "}}"...)
}

// resultText returns a result's texts, with references to content moved elsewhere.
func resultText(r *msg.ToolResult, flat bool) string {
	var texts []string
	for _, p := range r.Parts {
		if text, ok := textOf(p); ok {
			texts = append(texts, text)
		} else if mediaType, _, ok := mediaOf(p); ok && flat {
			texts = append(texts, "("+mediaType+" follows the results)")
		}
	}
	return strings.Join(texts, "\n")
}

// mediaTypes lists the file types that the service reads itself.
var mediaTypes = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"}

// mediaOf returns an image or a document that can be sent as it is.
func mediaOf(p msg.Part) (mediaType string, data []byte, ok bool) {
	switch p := p.(type) {
	case *msg.Image:
		mediaType, data = p.MediaType, p.Data
	case *msg.Document:
		mediaType, data = p.MediaType, p.Data
	}
	return mediaType, data, slices.Contains(mediaTypes, mediaType)
}

// textOf returns a text, or the replacement text for a part that the service cannot read.
func textOf(p msg.Part) (text string, ok bool) {
	leftOut := func(what, mediaType string) string {
		return "[" + what + " of type " + mediaType + " is left out: the model cannot read it.]"
	}
	switch p := p.(type) {
	case *msg.Text:
		return p.Text, true
	case *msg.Image:
		return leftOut("An image", p.MediaType), !slices.Contains(mediaTypes, p.MediaType)
	case *msg.Document:
		if strings.HasPrefix(p.MediaType, "text/") && utf8.Valid(p.Data) {
			return strings.TrimSpace(p.Title + "\n\n" + string(p.Data)), true
		}
		return leftOut("A document", p.MediaType), !slices.Contains(mediaTypes, p.MediaType)
	}
	return "", false
}

// moved writes a result's images and documents after it.
func (w *contentWriter) moved(r *msg.ToolResult, tool string) {
	for _, p := range r.Parts {
		if mediaType, data, ok := mediaOf(p); ok {
			w.text(mediaType + " in the result of " + tool + " (call " + r.ID + "):")
			w.media(mediaType, data)
		}
	}
}

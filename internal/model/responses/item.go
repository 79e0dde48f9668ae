package responses

import (
	"encoding/base64"
	"strings"

	"adze/internal/model/toolname"
	"adze/internal/msg"
)

// appendMessage appends a message's items, comma-separated, with a leading comma if anything
// precedes them.
func (d Dialect) appendMessage(dst []byte, m msg.Message) []byte {
	if m.Role == msg.Assistant {
		return d.appendAnswer(dst, m.Parts)
	}
	var moved []msg.Part // media from text-only results
	var said []msg.Part
	for _, p := range m.Parts {
		if r, ok := p.(*msg.ToolResult); ok {
			dst, moved = d.appendResult(separate(dst), r, moved)
		} else {
			said = append(said, p)
		}
	}
	open := false
	for _, p := range append(moved, said...) {
		if _, ok := p.(*msg.Opaque); ok {
			continue
		}
		if open {
			dst = append(dst, ',')
		} else {
			dst = append(separate(dst), `{"type":"message","role":"user","content":[`...)
		}
		open = true
		dst = appendContent(dst, p)
	}
	if open {
		dst = append(dst, "]}"...)
	}
	return dst
}

func separate(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != ',' {
		dst = append(dst, ',')
	}
	return dst
}

// appendAnswer appends an assistant message. Reasoning precedes the output it led to; reasoning
// of another dialect, or without any output, is omitted because the server rejects it.
func (d Dialect) appendAnswer(dst []byte, parts []msg.Part) []byte {
	var led []string
	phase := ""
	begin := func() {
		for _, item := range led {
			dst = append(separate(dst), item...)
		}
		led = nil
		dst = separate(dst)
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Thinking:
			if item, ok := own(p.Signature); ok && strings.HasPrefix(item, phaseMember) {
				phase = "," + item[1:len(item)-1]
			} else if ok {
				led = append(led, item)
			}
		case *msg.Text:
			begin()
			dst = append(dst, `{"type":"message","role":"assistant"`+phase+`,"content":[`...)
			phase = ""
			dst = append(appendText(dst, "output_text", p.Text), "]}"...)
		case *msg.ToolUse:
			begin()
			dst = append(dst, `{"type":"function_call","call_id":`...)
			dst = msg.AppendString(dst, callID(p.ID))
			dst = append(dst, `,"name":`...)
			dst = msg.AppendString(dst, toolname.Restrict(p.Name))
			dst = append(dst, `,"arguments":`...)
			input := string(p.Input)
			if input == "" {
				input = "{}"
			}
			dst = append(msg.AppendString(dst, input), '}')
		}
	}
	return dst
}

// callID returns an ID that is short enough for a server.
func callID(id string) string { return toolname.Restrict(id) }

// failedCall prefixes the result of a failed call, because the server has no error flag.
const failedCall = "The call failed:\n"

// appendResult appends a call's result: as a string if it is a single text, otherwise as a
// list. Media that it cannot contain are added to moved.
func (d Dialect) appendResult(dst []byte, r *msg.ToolResult, moved []msg.Part) ([]byte, []msg.Part) {
	parts := make([]msg.Part, 0, len(r.Parts)+1)
	for _, p := range r.Parts {
		switch p.(type) {
		case *msg.Text:
		case *msg.Image, *msg.Document:
			if d.TextResults {
				note := "[An attachment of this result follows in the next message.]"
				moved = append(moved, &msg.Text{Text: "[Attachment of the result of call " + callID(r.ID) + ":]"}, p)
				p = &msg.Text{Text: note}
			}
		default:
			continue
		}
		parts = append(parts, p)
	}
	if r.IsError {
		if t, ok := first(parts).(*msg.Text); ok {
			parts[0] = &msg.Text{Text: failedCall + t.Text}
		} else {
			parts = append([]msg.Part{&msg.Text{Text: failedCall}}, parts...)
		}
	}
	dst = append(dst, `{"type":"function_call_output","call_id":`...)
	dst = msg.AppendString(dst, callID(r.ID))
	dst = append(dst, `,"output":`...)
	switch t, ok := first(parts).(*msg.Text); {
	case len(parts) == 0:
		dst = append(dst, `""`...)
	case len(parts) == 1 && ok:
		dst = msg.AppendString(dst, t.Text)
	case d.TextResults:
		dst = msg.AppendString(dst, joined(parts))
	default:
		for i, p := range parts {
			dst = appendContent(append(dst, "[,"[min(i, 1)]), p)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}'), moved
}

func first(parts []msg.Part) msg.Part {
	if len(parts) == 0 {
		return nil
	}
	return parts[0]
}

// joined returns texts joined with line breaks.
func joined(parts []msg.Part) string {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(*msg.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// appendContent appends a part of a user message or a result. Content that the server cannot
// read becomes text.
func appendContent(dst []byte, p msg.Part) []byte {
	switch p := p.(type) {
	case *msg.Text:
		return appendText(dst, "input_text", p.Text)
	case *msg.Image:
		switch p.MediaType {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			dst = append(dst, `{"type":"input_image","detail":"auto","image_url":`...)
			return append(appendData(dst, p.MediaType, p.Data), '}')
		}
		return appendText(dst, "input_text", "[An image of type "+p.MediaType+" is left out: the model cannot read it.]")
	case *msg.Document:
		switch {
		case p.MediaType == "application/pdf":
			dst = append(dst, `{"type":"input_file","filename":`...)
			dst = msg.AppendString(dst, fileName(p.Title))
			dst = append(dst, `,"file_data":`...)
			return append(appendData(dst, p.MediaType, p.Data), '}')
		case strings.HasPrefix(p.MediaType, "text/"):
			text := strings.ToValidUTF8(string(p.Data), "\ufffd")
			if p.Title != "" {
				text = p.Title + ":\n" + text
			}
			return appendText(dst, "input_text", text)
		}
		return appendText(dst, "input_text", "[A document of type "+p.MediaType+" is left out: the model cannot read it.]")
	}
	return appendText(dst, "input_text", "[A part of the conversation is left out: the model cannot read it.]")
}

// fileName returns a document's file name, which the server requires.
func fileName(title string) string {
	if title == "" {
		return "document.pdf"
	}
	return title
}

func appendText(dst []byte, kind, text string) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","text":`...)
	return append(msg.AppendString(dst, text), '}')
}

// appendData appends a file as a data URI string.
func appendData(dst []byte, mediaType string, data []byte) []byte {
	dst = append(dst, `"data:`...)
	dst = append(dst, mediaType...)
	dst = append(dst, ";base64,"...)
	return append(base64.StdEncoding.AppendEncode(dst, data), '"')
}

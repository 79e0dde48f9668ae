package chat

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"adze/internal/model/toolname"
	"adze/internal/msg"
)

// A writer converts a message to one or more wire messages.
type writer struct {
	dialect Dialect
	buf     []byte
	start   int // start of the message in buf
	mark    int // offset for a cache mark, or -1
}

// open begins a message.
func (w *writer) open(role string) {
	if len(w.buf) > w.start {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, `{"role":"`...)
	w.buf = append(w.buf, role...)
	w.buf = append(w.buf, '"')
}

// nothing replaces a message without sendable content, such as one with only another provider's
// blocks.
const nothing = "(nothing to show)"

// errorMark prefixes the result of a failed call, because the wire has no error flag.
const errorMark = "Error: "

// user writes a user message: first the results, each as a separate message, then the rest.
// Images in results are moved to the rest, because a result can only be text.
func (w *writer) user(parts []msg.Part) {
	var rest []msg.Part
	for _, p := range parts {
		if r, ok := p.(*msg.ToolResult); ok {
			rest = w.result(rest, r)
		}
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text, *msg.Image:
			rest = append(rest, p)
		case *msg.Document:
			rest = append(rest, w.document(p))
		}
	}
	if len(rest) == 0 && len(w.buf) > w.start {
		return
	}
	w.open("user")
	w.buf = append(w.buf, `,"content":`...)
	w.content(rest)
	w.buf = append(w.buf, '}')
}

// result writes a call's result and returns rest with the parts that it cannot hold.
func (w *writer) result(rest []msg.Part, r *msg.ToolResult) []msg.Part {
	var text strings.Builder
	if r.IsError {
		text.WriteString(errorMark)
	}
	line := ""
	say := func(s string) {
		text.WriteString(line)
		text.WriteString(s)
		line = "\n"
	}
	moved := 0
	for _, p := range r.Parts {
		if d, ok := p.(*msg.Document); ok {
			p = w.document(d)
		}
		switch p := p.(type) {
		case *msg.Text:
			say(p.Text)
		case *msg.Image, *msg.Document:
			moved++
			say(fmt.Sprintf("(attachment %d of this result follows in the next message)", moved))
			label := fmt.Sprintf("Attachment %d of the result of the tool call %s:", moved, w.dialect.callID(r.ID))
			rest = append(rest, &msg.Text{Text: label}, p)
		}
	}
	if line == "" {
		say(msg.NoOutput)
	}
	if w.dialect.TextTools {
		return append(rest, &msg.Text{Text: "<tool_response>\n" + text.String() + "\n</tool_response>"})
	}
	w.open("tool")
	w.buf = append(w.buf, `,"tool_call_id":`...)
	w.buf = msg.AppendString(w.buf, w.dialect.callID(r.ID))
	w.buf = append(w.buf, `,"content":`...)
	if w.dialect.Marks {
		w.content([]msg.Part{&msg.Text{Text: text.String()}})
	} else {
		w.buf = msg.AppendString(w.buf, text.String())
	}
	w.buf = append(w.buf, '}')
	return rest
}

// document returns a document, or a text in its place: its own, or a note that the model cannot
// see it.
func (w *writer) document(d *msg.Document) msg.Part {
	title := d.Title
	if title == "" {
		title = "document"
	}
	switch {
	case strings.HasPrefix(d.MediaType, "text/"):
		return &msg.Text{Text: title + ":\n" + string(d.Data)}
	case w.dialect.Documents:
		return d
	}
	return &msg.Text{Text: fmt.Sprintf("[%s (%s) was left out: this provider does not support such documents. If you need it, tell the user.]", title, d.MediaType)}
}

// content writes parts as a string if they are a single text, otherwise as a list.
func (w *writer) content(parts []msg.Part) {
	if len(parts) == 0 {
		parts = []msg.Part{&msg.Text{Text: nothing}}
	}
	if t, ok := parts[0].(*msg.Text); ok && len(parts) == 1 && !w.dialect.Marks {
		w.buf = msg.AppendString(w.buf, t.Text)
		return
	}
	for i, p := range parts {
		w.buf = append(w.buf, "[,"[min(i, 1)])
		switch p := p.(type) {
		case *msg.Text:
			w.buf = append(w.buf, `{"type":"text","text":`...)
			w.buf = msg.AppendString(w.buf, p.Text)
			w.mark = len(w.buf)
			w.buf = append(w.buf, '}')
		case *msg.Image:
			w.buf = append(w.buf, `{"type":"image_url","image_url":{"url":`...)
			w.data(p.MediaType, p.Data)
			w.buf = append(w.buf, "}}"...)
		case *msg.Document:
			name := p.Title
			if name == "" {
				name = "document.pdf"
			}
			w.buf = append(w.buf, `{"type":"file","file":{"filename":`...)
			w.buf = msg.AppendString(w.buf, name)
			w.buf = append(w.buf, `,"file_data":`...)
			w.data(p.MediaType, p.Data)
			w.buf = append(w.buf, "}}"...)
		}
	}
	w.buf = append(w.buf, ']')
}

// data writes a file as a data URL.
func (w *writer) data(mediaType string, data []byte) {
	w.buf = msg.AppendString(w.buf, "data:"+mediaType+";base64,")
	w.buf = base64.StdEncoding.AppendEncode(w.buf[:len(w.buf)-1], data)
	w.buf = append(w.buf, '"')
}

// assistant writes an assistant message.
func (w *writer) assistant(parts []msg.Part) {
	var text []byte
	var uses []*msg.ToolUse
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text:
			if len(text) > 0 {
				text = append(text, "\n\n"...)
			}
			text = append(text, p.Text...)
		case *msg.ToolUse:
			if w.dialect.TextTools {
				text = appendTextCall(text, p)
			} else {
				uses = append(uses, p)
			}
		}
	}
	if len(text) == 0 && len(uses) == 0 {
		text = []byte(nothing)
	}
	w.open("assistant")
	w.reasoning(parts)
	w.buf = append(w.buf, `,"content":`...)
	if len(text) == 0 {
		w.buf = append(w.buf, "null"...)
	} else {
		w.buf = msg.AppendString(w.buf, string(text))
	}
	for i, u := range uses {
		if i == 0 {
			w.buf = append(w.buf, `,"tool_calls":[`...)
		} else {
			w.buf = append(w.buf, ',')
		}
		w.call(u)
	}
	if len(uses) > 0 {
		w.buf = append(w.buf, ']')
	}
	w.buf = append(w.buf, '}')
}

func (w *writer) call(u *msg.ToolUse) {
	w.buf = append(w.buf, `{"id":`...)
	w.buf = msg.AppendString(w.buf, w.dialect.callID(u.ID))
	w.buf = append(w.buf, `,"type":"function","function":{"name":`...)
	w.buf = msg.AppendString(w.buf, toolname.Restrict(u.Name))
	w.buf = append(w.buf, `,"arguments":`...)
	if len(u.Input) == 0 {
		w.buf = append(w.buf, `"{}"`...)
	} else {
		w.buf = msg.AppendString(w.buf, string(u.Input))
	}
	w.buf = append(w.buf, "}}"...)
}

// signature prefixes the signatures of this dialect, for reasoning that is sent back as
// received. The list of details follows, or the name of the member that held the text.
const signature = "chat:"

// reasoningMembers lists the names under which servers send reasoning text.
var reasoningMembers = [...]string{"reasoning_content", "reasoning", "thinking"}

// reasoning writes the reasoning in parts that is sent back to this server.
func (w *writer) reasoning(parts []msg.Part) {
	var text, details []byte
	came := "" // member name
	for _, p := range parts {
		t, ok := p.(*msg.Thinking)
		if !ok || !strings.HasPrefix(t.Signature, signature) {
			continue
		}
		switch how := t.Signature[len(signature):]; {
		case slices.Contains(reasoningMembers[:], how):
			came = how
		case len(how) > 2 && how[0] == '[': // more than []
			if len(details) > 0 {
				details = append(details, ',')
			}
			details = append(details, how[1:len(how)-1]...)
		}
		text = append(text, t.Text...)
	}
	member := ""
	switch w.dialect.Replay {
	case ReplayContent:
		member = "reasoning_content"
	case ReplayText:
		member = "reasoning"
	case ReplayDetails, ReplaySame:
		if len(details) > 0 {
			w.buf = append(w.buf, `,"reasoning_details":[`...)
			w.buf = append(append(w.buf, details...), ']')
			return
		}
		if w.dialect.Replay == ReplaySame {
			member = came
		}
	}
	if member != "" && len(text) > 0 {
		w.buf = append(w.buf, `,"`+member+`":`...)
		w.buf = msg.AppendString(w.buf, string(text))
	}
}

const (
	// maxID is the maximum length of a call ID.
	maxID = 40
	// shortID is the exact length if ids must be short.
	shortID = 9
)

// callID returns a call ID that the server accepts. IDs of other providers may be longer.
func (d Dialect) callID(id string) string {
	if !d.ShortIDs && len(id) <= maxID {
		return id
	}
	if d.ShortIDs && len(id) == shortID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	if !d.ShortIDs {
		return "call_" + hex.EncodeToString(sum[:])[:32]
	}
	const digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	short := make([]byte, shortID)
	for i := range short {
		short[i] = digits[int(sum[i])%len(digits)]
	}
	return string(short)
}

package msg

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// This is the JSON form used in the log: a list of content blocks, each on one line, that
// round-trips to the same message. Providers encode requests in their own dialects.

// AppendMessage appends m as {"role":…,"content":[…]}. Equal messages give equal bytes.
func AppendMessage(dst []byte, m Message) []byte {
	dst = append(dst, `{"role":"`...)
	dst = append(dst, m.Role...)
	dst = append(dst, `","content":`...)
	dst = AppendParts(dst, m.Parts)
	return append(dst, '}')
}

// AppendParts appends parts as a JSON array.
func AppendParts(dst []byte, parts []Part) []byte {
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendPart(dst, p)
	}
	return append(dst, ']')
}

// AppendPart appends one part as a JSON object.
func AppendPart(dst []byte, p Part) []byte {
	switch p := p.(type) {
	case *Text:
		dst = append(dst, `{"type":"text","text":`...)
		dst = AppendString(dst, p.Text)
	case *Thinking:
		dst = append(dst, `{"type":"thinking","thinking":`...)
		dst = AppendString(dst, p.Text)
		dst = append(dst, `,"signature":`...)
		dst = AppendString(dst, p.Signature)
	case *Redacted:
		dst = append(dst, `{"type":"redacted_thinking","data":`...)
		dst = AppendString(dst, p.Data)
	case *ToolUse:
		dst = append(dst, `{"type":"tool_use","id":`...)
		dst = AppendString(dst, p.ID)
		dst = append(dst, `,"name":`...)
		dst = AppendString(dst, p.Name)
		dst = append(dst, `,"input":`...)
		switch {
		case len(p.Input) == 0:
			dst = append(dst, '{', '}')
		case survivesLine(p.Input):
			dst = append(dst, p.Input...)
		default:
			dst = appendOneLine(dst, p.Input)
			dst = append(dst, `,"input_text":`...)
			dst = AppendString(dst, string(p.Input))
		}
		if p.Malformed != "" {
			dst = append(dst, `,"malformed_input":`...)
			dst = AppendString(dst, p.Malformed)
		}
	case *ToolResult:
		dst = append(dst, `{"type":"tool_result","tool_use_id":`...)
		dst = AppendString(dst, p.ID)
		dst = append(dst, `,"content":`...)
		dst = AppendParts(dst, p.Parts)
		if p.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
	case *Image:
		dst = append(dst, `{"type":"image",`...)
		dst = appendSource(dst, p.MediaType, p.Data)
	case *Document:
		dst = append(dst, `{"type":"document",`...)
		if p.Title != "" {
			dst = append(dst, `"title":`...)
			dst = AppendString(dst, p.Title)
			dst = append(dst, ',')
		}
		dst = appendSource(dst, p.MediaType, p.Data)
	case *Server:
		return appendOneLine(dst, p.Raw)
	case *Opaque:
		return appendOneLine(dst, p.Raw)
	default:
		panic(fmt.Sprintf("msg: part of type %T", p)) // the set is closed
	}
	return append(dst, '}')
}

// survivesLine reports whether raw round-trips as a value on a single line. Raw bytes from the
// model don't if they contain line breaks or surrounding white space.
func survivesLine(raw json.RawMessage) bool {
	return !bytes.ContainsAny(raw, "\r\n") && len(bytes.Trim(raw, " \t")) == len(raw)
}

// appendOneLine appends raw without line breaks between its tokens, because a log record is one
// line.
func appendOneLine(dst []byte, raw json.RawMessage) []byte {
	if !bytes.ContainsAny(raw, "\r\n") {
		return append(dst, raw...)
	}
	buf := bytes.NewBuffer(dst)
	if err := json.Compact(buf, raw); err != nil {
		return append(dst, "null"...)
	}
	return buf.Bytes()
}

func appendSource(dst []byte, mediaType string, data []byte) []byte {
	dst = append(dst, `"source":{"type":"base64","media_type":`...)
	dst = AppendString(dst, mediaType)
	dst = append(dst, `,"data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"', '}')
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. It escapes the characters JSON requires plus U+2028
// and U+2029, which break line-oriented readers, and writes U+FFFD for invalid UTF-8.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\t':
				dst = append(dst, '\\', 't')
			case '\r':
				dst = append(dst, '\\', 'r')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\ufffd`...)
			start = i + 1
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[start:i]...)
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// MarshalJSON implements [json.Marshaler].
func (m Message) MarshalJSON() ([]byte, error) { return AppendMessage(nil, m), nil }

// UnmarshalJSON reads a message; content may be a string or an array of blocks.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role    Role            `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw.Role != User && raw.Role != Assistant {
		return fmt.Errorf("message role %q is neither user nor assistant", raw.Role)
	}
	parts, err := ParseParts(raw.Content)
	if err != nil {
		return err
	}
	m.Role, m.Parts = raw.Role, parts
	return nil
}

// ParseParts reads content: a string, an array of blocks, or nothing.
func ParseParts(data json.RawMessage) ([]Part, error) {
	switch kind(data) {
	case 0, 'n':
		return nil, nil
	case '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, err
		}
		return []Part{&Text{Text: s}}, nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(data, &blocks); err != nil {
		return nil, fmt.Errorf("message content is neither a string nor a list of blocks: %w", err)
	}
	parts := make([]Part, 0, len(blocks))
	for i, b := range blocks {
		p, err := ParsePart(b)
		if err != nil {
			return nil, fmt.Errorf("content block %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// ParsePart reads one content block. A block of unknown type becomes [Opaque].
func ParsePart(data json.RawMessage) (Part, error) {
	var b struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		InputText string          `json:"input_text"`
		Malformed string          `json:"malformed_input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
		Title     string          `json:"title"`
		Source    *source         `json:"source"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		// Blocks kept verbatim may use our field names with values of other types.
		var mismatch *json.UnmarshalTypeError
		if !errors.As(err, &mismatch) || !keptVerbatim(b.Type) {
			return nil, err
		}
	}
	switch b.Type {
	case "text":
		return &Text{Text: b.Text}, nil
	case "thinking":
		return &Thinking{Text: b.Thinking, Signature: b.Signature}, nil
	case "redacted_thinking":
		return &Redacted{Data: b.Data}, nil
	case "tool_use":
		if b.InputText != "" {
			b.Input = json.RawMessage(b.InputText)
		}
		u := NewToolUse(b.ID, b.Name, string(b.Input))
		if u.Malformed == "" {
			u.Malformed = b.Malformed
		}
		return u, nil
	case "tool_result":
		parts, err := ParseParts(b.Content)
		if err != nil {
			return nil, err
		}
		return &ToolResult{ID: b.ToolUseID, Parts: parts, IsError: b.IsError}, nil
	case "image", "document":
		media, raw, ok := b.Source.bytes()
		switch {
		case !ok: // URL or file reference; adze never writes these
			return &Opaque{Raw: clone(data)}, nil
		case b.Type == "image":
			return &Image{MediaType: media, Data: raw}, nil
		default:
			return &Document{MediaType: media, Title: b.Title, Data: raw}, nil
		}
	case "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result":
		return &Server{Raw: clone(data)}, nil
	case "":
		return nil, fmt.Errorf("block without a type")
	}
	return &Opaque{Raw: clone(data)}, nil
}

// keptVerbatim reports whether blocks of this kind are stored verbatim, without being parsed.
func keptVerbatim(kind string) bool {
	switch kind {
	case "", "text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document":
		return false
	}
	return true
}

// NewToolUse returns a tool use with the input the model wrote. An empty input means {}. Input
// that is not a single JSON object is kept as Malformed, so that a request built from the use
// stays valid.
func NewToolUse(id, name, input string) *ToolUse {
	u := &ToolUse{ID: id, Name: name, Input: json.RawMessage("{}")}
	raw := []byte(input)
	switch {
	case len(raw) == 0:
	case kind(raw) == '{' && json.Valid(raw):
		u.Input = raw
	default:
		u.Malformed = input
	}
	return u
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

func (s *source) bytes() (mediaType string, data []byte, ok bool) {
	if s == nil || s.Type != "base64" {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(s.Data)
	return s.MediaType, data, err == nil
}

// kind returns the first byte of data that is not white space, or 0.
func kind(data []byte) byte {
	for _, c := range data {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func clone(data json.RawMessage) json.RawMessage { return append(json.RawMessage(nil), data...) }

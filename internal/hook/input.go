package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Common holds the input fields of every event.
type Common struct {
	Session    string
	Transcript string
	Dir        string // the working directory
	Mode       string // the permission mode
	// AgentID and AgentType identify the conversation's sub-agent; empty for the main
	// conversation.
	AgentID, AgentType string
}

const (
	// maxInput limits a hook's input in bytes; tool results are truncated to fit.
	maxInput = 10 << 20
	// cutInput is the size of a truncated field.
	cutInput = 1 << 20
)

// cuttable lists the fields that grow with a tool's result.
var cuttable = [...]string{"tool_response", "error"}

// input returns the event as one line of JSON, without a newline. A value that cannot be
// encoded becomes null and is reported.
func (e Event) input(c Common, report func(error)) json.RawMessage {
	fields := []field{
		{"session_id", c.Session}, {"transcript_path", c.Transcript}, {"cwd", c.Dir},
		{"permission_mode", c.Mode}, {"hook_event_name", e.Name},
	}
	if c.AgentID != "" {
		fields = append(fields, field{"agent_id", c.AgentID}, field{"agent_type", c.AgentType})
	}
	fields = append(fields, e.fields...)
	values := make([]json.RawMessage, len(fields))
	size := 0
	for i, f := range fields {
		var err error
		if values[i], err = encode(f.value); err != nil {
			report(fmt.Errorf("field %s of a %s hook: %w", f.name, e.Name, err))
			values[i] = json.RawMessage("null")
		}
		size += len(f.name) + len(values[i])
	}
	if size > maxInput {
		for i, f := range fields {
			if slices.Contains(cuttable[:], f.name) && len(values[i]) > cutInput {
				values[i] = cut(values[i])
			}
		}
	}
	return object(fields, values)
}

// cut returns the start of a value as a string that mentions the truncation.
func cut(value json.RawMessage) json.RawMessage {
	text := string(value)
	json.Unmarshal(value, &text) // ok: other types are shown as JSON
	n := min(len(text), cutInput)
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	short, err := encode(fmt.Sprintf("%s\n[cut: %d of %d bytes]", text[:n], n, len(text)))
	if err != nil {
		return json.RawMessage("null")
	}
	return short
}

func object(fields []field, values []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	for i, f := range fields {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", f.name, values[i])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode returns v as compact JSON. Unlike [json.Marshal] it does not escape '<', '>' and '&'.
func encode(v any) (data json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil { // a tool's own encoder may be broken
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if raw, ok := v.(json.RawMessage); ok && len(raw) == 0 {
		return json.RawMessage("null"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

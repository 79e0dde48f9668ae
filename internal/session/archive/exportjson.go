package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/jsonscan"
	"adze/internal/session/store"
)

// exportJSON writes a single object: the session's metadata and its records in order.
func exportJSON(w *bufio.Writer, r io.Reader, info *Info, clean func(name, value string) string) error {
	head, err := json.Marshal(struct {
		ID      string `json:"sessionId"`
		Title   string `json:"title"`
		Dir     string `json:"cwd,omitempty"`
		Branch  string `json:"gitBranch,omitempty"`
		Tag     string `json:"tag,omitempty"`
		Changed string `json:"modified"`
	}{info.ID, clean("", info.Name()), info.Dir, info.Branch, info.Tag, info.Modified.UTC().Format("2006-01-02T15:04:05Z")})
	if err != nil {
		return err
	}
	w.WriteString(`{"session":`) // ok: Flush reports the error
	w.Write(head)
	w.WriteString(",\"records\":[")
	unreadable, first := 0, true
	var buf []byte
	for rec, err := range store.Records(r) {
		if err != nil {
			return err
		}
		if rec.Type == "" && !json.Valid(rec.Line) {
			unreadable++
			continue
		}
		if !first {
			w.WriteByte(',')
		}
		first = false
		w.WriteByte('\n')
		buf = appendClean(buf[:0], rec.Line, clean)
		w.Write(buf)
	}
	tail, err := json.Marshal(unreadable)
	if err != nil {
		return err
	}
	w.WriteString("\n],\"unreadable\":")
	w.Write(tail)
	w.WriteString("}\n")
	return nil
}

// verbatim reports whether a field must not change: it holds an identifier or data, never a
// secret.
func verbatim(name string) bool {
	switch name {
	case "uuid", "parentUuid", "sessionId", "id", "tool_use_id", "data", "signature", "timestamp", "type":
		return true
	}
	return false
}

// appendClean appends a JSON value with its strings cleaned. Everything else stays the same,
// including the order of fields.
func appendClean(dst, value []byte, clean func(name, value string) string) []byte {
	name := ""
	for i := 0; i < len(value); {
		n := bytes.IndexByte(value[i:], '"')
		if n < 0 {
			return append(dst, value[i:]...)
		}
		dst = append(dst, value[i:i+n]...)
		i += n
		c := jsonscan.Lazy(value[i:])
		raw := c.Skip()
		if c.Err() != nil {
			return append(dst, value[i:]...) // unreachable: the value was parsed before
		}
		i += len(raw)
		text := jsonscan.Lazy(raw)
		s := text.String()
		if rest := bytes.TrimLeft(value[i:min(len(value), i+8)], " \t"); len(rest) > 0 && rest[0] == ':' {
			name = s
			dst = append(dst, raw...)
			continue
		}
		if cleaned := s; !verbatim(name) {
			if cleaned = clean(name, s); cleaned != s {
				dst = msg.AppendString(dst, cleaned)
				continue
			}
		}
		dst = append(dst, raw...)
	}
	return dst
}

// keysInOrder returns the field names of an object.
func keysInOrder(object json.RawMessage) []string {
	var names []string
	c := jsonscan.Lazy(object)
	for key := range c.Members {
		c.Skip()
		if name := string(key); !strings.Contains(name, `\`) {
			names = append(names, name)
		}
	}
	return names
}

package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"adze/internal/platform/text/amount"
)

var errNoPlace = errors.New("this session keeps no files")

// Limits on the description of JSON.
const (
	maxKeys  = 12
	maxShape = 600
	maxKey   = 40
)

// describe summarizes a JSON text in one line: its members with their types, and the members of
// a list's first element. It returns "" if text is not JSON.
func describe(text string) string {
	data := []byte(text)
	if !json.Valid(data) {
		return ""
	}
	said := shapeOf(data, 2)
	if r := []rune(said); len(r) > maxShape {
		said = string(r[:maxShape]) + "…"
	}
	return said
}

// shapeOf describes a value and its contents down to a depth.
func shapeOf(data json.RawMessage, depth int) string {
	switch data = bytes.TrimSpace(data); data[0] {
	case '{':
		return objectShape(data, depth)
	case '[':
		return listShape(data, depth)
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func objectShape(data json.RawMessage, depth int) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.Token() // ok: the text is valid; it is the brace
	var keys []string
	more := 0
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break // ok: the part read is described
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break // ok: as above
		}
		if len(keys) == maxKeys {
			more++
			continue
		}
		name := fmt.Sprint(key)
		if r := []rune(name); len(r) > maxKey {
			name = string(r[:maxKey]) + "…"
		}
		if depth > 0 {
			name += ": " + shapeOf(value, depth-1)
		}
		keys = append(keys, name)
	}
	if more > 0 {
		keys = append(keys, fmt.Sprintf("… %d more", more))
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

func listShape(data json.RawMessage, depth int) string {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.Token() // ok: the text is valid; it is the bracket
	n, first := 0, ""
	for dec.More() {
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break // ok: the part read is described
		}
		if n++; n == 1 && depth > 0 {
			first = " like " + shapeOf(value, depth-1)
		}
	}
	return "a list of " + amount.Of(n, "element", "elements") + first
}

package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A document is a settings file, or what takes the place of one.
type document struct {
	name string
	data []byte // a JSON object, or nothing
}

// A member is a value in a document.
type member struct {
	path   string // names of the levels with dots between
	offset int    // of the value
	raw    json.RawMessage
}

// parse checks that data is one JSON object. An error adds its position to the document's name.
func (d *document) parse(data []byte) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d.data = data
	if len(bytes.TrimSpace(data)) == 0 {
		d.data = nil
		return nil
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(data, &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		d.name = d.at(max(0, int(syntax.Offset)-1))
		return fmt.Errorf("is not JSON: %w", err)
	case err != nil || object == nil:
		d.name = d.at(0)
		return errors.New("is not a JSON object")
	}
	return nil
}

// at names a position in the document.
func (d *document) at(offset int) string {
	before := d.data[:min(offset, len(d.data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%s:%d:%d", d.name, line, column)
}

// members returns the values of the document, in order. It looks into the objects that branch says
// are not values.
func (d *document) members(branch func(path string) bool) []member {
	return appendMembers(nil, d.data, 0, "", branch)
}

func appendMembers(list []member, object []byte, base int, prefix string, branch func(string) bool) []member {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil { // the opening brace; none if the document is empty
		return list
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return list
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
			return list
		}
		m := member{path: prefix + fmt.Sprint(name), offset: base + int(dec.InputOffset()) - len(raw), raw: raw}
		if raw[0] == '{' && branch(m.path) {
			list = appendMembers(list, raw, m.offset, m.path+".", branch)
			continue
		}
		list = append(list, m)
	}
	return list
}

package schema

import (
	"bytes"
	"encoding/json"
	"slices"

	"adze/internal/msg"
)

// Describe returns a schema with replaced parameter descriptions, and otherwise identical
// bytes. Text is called for each parameter that has a description, by name, "outer/inner" if
// nested; it returns false to keep the description. Invalid JSON is returned unchanged.
func Describe(schema json.RawMessage, text func(param string) (string, bool)) json.RawMessage {
	d := describer{dec: json.NewDecoder(bytes.NewReader(schema)), schema: schema, text: text}
	if d.value("", false) != nil {
		return schema
	}
	return slices.Concat(d.done, schema[d.end:])
}

// A describer copies a schema up to its last replaced description.
type describer struct {
	dec    *json.Decoder
	schema json.RawMessage
	text   func(string) (string, bool)
	done   []byte
	end    int64 // end of the copied part of the schema
}

// value processes the next value: the schema of the parameter at path or, if named is set, an
// object whose keys are parameter names.
func (d *describer) value(path string, named bool) error {
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		for d.dec.More() {
			if err := d.value(path, false); err != nil {
				return err
			}
		}
	case json.Delim('{'):
		for d.dec.More() {
			if err := d.member(path, named); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = d.dec.Token() // closing delimiter
	return err
}

func (d *describer) member(path string, named bool) error {
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	switch key := token.(string); {
	case named && path == "":
		return d.value(key, false)
	case named:
		return d.value(path+"/"+key, false)
	case key == "description":
		return d.description(path)
	default:
		return d.value(path, key == "properties")
	}
}

// description replaces the next value, if it is a string with a replacement.
func (d *describer) description(path string) error {
	from := d.dec.InputOffset()
	var old json.RawMessage
	if err := d.dec.Decode(&old); err != nil || len(old) == 0 || old[0] != '"' || path == "" {
		return err
	}
	text, ok := d.text(path)
	if !ok {
		return nil
	}
	to := d.dec.InputOffset()
	from += int64(bytes.IndexByte(d.schema[from:to], '"'))
	d.done = append(d.done, d.schema[d.end:from]...)
	d.done = msg.AppendString(d.done, text)
	d.end = to
	return nil
}

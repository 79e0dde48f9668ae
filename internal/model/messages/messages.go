// Package messages is the Messages wire dialect: it writes request bodies, reads streamed and whole
// responses, classifies error responses, and checks request bodies against the rules a server
// enforces. Connections, credentials and retries belong to the providers that use it.
package messages

import (
	"bytes"
	"encoding/json"
	"errors"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// Dialect implements [wire.Dialect] and [wire.Counting].
type Dialect struct{}

// Path implements [wire.Dialect].
func (Dialect) Path(*model.Request) string { return "v1/messages" }

// NewEncoder implements [wire.Dialect].
func (Dialect) NewEncoder() wire.Encoder { return new(Encoder) }

// NewDecoder implements [wire.Dialect].
func (Dialect) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{requestID: requestID, raw: raw}
}

// A member is one name and value of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members returns the members of the JSON object raw in their order.
func members(raw []byte) ([]member, error) {
	if !json.Valid(raw) {
		return nil, errors.New("not valid JSON")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var ms []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		ms = append(ms, member{name.(string), value})
	}
	return ms, nil
}

// set returns ms with the member name set to value, in its place if it is there and last if not.
func set(ms []member, name string, value json.RawMessage) []member {
	for i := range ms {
		if ms[i].name == name {
			ms[i].value = value
			return ms
		}
	}
	return append(ms, member{name, value})
}

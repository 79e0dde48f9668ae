package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"adze/internal/platform/text/jsonscan"
)

const (
	// largeMessage is the size from which a response is read in place: the SDK copies it
	// several times.
	largeMessage = 64 << 10
	// maxSkipped limits the bytes skipped of an oversized line.
	maxSkipped = 1 << 30
	// edge is the number of bytes kept from the start and end of such a line, to identify the
	// request it answers.
	edge = 200
	// chunkSize is the size of the pieces in which a line is kept.
	chunkSize = 1 << 20
)

// decodeMessage decodes a message. It may keep the data.
func decodeMessage(data []byte) (jsonrpc.Message, error) {
	if len(data) < largeMessage {
		return jsonrpc.DecodeMessage(data)
	}
	var version, id, result []byte
	other := false
	err := jsonscan.Object(data, func(name, value []byte) error {
		switch string(name) {
		case "jsonrpc":
			version = value
		case "id":
			id = value
		case "result":
			result = value
		default:
			other = true
		}
		return nil
	})
	var raw any
	if err != nil || other || result == nil || !jsonscan.Is(version, "2.0") || json.Unmarshal(id, &raw) != nil {
		return jsonrpc.DecodeMessage(data)
	}
	number, err := jsonrpc.MakeID(raw)
	if err != nil || !number.IsValid() {
		return jsonrpc.DecodeMessage(data)
	}
	return &jsonrpc.Response{ID: number, Result: result}, nil
}

// tooLarge returns an error response to replace an oversized one.
func tooLarge(id jsonrpc.ID) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errTooLarge.Error()}}
}

// A page collects the pieces of a line. It keeps only the start and end of an oversized line.
type page struct {
	chunks  [][]byte
	size    int
	head    []byte // start of an oversized line
	tail    []byte
	skipped int
}

// add appends a piece of a line.
func (p *page) add(b []byte) {
	if p.size += len(b); p.head != nil {
		p.tail = append(p.tail, b[max(0, len(b)-edge):]...)
		p.tail = append(p.tail[:0], p.tail[max(0, len(p.tail)-edge):]...)
		p.skipped += len(b)
		return
	}
	if p.size > maxMessage {
		p.head = bytes.Clone(append(p.chunks, b)[0])
		p.head = p.head[:min(len(p.head), edge)]
		p.chunks = nil
		p.size -= len(b)
		p.add(b)
		return
	}
	for len(b) > 0 {
		last := len(p.chunks) - 1
		if last < 0 || len(p.chunks[last]) == cap(p.chunks[last]) {
			p.chunks = append(p.chunks, make([]byte, 0, min(chunkSize, max(len(b), p.size/2))))
			last++
		}
		n := min(len(b), cap(p.chunks[last])-len(p.chunks[last]))
		p.chunks[last] = append(p.chunks[last], b[:n]...)
		b = b[n:]
	}
}

// line returns the line in one piece, unless it is oversized.
func (p *page) line() (data []byte, ok bool) {
	switch {
	case p.head != nil:
		return nil, false
	case len(p.chunks) == 1:
		return p.chunks[0], true
	}
	data = make([]byte, 0, p.size)
	for i, chunk := range p.chunks {
		data = append(data, chunk...)
		p.chunks[i] = nil
	}
	return data, true
}

// answers returns the ID of the request that an oversized line answers, found in its start and
// end.
func (p *page) answers() (jsonrpc.ID, error) {
	// Compiled here because it is rarely needed.
	head := regexp.MustCompile(`^\s*\{(?:"jsonrpc":\s*"2.0",\s*)?"id":\s*([0-9]+|"[^"\\]*"),`)
	tail := regexp.MustCompile(`,\s*"id":\s*([0-9]+|"[^"\\]*")(?:,\s*"jsonrpc":\s*"2.0")?\s*\}\s*$`)
	found := head.FindSubmatch(p.head)
	if found == nil {
		found = tail.FindSubmatch(p.tail)
	}
	if found == nil {
		return jsonrpc.ID{}, fmt.Errorf("%w, and it is not clear what for", errTooLarge)
	}
	var raw any
	if err := json.Unmarshal(found[1], &raw); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(raw)
}

package client

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// events is a body with a stream of events, whose messages the guard looks at. An event that is not handed on leaves
// its number behind, from which a stream that broke is resumed.
type events struct {
	*body
	guard *guard
	q     *inquiry
	id    jsonrpc.ID    // of the request that is answered
	lines *bufio.Reader // nil before the first Read
	rest  []byte        // of what is handed on
	err   error
	last  string        // the number of the last event
	pause time.Duration // before the stream is opened again, as the server wants it
}

func (e *events) Read(p []byte) (int, error) {
	if e.lines == nil {
		e.lines = bufio.NewReaderSize(e.body, 16<<10)
	}
	for len(e.rest) == 0 && e.err == nil {
		e.rest, e.err = e.next()
	}
	if len(e.rest) == 0 {
		return 0, e.err
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// next reads an event and returns what is handed on of it.
func (e *events) next() ([]byte, error) {
	var data, others []byte
	named, any, large := false, false, false
	size := 0
	for {
		text, err := e.line(&size)
		if err == errTooLarge {
			data, large, err = nil, true, nil
			continue
		}
		if err != nil {
			return nil, err // an event that is not complete is none
		}
		if len(text) == 0 {
			break
		}
		any = true
		field, value, _ := bytes.Cut(text, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		case "event":
			named = string(value) != "message"
			others = append(append(others, text...), '\n')
		case "id", "retry":
			others = append(append(others, text...), '\n')
			if ms, err := strconv.Atoi(string(value)); string(field) == "id" {
				e.last = string(value)
			} else if err == nil {
				e.pause = time.Duration(min(max(0, ms), 60_000)) * time.Millisecond
			}
		}
	}
	if !any && !large {
		return nil, nil
	}
	if large {
		data = nil
		if e.id.IsValid() {
			encoded, err := jsonrpc.EncodeMessage(tooLarge(e.id))
			if err != nil {
				return nil, err
			}
			data, named = encoded, false
		}
	}
	if len(data) > 0 && !named {
		data = e.message(data)
	}
	if data != nil {
		others = append(append(append(others, "data: "...), bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))...), '\n')
	}
	return append(others, '\n'), e.err
}

// message returns what is handed on of a message, or nil.
func (e *events) message(data []byte) []byte {
	rest, ok, err := e.guard.through(data)
	if !ok {
		err = e.guard.strikes.hit("no message of JSON-RPC 2.0: " + line(string(data[:min(len(data), titleLimit)]), titleLimit))
		rest = nil
	}
	e.err = err
	return rest
}

// line returns the next line without its end, and counts the bytes of the event. A line of an event that is too large is
// passed over.
func (e *events) line(size *int) ([]byte, error) {
	var all []byte
	for {
		part, err := e.lines.ReadSlice('\n')
		*size += len(part)
		if *size > maxSkipped {
			e.q.report(0, errTooLarge)
			return nil, io.ErrUnexpectedEOF
		}
		if *size > maxMessage {
			all = nil
		} else {
			all = append(all, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil:
			return nil, err
		case *size > maxMessage && len(bytes.TrimRight(part, "\r\n")) > 0:
			return nil, errTooLarge
		default:
			return bytes.TrimRight(all, "\r\n"), nil
		}
	}
}

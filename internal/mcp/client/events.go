package client

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// events is a response body with an event stream, whose messages pass through the guard. For an
// event that is dropped, it keeps the event's ID, from which a broken stream resumes.
type events struct {
	*body
	guard *guard
	q     *requestState
	id    jsonrpc.ID    // ID of the request being answered
	lines *bufio.Reader // nil before the first Read
	rest  []byte        // output not yet read
	err   error
	last  string        // ID of the last event
	pause time.Duration // server's delay before reconnecting
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

// next reads an event and returns the output for it.
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
			return nil, err // an incomplete event is dropped
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

// message returns the output for a message, or nil.
func (e *events) message(data []byte) []byte {
	rest, ok, err := e.guard.through(data)
	if !ok {
		err = e.guard.strikes.hit("no message of JSON-RPC 2.0: " + line(string(data[:min(len(data), titleLimit)]), titleLimit))
		rest = nil
	}
	e.err = err
	return rest
}

// line returns the next line without its line ending, and adds to the event's size. It skips
// lines of an oversized event.
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

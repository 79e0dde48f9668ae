package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"adze/internal/platform/text/lines"
)

// maxFrame is the maximum length of a message from the client, in bytes.
const maxFrame = 32 << 20

// The error codes of JSON-RPC and the protocol.
const (
	codeParse     = -32700
	codeInvalid   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeCancelled = -32800
	codeAuth      = -32000
	codeNotFound  = -32002
)

// An rpcError is an error response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func errorf(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// asError returns err as an error response.
func asError(err error) *rpcError {
	var known *rpcError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return errorf(codeCancelled, "the request was cancelled")
	}
	return &rpcError{codeInternal, err.Error()}
}

// A message is a request, a notification or a response.
type message struct {
	ID     json.RawMessage // nil for a notification
	Method string          // empty for a response
	Params json.RawMessage
	Result json.RawMessage
	Error  *rpcError
}

// parse parses a frame. On error, the ID is the request's if it is known.
func parse(frame []byte) (message, *rpcError) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *rpcError       `json:"error"`
	}
	if !json.Valid(frame) {
		return message{}, errorf(codeParse, "the message is not JSON; each line must hold one JSON-RPC message")
	}
	err := json.Unmarshal(frame, &m)
	id := m.ID
	if len(id) > 0 && !validID(id) {
		return message{}, errorf(codeInvalid, "the id must be a string, an integer or null")
	}
	known := message{ID: id}
	switch {
	case err != nil:
		return known, errorf(codeInvalid, "the message is not a JSON-RPC message: it must be an object with a method, or with a result or an error")
	case m.Method != nil && *m.Method == "", m.Method == nil && m.Result == nil && m.Error == nil:
		return known, errorf(codeInvalid, "the message has no method, no result and no error")
	case m.Method == nil && len(id) == 0:
		return known, errorf(codeInvalid, "the response has no id")
	case m.Method == nil:
		return message{ID: id, Result: m.Result, Error: m.Error}, nil
	}
	return message{ID: id, Method: *m.Method, Params: m.Params}, nil
}

// maxID is the maximum length of a request ID in bytes.
const maxID = 1 << 10

func validID(id json.RawMessage) bool {
	if len(id) > maxID {
		return false
	}
	switch id[0] {
	case '"', 'n':
		return true
	}
	_, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil
}

// headID returns the request ID at the beginning of a message that is too long, or nil.
func headID(head []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return nil
		}
		if name == "id" && validID(value) {
			return value
		}
	}
	return nil
}

// errGone is returned when the client has closed the connection.
var errGone = errors.New("the client is gone")

// A conn is the connection to the client. It is safe for concurrent use.
type conn struct {
	in  *lines.Reader
	out outbox

	mu    sync.Mutex
	last  int64
	calls map[string]chan message // key: ID; nil once the client is gone
}

func newConn(in io.Reader, out io.Writer) *conn {
	c := &conn{in: lines.NewReader(in, maxFrame), calls: map[string]chan message{}}
	c.out.init(out)
	return c
}

// next returns the next message. An *rpcError is to be sent as a response with the ID of the
// message; any other error ends the connection.
func (c *conn) next() (message, error) {
	for {
		line, err := c.in.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			return message{ID: headID(line)}, errorf(codeInvalid, "the message is longer than %d MB", maxFrame>>20)
		case err != nil:
			return message{}, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		m, problem := parse(line)
		if problem != nil {
			return m, problem
		}
		return m, nil
	}
}

// A frame is a message to the client.
type frame struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// respond answers a request.
func (c *conn) respond(id json.RawMessage, result any, err error) {
	f := frame{Version: "2.0", ID: id}
	if len(id) == 0 {
		f.ID = json.RawMessage("null")
	}
	switch {
	case err != nil:
		f.Error = asError(err)
	case result == nil:
		f.Result = none{}
	default:
		f.Result = result
	}
	c.out.add(f)
}

func (c *conn) notify(method string, params any) {
	c.out.add(frame{Version: "2.0", Method: method, Params: params})
}

// call sends a request and waits for the result. When ctx is done, the request is cancelled.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.calls == nil {
		c.mu.Unlock()
		return errGone
	}
	c.last++
	id := strconv.FormatInt(c.last, 10)
	c.calls[id] = answer
	c.mu.Unlock()
	c.out.add(frame{Version: "2.0", ID: json.RawMessage(id), Method: method, Params: params})
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return errGone
		case m.Error != nil:
			return fmt.Errorf("%s: the client answered with an error: %s", method, m.Error.Message)
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("%s: the client's answer is not valid: %w", method, err)
		}
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	delete(c.calls, id)
	c.mu.Unlock()
	c.notify("$/cancel_request", cancelRequest{json.RawMessage(id)})
	return context.Cause(ctx)
}

// answered passes a response to the waiting call. Late and repeated ones are ignored.
func (c *conn) answered(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.calls[string(m.ID)]; ok {
		delete(c.calls, string(m.ID))
		answer <- m
	}
}

// hangUp records that the client is gone: waiting calls fail.
func (c *conn) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, answer := range c.calls {
		close(answer)
	}
	c.calls = nil
}

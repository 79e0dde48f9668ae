package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
)

// errClosed is the error of calls after the connection was closed.
var errClosed = errors.New("the language server was stopped")

// A message is a JSON-RPC message.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *responseError  `json:"error,omitempty"`
}

// A responseError is a server's refusal of a request.
type responseError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error returns the server's message on one line.
func (e *responseError) Error() string { return fmt.Sprintf("%s (%d)", line(e.Message), e.Code) }

// Error codes of the protocol.
const (
	codeMethodNotFound  = -32601
	codeContentModified = -32801
	codeCancelled       = -32802
)

// A conn exchanges messages with a server. Send must not block.
type conn struct {
	send func([]byte) error
	// request answers a server's request; a nil result is sent as null. notify receives its
	// notifications. Both run on the reading goroutine and must not wait for the server.
	request func(method string, params json.RawMessage) (any, error)
	notify  func(method string, params json.RawMessage)

	mu      sync.Mutex
	last    int
	waiting map[string]chan message
	gone    chan struct{}
	err     error // set before gone is closed
}

func newConn() *conn { return &conn{waiting: map[string]chan message{}, gone: make(chan struct{})} }

// close fails all calls with err. Only the first call has an effect.
func (c *conn) close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.gone)
	}
}

// write sends a message.
func (c *conn) write(m message) error {
	select {
	case <-c.gone:
		return c.err
	default:
	}
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.send(frame(data))
}

// tell sends a notification.
func (c *conn) tell(method string, params any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.write(message{Method: method, Params: data})
}

// call sends a request and decodes its result. If ctx is done first, the request is canceled.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.last++
	id, answer := strconv.Itoa(c.last), make(chan message, 1)
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()
	if err := c.write(message{ID: json.RawMessage(id), Method: method, Params: data}); err != nil {
		return err
	}
	select {
	case m := <-answer:
		switch {
		case m.Error != nil:
			return m.Error
		case result == nil || len(m.Result) == 0:
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("the answer to %s is invalid: %w", method, err)
		}
		return nil
	case <-c.gone:
		return c.err
	case <-ctx.Done():
		c.tell("$/cancelRequest", map[string]json.RawMessage{"id": json.RawMessage(id)}) // ok: only saves work
		return context.Cause(ctx)
	}
}

// receive handles a message from the server. Invalid messages are ignored.
func (c *conn) receive(data []byte) {
	var m message
	if json.Unmarshal(data, &m) != nil {
		return
	}
	switch {
	case m.Method == "" && len(m.ID) > 0:
		id := string(m.ID)
		if s, err := strconv.Unquote(id); err == nil {
			id = s
		}
		c.mu.Lock()
		answer := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	case m.Method != "" && len(m.ID) > 0:
		reply := message{ID: m.ID}
		result, err := c.request(m.Method, m.Params)
		if err == nil {
			reply.Result, err = json.Marshal(result)
		}
		if err != nil {
			reply.Error = &responseError{codeMethodNotFound, err.Error()}
		}
		c.write(reply) // ok: the server is gone
	case m.Method != "":
		c.notify(m.Method, m.Params)
	}
}

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxMessage is the maximum size of a server's message in bytes.
	maxMessage = 32 << 20
	// maxNoise is the number of consecutive non-message lines that ends a connection.
	maxNoise = 10_000
)

var errTooLarge = fmt.Errorf("the server sent a message of more than %d MB", maxMessage>>20)

// A wire is a connection that transfers one message at a time, as bytes. It implements the
// SDK's Connection.
type wire struct {
	send    func(context.Context, []byte) error
	shut    func() // called once
	strikes *violations

	in    chan jsonrpc.Message
	noise int // consecutive lines; only deliver uses it
	gone  chan struct{}
	once  sync.Once
	err   error // reason it ended
}

func newWire(s *violations) *wire {
	return &wire{strikes: s, in: make(chan jsonrpc.Message), gone: make(chan struct{})}
}

// deliver handles data from the server: a message, a batch, or anything else, which is skipped.
// It waits until the message is read. Calls must not be concurrent. It keeps data.
func (w *wire) deliver(data []byte) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
	case data[0] == '{':
		w.message(data)
	case data[0] == '[' && json.Valid(data):
		var batch []json.RawMessage
		json.Unmarshal(data, &batch) // ok: it is valid and a list
		for _, one := range batch {
			w.message(one)
		}
	default:
		w.strikes.log("no message: " + line(string(data[:min(len(data), logLimit)]), logLimit))
		if w.noise++; w.noise > maxNoise {
			w.fail(errors.New("the server prints output that is not JSON-RPC; check its first line"))
		}
	}
}

func (w *wire) message(data []byte) {
	msg, err := decodeMessage(data)
	if err != nil {
		if err := w.strikes.hit(fmt.Sprintf("no message of JSON-RPC 2.0 (%s): %s", line(err.Error(), titleLimit), line(string(data[:min(len(data), titleLimit)]), titleLimit))); err != nil {
			w.fail(err)
		}
		return
	}
	w.noise = 0
	w.pass(msg)
}

// pass hands a message to Read.
func (w *wire) pass(msg jsonrpc.Message) {
	select {
	case w.in <- msg:
	case <-w.gone:
	}
}

// fail ends the connection with a reason.
func (w *wire) fail(err error) {
	w.once.Do(func() {
		w.err = err
		close(w.gone)
		if w.shut != nil {
			w.shut()
		}
	})
}

// Read implements the SDK's Connection.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-w.in:
		return msg, nil
	case <-w.gone:
		return nil, w.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements the SDK's Connection.
func (w *wire) Write(ctx context.Context, msg jsonrpc.Message) error {
	select {
	case <-w.gone:
		return w.err
	default:
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return w.send(ctx, data)
}

// Close implements the SDK's Connection.
func (w *wire) Close() error {
	w.fail(io.EOF)
	return nil
}

// SessionID implements the SDK's Connection.
func (w *wire) SessionID() string { return "" }

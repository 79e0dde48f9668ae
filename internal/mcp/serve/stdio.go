package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/platform/text/lines"
)

const (
	// grace is how long running calls may continue after the client's input ends, and stop how
	// long they may take to end then.
	grace = time.Second
	stop  = 3 * time.Second
)

// Stdio serves a client that writes lines to in and reads them from out, until in ends or ctx
// is done. Nothing else is written to out.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &streams{
		in: lines.NewReader(in, maxMessage), out: out,
		read: make(chan []byte), ended: make(chan struct{}), answered: make(chan struct{}, 1), closed: make(chan struct{}),
		queue: make(chan []byte, queued), written: make(chan struct{}), open: make(map[jsonrpc.ID]bool),
	}
	go c.pump()
	go c.write()
	session, err := s.speaker.Connect(ctx, c, nil)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		session.Wait() // ok: a disconnected client is not a failure
		<-c.written
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	case <-c.closed: // the input has ended, and calls had their grace period
	}
	s.Close()
	go session.Close() // waits for calls
	select {
	case <-done:
	case <-time.After(stop):
	}
	return nil
}

// queued is the number of lines queued for a client that does not read; then its calls block.
const queued = 64

// streams is a line-based connection. It implements [sdk.Transport] and [sdk.Connection].
type streams struct {
	in    *lines.Reader
	read  chan []byte
	ended chan struct{} // closed when the input has ended
	err   error         // reason it ended

	out     io.Writer
	queue   chan []byte
	written chan struct{} // closed when writing has finished

	mu       sync.Mutex
	open     map[jsonrpc.ID]bool // requests without a response; false if canceled, so none is wanted
	answered chan struct{}       // has an element when a response was sent

	closed chan struct{}
	once   sync.Once
}

// Connect implements [sdk.Transport].
func (c *streams) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID implements [sdk.Connection].
func (c *streams) SessionID() string { return "" }

// pump reads lines until the input ends. It answers invalid messages itself.
func (c *streams) pump() {
	defer close(c.ended)
	for {
		line, err := c.in.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			c.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d MB", maxMessage>>20))
			continue
		case err != nil:
			c.err = err
			return
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
			continue
		case !json.Valid(line):
			c.refuse(jsonrpc.CodeParseError, "the line is not JSON")
			continue
		case line[0] != '{':
			c.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC message: write one object per line")
			continue
		}
		select {
		case c.read <- bytes.Clone(line):
		case <-c.closed:
			return
		}
	}
}

// Read implements [sdk.Connection].
func (c *streams) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case line := <-c.read:
			message, err := jsonrpc.DecodeMessage(line)
			if err != nil {
				c.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message")
				continue
			}
			c.asked(message)
			return message, nil
		case <-c.ended:
			c.finish(ctx)
			return nil, c.err
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// finish waits a while for responses to requests sent before the input ended, because the SDK
// cancels all calls when it sees the end.
func (c *streams) finish(ctx context.Context) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for c.awaited() > 0 {
		select {
		case <-c.answered:
		case <-timer.C:
			return
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// asked records requests that need a response.
func (c *streams) asked(message jsonrpc.Message) {
	r, ok := message.(*jsonrpc.Request)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.open[r.ID] = true
		return
	}
	var cancelled struct {
		ID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &cancelled) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(cancelled.ID); err == nil && c.open[id] {
		c.open[id] = false
	}
}

// awaited returns the number of requests without a response.
func (c *streams) awaited() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// answer records a response to a request.
func (c *streams) answer(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
	select {
	case c.answered <- struct{}{}:
	default:
	}
}

// unwanted reports whether the client canceled a request, which then gets no response.
func (c *streams) unwanted(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted, ok := c.open[id]
	return ok && !wanted
}

// refuse sends an error response without an ID.
func (c *streams) refuse(code int, text string) {
	answer := map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text}}
	data, err := json.Marshal(answer)
	if err != nil {
		return // plain data always encodes
	}
	select {
	case c.queue <- data:
	default: // dropped if the client does not read
	}
}

// Write implements [sdk.Connection].
func (c *streams) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	r, ok := message.(*jsonrpc.Response)
	if ok && c.unwanted(r.ID) {
		c.answer(r.ID)
		return nil
	}
	select {
	case c.queue <- data:
	case <-c.closed:
		return io.ErrClosedPipe
	}
	if ok {
		c.answer(r.ID)
	}
	return nil
}

// write writes queued lines until the connection is closed and all of them are written. A write
// error closes it.
func (c *streams) write() {
	defer close(c.written)
	for {
		var data []byte
		select {
		case data = <-c.queue:
		default:
			select {
			case data = <-c.queue:
			case <-c.closed:
				return
			}
		}
		if _, err := c.out.Write(append(data, '\n')); err != nil {
			c.Close() // ok: it returns no error
			return
		}
	}
}

// Close implements [sdk.Connection]. The caller owns the streams.
func (c *streams) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

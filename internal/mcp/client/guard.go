package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxStrikes is the number of consecutive protocol violations that ends a connection.
	maxStrikes = 20
	// maxAsked limits a server's concurrent requests.
	maxAsked = 64
	// Per second, messages other than responses beyond maxUnasked are delayed, and log lines
	// beyond maxLogged are dropped.
	maxUnasked = 1000
	maxLogged  = 50
	// maxAbandoned limits the canceled requests remembered without a response.
	maxAbandoned = 1000
)

// violations counts violations of the protocol.
type violations struct {
	log func(string)
	end func(error) // called when the limit is reached

	mu  sync.Mutex
	row int
}

// hit records a violation. It returns an error when the limit is reached.
func (s *violations) hit(what string) error {
	s.log(what)
	s.mu.Lock()
	s.row++
	row := s.row
	s.mu.Unlock()
	if row < maxStrikes {
		return nil
	}
	err := fmt.Errorf("the server violated the protocol %d times in a row; the last time: %s", row, what)
	s.end(err)
	return err
}

func (s *violations) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = 0
}

// A guard inspects every message between the SDK and a server. It keeps data that the SDK does
// not expose, and blocks messages a server may not send.
type guard struct {
	strikes *violations
	pushed  func(params json.RawMessage) // called with messages for the conversation

	mu      sync.Mutex
	sent    map[jsonrpc.ID]*requestState // client requests without a response; nil if canceled
	asked   map[jsonrpc.ID]bool          // server requests without a response
	second  time.Time                    // start of the current counting interval
	unasked int
	logged  int
}

func newGuard(s *violations, pushed func(json.RawMessage)) *guard {
	return &guard{strikes: s, pushed: pushed, sent: map[jsonrpc.ID]*requestState{}, asked: map[jsonrpc.ID]bool{}}
}

// in reports whether the SDK gets a server's message, which may be modified. An error means
// that the connection must end.
func (g *guard) in(msg jsonrpc.Message) (pass bool, err error) {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		if !g.answered(msg) {
			return false, g.strikes.hit(fmt.Sprintf("an answer to a request that was not made (%v)", msg.ID.Raw()))
		}
		pass = true
	case *jsonrpc.Request:
		g.pace()
		if msg.IsCall() {
			pass = g.ask(msg)
		} else {
			pass = g.notice(msg)
		}
	}
	g.strikes.reset()
	return pass, nil
}

// through returns the message for the SDK: data, a replacement, or nil. Ok is false if data is
// not a message.
func (g *guard) through(data []byte) (rest []byte, ok bool, err error) {
	msg, err := decodeMessage(data)
	if err != nil {
		return data, false, nil
	}
	size := -1
	if res, ok := msg.(*jsonrpc.Response); ok {
		size = len(res.Result)
	}
	pass, err := g.in(msg)
	if !pass || err != nil {
		return nil, true, err
	}
	if res, ok := msg.(*jsonrpc.Response); ok && len(res.Result) == size {
		return data, true, nil
	}
	if encoded, err := jsonrpc.EncodeMessage(msg); err == nil {
		data = encoded
	}
	return data, true, nil
}

// answered stores the response to a client request, and reports whether there was such a
// request.
func (g *guard) answered(msg *jsonrpc.Response) bool {
	g.mu.Lock()
	q, ok := g.sent[msg.ID]
	delete(g.sent, msg.ID)
	g.mu.Unlock()
	switch {
	case q == nil:
	case msg.Error != nil:
		q.deny(msg.Error)
	default:
		msg.Result = q.take(msg.Result)
	}
	return ok
}

// ask reports whether to handle a server's request. Requests beyond the limit get no response.
func (g *guard) ask(msg *jsonrpc.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.asked) >= maxAsked {
		return false
	}
	g.asked[msg.ID] = true
	if msg.Method == "elicitation/create" {
		msg.Params = withSchemaText(msg.Params)
	}
	return true
}

// pace sleeps if there are too many messages other than responses, so that the server has to
// wait.
func (g *guard) pace() {
	g.mu.Lock()
	if now := time.Now(); now.Sub(g.second) > time.Second {
		g.second, g.unasked, g.logged = now, 0, 0
	}
	g.unasked++
	slow := g.unasked > maxUnasked
	g.mu.Unlock()
	if slow {
		time.Sleep(time.Millisecond)
	}
}

// notice reports whether to forward a notification.
func (g *guard) notice(msg *jsonrpc.Request) bool {
	switch msg.Method {
	case "notifications/message":
	case pushMethod:
		g.pushed(msg.Params)
		return false // unknown to the SDK
	default:
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.logged++
	return g.logged <= maxLogged
}

// out records an outgoing message.
func (g *guard) out(ctx context.Context, msg jsonrpc.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		if !msg.IsCall() {
			if msg.Method == "notifications/cancelled" {
				g.abandon(msg.Params)
			}
			return
		}
		q := requestStateOf(ctx)
		if q == nil {
			q = &requestState{}
		}
		q.begin()
		g.sent[msg.ID] = q
	case *jsonrpc.Response:
		delete(g.asked, msg.ID)
	}
}

// guarded wraps a transport so that its messages pass through the guard.
func (g *guard) guarded(t sdk.Transport) sdk.Transport { return &guardTransport{t, g} }

type guardTransport struct {
	sdk.Transport
	guard *guard
}

// Connect implements [sdk.Transport].
func (t *guardTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &guardConn{c, t.guard}, nil
}

type guardConn struct {
	sdk.Connection
	guard *guard
}

// Read implements [sdk.Connection].
func (c *guardConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := c.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		if pass, err := c.guard.in(msg); err != nil {
			return nil, err
		} else if pass {
			return msg, nil
		}
	}
}

// Write implements [sdk.Connection].
func (c *guardConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	c.guard.out(ctx, msg)
	return c.Connection.Write(ctx, msg)
}

// abandon records that a request was canceled. The caller holds the lock.
func (g *guard) abandon(params json.RawMessage) {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil {
		return
	}
	if _, ok := g.sent[id]; ok {
		g.sent[id] = nil
	}
	if len(g.sent) > maxAbandoned {
		for id, q := range g.sent {
			if q == nil {
				delete(g.sent, id)
			}
		}
	}
}

// asksForMore reports whether a response may request input before the result. The SDK handles
// such responses.
func asksForMore(result json.RawMessage) bool {
	return bytes.Contains(result, []byte(`"inputRequests"`))
}

// schemaKey is the metadata key for a schema's original text, which the SDK would reorder.
const schemaKey = "adze/schema"

// withSchemaText returns an elicitation's parameters with the schema's original text added.
func withSchemaText(params json.RawMessage) json.RawMessage {
	var fields, meta map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil || fields["requestedSchema"] == nil {
		return params
	}
	if json.Unmarshal(fields["_meta"], &meta) != nil || meta == nil {
		meta = map[string]json.RawMessage{}
	}
	var err error
	if meta[schemaKey], err = json.Marshal(string(fields["requestedSchema"])); err != nil {
		return params
	}
	if fields["_meta"], err = json.Marshal(meta); err != nil {
		return params
	}
	all, err := json.Marshal(fields)
	if err != nil {
		return params
	}
	return all
}

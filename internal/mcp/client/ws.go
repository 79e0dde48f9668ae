package client

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server that does not answer a ping within pingLimit is considered gone.
const (
	pingEvery = 30 * time.Second
	pingLimit = 15 * time.Second
)

// A socket is a connection over WebSocket, with one message in each frame.
type socket struct {
	*wire
	remote *remote
	life   context.Context

	mu   sync.Mutex
	conn *websocket.Conn // nil before it is opened
}

func (d *Dialer) socket(life context.Context, r *remote, s *violations) *socket {
	w := &socket{wire: newWire(s), remote: r, life: life}
	w.shut = func() {
		if conn := w.opened(); conn != nil {
			go conn.CloseNow() // ok: it is closed either way
		}
	}
	return w
}

// Connect implements [sdk.Transport].
func (s *socket) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, res, err := websocket.Dial(ctx, s.remote.url.String(), &websocket.DialOptions{
		HTTPClient: s.remote.client(), HTTPHeader: http.Header{}, Subprotocols: []string{"mcp"},
	})
	if err != nil {
		if res != nil && res.StatusCode != http.StatusSwitchingProtocols {
			return nil, fmt.Errorf("the server answers HTTP %d (%s) instead of opening a WebSocket", res.StatusCode, http.StatusText(res.StatusCode))
		}
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	s.send = func(ctx context.Context, data []byte) error {
		// Canceling a write halfway would break the connection.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.remote.d.limit())
		defer cancel()
		return conn.Write(ctx, websocket.MessageText, data)
	}
	go s.read(conn)
	go s.ping(conn)
	return s.wire, nil
}

// opened returns the connection, or nil.
func (s *socket) opened() *websocket.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

func (s *socket) read(conn *websocket.Conn) {
	for {
		_, data, err := conn.Read(s.life)
		if err != nil {
			if websocket.CloseStatus(err) == websocket.StatusMessageTooBig {
				err = errTooLarge
			}
			s.fail(err)
			return
		}
		s.deliver(data)
	}
}

func (s *socket) ping(conn *websocket.Conn) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			ctx, cancel := context.WithTimeout(s.life, pingLimit)
			err := conn.Ping(ctx)
			cancel()
			if err != nil {
				s.fail(errSlow)
				return
			}
		case <-s.gone:
			return
		}
	}
}

// stop sends a normal close.
func (s *socket) stop() {
	if conn := s.opened(); conn != nil {
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn.Close(websocket.StatusNormalClosure, "") // ok: it is closed either way
		}()
		select {
		case <-done:
		case <-time.After(farewell):
		}
	}
	s.fail(errClosed)
}

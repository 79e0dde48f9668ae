package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Host delivers messages to servers in the program that drives adze.
type Host interface {
	// Send delivers a message to a server and returns its response, or nil if the message gets
	// none.
	Send(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)
	// Listen calls f with each unsolicited message from a server until stop is called.
	Listen(server string, f func(json.RawMessage)) (stop func())
}

// A hosted is a connection to a server in the host.
type hosted struct {
	*wire
	host   Host
	server string
	life   context.Context
	turn   sync.Mutex // serializes delivery
}

func (d *Dialer) hosted(life context.Context, server string, s *violations) (*hosted, error) {
	if d.Host == nil {
		return nil, errors.New("no host provides this server")
	}
	return &hosted{wire: newWire(s), host: d.Host, server: server, life: life}, nil
}

// Connect implements [sdk.Transport].
func (h *hosted) Connect(context.Context) (sdk.Connection, error) {
	stop := h.host.Listen(h.server, h.hear)
	go func() {
		<-h.gone
		stop()
	}()
	h.send = func(_ context.Context, data []byte) error {
		go func() {
			res, err := h.host.Send(h.life, h.server, data)
			if err != nil {
				h.fail(err)
			} else {
				h.hear(res)
			}
		}()
		return nil
	}
	return h.wire, nil
}

func (h *hosted) hear(data json.RawMessage) {
	h.turn.Lock()
	defer h.turn.Unlock()
	if len(data) > maxMessage {
		h.fail(errTooLarge)
	} else {
		h.deliver(data)
	}
}

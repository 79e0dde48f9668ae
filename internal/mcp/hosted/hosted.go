// Package hosted carries messages to and from servers that live in the program that drives this one. It knows as much
// of them as it takes to tell requests from answers, and to answer what the host has said in advance. The protocol
// itself is left to mcp/client, and the lines between the programs to the front end.
package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// A Sender passes a message on to a server of the host and returns its answer.
type Sender func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)

// A Manifest is what a server would say when it is greeted. Members may be nil.
type Manifest struct {
	Initialize json.RawMessage `json:"initializeResult"`
	Tools      json.RawMessage `json:"toolsListResult"`
}

// Servers are those of a host.
type Servers struct {
	Names     []string
	Manifests map[string]Manifest
	Configs   map[string]json.RawMessage // what the host says about them; may lack some
	// Send passes a message on to one of them.
	Send Sender
}

// A Link connects to the servers of a host, once there is one. It is safe for concurrent use.
type Link struct {
	mu        sync.Mutex
	send      Sender
	manifests map[string]Manifest
	receivers map[string]*receiver
}

// A receiver gets the messages that a server sends of its own accord.
type receiver struct{ take func(json.RawMessage) }

// Connect says how messages reach the host, and what its servers have said in advance.
func (l *Link) Connect(send Sender, manifests map[string]Manifest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send, l.manifests = send, manifests
}

// A header is what tells messages apart.
type header struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// Send passes a message on. For a request it returns the response, and otherwise nil.
func (l *Link) Send(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
	var h header
	if err := json.Unmarshal(message, &h); err != nil {
		return nil, err
	}
	l.mu.Lock()
	send, manifest := l.send, l.manifests[server]
	l.mu.Unlock()
	if known := manifest.answer(h.Method); known != nil {
		l.said(server, h.Method)
		return response(h.ID, known)
	}
	if send == nil {
		return nil, errors.New("there is no host")
	}
	if manifest.Initialize != nil && h.Method == "notifications/initialized" {
		return nil, nil // the host did this greeting itself
	}
	answer, err := send(ctx, server, message)
	if err != nil || h.Method == "" || len(h.ID) == 0 {
		return nil, err
	}
	var of header
	if err := json.Unmarshal(answer, &of); err != nil {
		return nil, fmt.Errorf("the host's answer for the server %s is not valid", server)
	}
	if !bytes.Equal(of.ID, h.ID) { // some hosts count for themselves
		return withID(answer, h.ID)
	}
	return answer, nil
}

// answer returns what the server has said in advance, or nil.
func (m Manifest) answer(method string) json.RawMessage {
	switch method {
	case "initialize":
		return m.Initialize
	case "tools/list":
		return m.Tools
	}
	return nil
}

// said notes that a list was given out: it may have changed when it is asked for again.
func (l *Link) said(server, method string) {
	if method != "tools/list" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.manifests[server]
	m.Tools = nil
	l.manifests[server] = m
}

func response(id, result json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(map[string]json.RawMessage{"jsonrpc": json.RawMessage(`"2.0"`), "id": id, "result": result})
}

func withID(message, id json.RawMessage) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(message, &members); err != nil {
		return nil, err
	}
	if members["result"] == nil && members["error"] == nil {
		return nil, errors.New("the host has no answer for the server")
	}
	members["id"] = id
	return json.Marshal(members)
}

// Listen says where messages go that a server sends of its own accord, until stop is called.
func (l *Link) Listen(server string, take func(message json.RawMessage)) (stop func()) {
	r := &receiver{take}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.receivers == nil {
		l.receivers = map[string]*receiver{}
	}
	l.receivers[server] = r
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.receivers[server] == r {
			delete(l.receivers, server)
		}
	}
}

// Receive passes on a message of a server.
func (l *Link) Receive(server string, message json.RawMessage) error {
	l.mu.Lock()
	r := l.receivers[server]
	l.mu.Unlock()
	if r == nil {
		return fmt.Errorf("no server %q of the host is connected", server)
	}
	r.take(message)
	return nil
}

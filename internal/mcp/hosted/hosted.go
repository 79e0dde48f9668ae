// Package hosted passes messages to and from servers in the program that drives adze. It
// distinguishes requests from responses, and answers requests for which the host supplied a
// response in advance.
package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// A Sender sends a message to a host's server and returns its response.
type Sender func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)

// A Manifest holds a server's responses in advance. Members may be nil.
type Manifest struct {
	Initialize json.RawMessage `json:"initializeResult"`
	Tools      json.RawMessage `json:"toolsListResult"`
}

// Servers describes a host's servers.
type Servers struct {
	Names     []string
	Manifests map[string]Manifest
	Configs   map[string]json.RawMessage // the host's configuration for them; may lack some
	// Send sends a message to a server.
	Send Sender
}

// A Link connects to a host's servers once a host is available. It is safe for concurrent use.
type Link struct {
	mu        sync.Mutex
	send      Sender
	manifests map[string]Manifest
	receivers map[string]*receiver
}

// A receiver gets a server's unsolicited messages.
type receiver struct{ take func(json.RawMessage) }

// Connect sets the function that reaches the host, and its servers' manifests.
func (l *Link) Connect(send Sender, manifests map[string]Manifest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.send, l.manifests = send, manifests
}

// A header holds the fields that distinguish messages.
type header struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// Send sends a message. For a request it returns the response, otherwise nil.
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
		return nil, errors.New("no host")
	}
	if manifest.Initialize != nil && h.Method == "notifications/initialized" {
		return nil, nil // the host has already initialized the server
	}
	answer, err := send(ctx, server, message)
	if err != nil || h.Method == "" || len(h.ID) == 0 {
		return nil, err
	}
	var of header
	if err := json.Unmarshal(answer, &of); err != nil {
		return nil, fmt.Errorf("the host's answer for the server %s is not valid", server)
	}
	if !bytes.Equal(of.ID, h.ID) { // some hosts number requests themselves
		return withID(answer, h.ID)
	}
	return answer, nil
}

// answer returns the manifest's response, or nil.
func (m Manifest) answer(method string) json.RawMessage {
	switch method {
	case "initialize":
		return m.Initialize
	case "tools/list":
		return m.Tools
	}
	return nil
}

// said records that a list was answered from the manifest; a later request goes to the server,
// because the list may have changed.
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

// Listen calls take with a server's unsolicited messages until stop is called.
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

// Receive delivers a server's message.
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

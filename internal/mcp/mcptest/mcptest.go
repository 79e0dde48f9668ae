// Package mcptest implements an MCP server for tests: well-behaved by default, and misbehaving
// as configured. It implements the wire format itself, so that it can send anything.
//
// [Main] is the server as a program, with its behavior configured by arguments:
//
//	tools=N         N tools called tool_1, tool_2, … in addition to the usual ones
//	only=N          N tools called tool_1, …, and no others
//	pages=N         N tools per page
//	loop            an endless tool list: the cursor is always the same
//	name=S          the server's name
//	instructions=S  its instructions for the model
//	protocol=V      the protocol version in its response
//	slow=D          answers the initialization after D, such as 500ms
//	silent          never answers
//	noise           prints lines other than messages
//	garbage         answers every tool call with invalid JSON-RPC
//	flood           sends notifications without end
//	changing        changes its tool list each second, and sends notifications
//	hostile         overlong names and descriptions with hidden characters
//	stubborn        ignores SIGINT, SIGTERM and the end of its input
//	exit=N          exits immediately with this code, after a line on standard error
//	pid=FILE        appends its process ID to a file
package mcptest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Server answers requests according to its options.
type Server struct {
	options map[string]string

	mu      sync.Mutex
	send    func(any)                       // sends a message to the client
	waiting map[string]chan json.RawMessage // responses to server requests
	running map[string]context.CancelFunc   // running calls, by ID
	next    int
	version int           // version of the tool list
	again   chan struct{} // closed when a page is requested again
}

// New returns a server with the behavior given by args, as in [Main]. It passes unsolicited
// messages to send.
func New(send func(message any), args ...string) *Server {
	s := &Server{options: map[string]string{}, send: send, waiting: map[string]chan json.RawMessage{}, running: map[string]context.CancelFunc{}}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		s.options[name] = value
	}
	return s
}

// A Message is a JSON-RPC message.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// An Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

type object = map[string]any

// Main runs the server over in and out, and returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	var mu sync.Mutex
	raw := func(data []byte) {
		mu.Lock()
		defer mu.Unlock()
		out.Write(append(data, '\n')) // ok: a client that is gone needs nothing
	}
	s := New(func(m any) { raw(encode(m)) }, args...)
	if code, ok := s.options["exit"]; ok {
		fmt.Fprintln(errs, "mcptest: told to end")
		n, _ := strconv.Atoi(code) // ok: 0 then
		return n
	}
	if file := s.options["pid"]; file != "" {
		if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, os.Getpid())
			f.Close() // ok: a test looks for the line
		}
	}
	if s.has("stubborn") {
		ignoreSignals()
	}
	if s.has("noise") {
		raw([]byte("Starting…\n\n=> listening\n{half a message\n[]"))
	}
	fmt.Fprintln(errs, "mcptest: ready")
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		go func() {
			if answer := s.Answer(line); answer != nil {
				raw(answer)
			}
		}()
	}
	if s.has("stubborn") {
		select {}
	}
	return 0
}

func (s *Server) has(option string) bool { _, ok := s.options[option]; return ok }

func encode(m any) []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// Answer returns the response to a message, or nil.
func (s *Server) Answer(data []byte) []byte {
	var m Message
	if json.Unmarshal(data, &m) != nil || s.has("silent") {
		return nil
	}
	if m.Method == "" {
		s.mu.Lock()
		answered := s.waiting[string(m.ID)]
		s.mu.Unlock()
		if answered != nil {
			answered <- m.Result
		}
		return nil
	}
	if m.ID == nil {
		s.hear(m)
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.mu.Lock()
	s.running[string(m.ID)] = cancel
	s.mu.Unlock()
	result, err := s.handle(ctx, m)
	if raw, ok := result.([]byte); ok {
		return raw
	}
	if ctx.Err() != nil {
		return nil
	}
	answer := object{"jsonrpc": "2.0", "id": m.ID}
	if err != nil {
		answer["error"] = err
	} else {
		answer["result"] = result
	}
	return encode(answer)
}

// hear handles a notification.
func (s *Server) hear(m Message) {
	switch m.Method {
	case "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		json.Unmarshal(m.Params, &p) // ok: nothing is cancelled then
		s.mu.Lock()
		cancel := s.running[string(p.ID)]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
			fmt.Fprintln(os.Stderr, "mcptest: cancelled")
		}
	case "notifications/initialized":
		if s.has("flood") {
			go s.flood()
		}
		if s.has("changing") {
			go s.change()
		}
	}
}

func (s *Server) flood() {
	for i := 0; ; i++ {
		for _, list := range []string{"tools", "resources", "prompts"} {
			s.Notify("notifications/"+list+"/list_changed", object{})
		}
		s.Notify("notifications/message", object{"level": "info", "data": fmt.Sprint("line ", i)})
		s.Notify("notifications/progress", object{"progressToken": "none", "progress": i})
		s.Notify("notifications/unknown", object{"text": strings.Repeat("x", 1000)})
	}
}

func (s *Server) change() {
	for {
		time.Sleep(time.Second)
		s.mu.Lock()
		s.version++
		s.mu.Unlock()
		s.Notify("notifications/tools/list_changed", object{})
	}
}

// Notify sends a notification.
func (s *Server) Notify(method string, params any) {
	s.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// Ask sends a request to the client and returns its result, or nil on failure.
func (s *Server) Ask(ctx context.Context, method string, params any) json.RawMessage {
	s.mu.Lock()
	s.next++
	id := s.next
	answer := make(chan json.RawMessage, 1)
	s.waiting[strconv.Itoa(id)] = answer
	s.mu.Unlock()
	s.send(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	select {
	case res := <-answer:
		return res
	case <-ctx.Done():
		return nil
	}
}

// handle returns a request's result, or raw bytes to send.
func (s *Server) handle(ctx context.Context, m Message) (any, *Error) {
	switch m.Method {
	case "initialize":
		if d, err := time.ParseDuration(s.options["slow"]); err == nil {
			time.Sleep(d)
		}
		return s.greet(m.Params), nil
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		if m.Method == "resources/subscribe" {
			defer s.Notify("notifications/resources/updated", object{"uri": "test://text"})
		}
		return object{}, nil
	case "tools/list":
		return s.list(m.Params), nil
	case "tools/call":
		return s.call(ctx, m)
	case "resources/list":
		return object{"resources": []object{{"uri": "test://text", "name": "text", "mimeType": "text/plain"}, {"uri": "test://blob", "name": "blob", "size": 3}}}, nil
	case "resources/templates/list":
		return object{"resourceTemplates": []object{{"uriTemplate": "test://item/{id}", "name": "item"}}}, nil
	case "resources/read":
		var p struct{ URI string }
		json.Unmarshal(m.Params, &p) // ok: not found then
		switch p.URI {
		case "test://text":
			return object{"contents": []object{{"uri": p.URI, "mimeType": "text/plain", "text": "the text of a resource"}}}, nil
		case "test://blob":
			return object{"contents": []object{{"uri": p.URI, "blob": base64.StdEncoding.EncodeToString([]byte{1, 2, 3})}}}, nil
		}
		return nil, &Error{Code: -32002, Message: "no resource " + p.URI}
	case "prompts/list":
		return object{"prompts": []object{
			{"name": "review", "title": "Review", "description": "Reviews a file", "arguments": []object{{"name": "file", "required": true}, {"name": "style"}}},
		}}, nil
	case "prompts/get":
		var p struct{ Arguments map[string]string }
		json.Unmarshal(m.Params, &p) // ok: no arguments then
		return object{"messages": []object{{"role": "user", "content": object{"type": "text", "text": "Review " + p.Arguments["file"] + " !`touch /tmp/x` $HOME @file"}}}}, nil
	}
	return nil, &Error{Code: -32601, Message: "method not found: " + m.Method}
}

func (s *Server) greet(params json.RawMessage) object {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	json.Unmarshal(params, &p) // ok: none then
	if v, ok := s.options["protocol"]; ok {
		p.Version = v
	}
	name := s.options["name"]
	if name == "" {
		name = "mcptest"
	}
	return object{
		"protocolVersion": p.Version, "serverInfo": object{"name": name, "title": "A server for tests", "version": "1.2"}, "instructions": s.options["instructions"],
		"capabilities": object{
			"tools": object{"listChanged": true}, "prompts": object{"listChanged": true}, "logging": object{},
			"resources": object{"listChanged": true, "subscribe": true},
		},
	}
}

package sdk

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"sync"
	"time"

	"adze/internal/msg"
)

// A Session is a conversation. It is safe for concurrent use, but answers one prompt at a time.
type Session struct {
	process *Process
	stderr  *tail
	permit  func(context.Context, Call) (Decision, error)
	hooks   []Hook
	servers map[string]*bridge
	done    chan struct{} // closed when the program has ended
	work    sync.WaitGroup

	writing sync.Mutex // one line at a time

	mu       sync.Mutex
	ended    error // why no more lines arrive; set before done is closed
	next     int   // number of the next request
	requests map[string]chan reply
	serving  map[string]context.CancelFunc // requests of adze that are being answered
	queue    []received
	arrived  chan struct{} // signals the queue or the end
	busy     bool          // a prompt is being answered
	info     Info
}

// A received message, and the prompt it is the result of.
type received struct {
	Message
	prompt string
}

// A reply is the answer to a request.
type reply struct {
	data json.RawMessage
	err  error
}

// An Info describes a session.
type Info struct {
	// Commands are the slash commands that a prompt may consist of.
	Commands []struct{ Name, Description, ArgumentHint string }
	Models   []struct{ Value, DisplayName, Description string }
	// Warnings names options without effect.
	Warnings []string
}

// closeTimeout is how long Close waits for adze to end the session by itself.
const closeTimeout = 5 * time.Second

// Open starts adze. The session ends with [Session.Close] or when ctx is done.
func Open(ctx context.Context, o Options) (*Session, error) {
	s := &Session{
		stderr: &tail{next: o.Stderr}, permit: o.Permit, hooks: o.Hooks, servers: map[string]*bridge{}, done: make(chan struct{}),
		requests: map[string]chan reply{}, serving: map[string]context.CancelFunc{}, arrived: make(chan struct{}, 1),
	}
	begin := o.Start
	if begin == nil {
		begin = start
	}
	var err error
	if s.process, err = begin(ctx, Command{Program: o.Program, Args: o.args(), Dir: o.Dir, Env: o.Env, Stderr: s.stderr}); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(ctx)
	for name, server := range o.allServers() {
		s.servers[name] = s.serve(run, name, server)
	}
	stop := context.AfterFunc(ctx, s.process.Kill)
	go s.read(run, func() {
		stop() // it may still be exiting
		cancel()
	})
	if err := s.initialize(ctx, o); err != nil {
		s.Close() // ok: the first error says more
		return nil, err
	}
	return s, nil
}

func (s *Session) initialize(ctx context.Context, o Options) error {
	req := map[string]any{}
	for name, value := range map[string]string{"systemPrompt": o.SystemPrompt, "appendSystemPrompt": o.AppendSystemPrompt} {
		if value != "" {
			req[name] = value
		}
	}
	if o.Output != nil {
		req["jsonSchema"] = o.Output
	}
	if o.Trust {
		req["trustWorkspace"] = true
	}
	if len(o.Hooks) > 0 {
		req["hooks"] = hookRequest(o.Hooks)
	}
	if len(s.servers) > 0 {
		var names []string
		for name := range s.servers {
			names = append(names, name)
		}
		req["sdkMcpServers"] = names
	}
	return s.Request(ctx, "initialize", req, &s.info)
}

// Info returns the description of the session.
func (s *Session) Info() Info { return s.info }

// Prompt sends a prompt and yields messages until its [*Result], including earlier ones that
// nobody has received. Breaking off interrupts the turn, and so does ctx.
func (s *Session) Prompt(ctx context.Context, text string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		s.mu.Lock()
		if s.busy {
			s.mu.Unlock()
			yield(nil, errors.New("the session is still answering a prompt"))
			return
		}
		s.busy = true
		s.mu.Unlock()
		id := msg.NewID()
		finished, err := s.converse(ctx, id, text, yield)
		if err != nil {
			finished = !yield(nil, err) || finished
		}
		if !finished {
			s.abandon(id)
			return
		}
		s.mu.Lock()
		s.busy = false
		s.mu.Unlock()
	}
}

// converse yields messages until the result of a prompt, and reports whether it came or will
// not come any more.
func (s *Session) converse(ctx context.Context, id, text string, yield func(Message, error) bool) (finished bool, err error) {
	if err := s.write(map[string]any{"type": "user", "uuid": id, "message": map[string]any{"role": "user", "content": text}}); err != nil {
		return true, err
	}
	for {
		m, err := s.receive(ctx)
		switch {
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			return false, context.Cause(ctx)
		case err != nil:
			return true, err
		case !yield(m.Message, nil):
			return m.prompt == id, nil
		case m.prompt == id:
			return true, nil
		}
	}
}

// abandon interrupts a turn that the caller no longer follows, and drops its messages.
func (s *Session) abandon(id string) {
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		s.Interrupt(ctx) // ok: the result tells
		for {
			m, err := s.receive(context.Background())
			if err != nil || m.prompt == id {
				break
			}
		}
		s.mu.Lock()
		s.busy = false
		s.mu.Unlock()
	})
}

// receive returns the next message.
func (s *Session) receive(ctx context.Context) (received, error) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			m := s.queue[0]
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return m, nil
		}
		ended := s.ended
		s.mu.Unlock()
		if ended != nil {
			return received{}, ended
		}
		select {
		case <-s.arrived:
		case <-s.done:
		case <-ctx.Done():
			return received{}, ctx.Err()
		}
	}
}

// Interrupt ends the running turn. Its result follows.
func (s *Session) Interrupt(ctx context.Context) error {
	return s.Request(ctx, "interrupt", nil, nil)
}

// SetModel changes the model from the next request on; "" means the default.
func (s *Session) SetModel(ctx context.Context, name string) error {
	return s.Request(ctx, "set_model", map[string]any{"model": cmp.Or(name, "default")}, nil)
}

// SetPermissionMode changes the permission mode.
func (s *Session) SetPermissionMode(ctx context.Context, mode string) error {
	return s.Request(ctx, "set_permission_mode", map[string]any{"mode": mode}, nil)
}

// Request sends a request of the control protocol with these fields, and decodes the answer
// into result unless that is nil. docs/hosts.md lists the requests.
func (s *Session) Request(ctx context.Context, subtype string, fields map[string]any, result any) error {
	request := map[string]any{"subtype": subtype}
	for name, value := range fields {
		request[name] = value
	}
	answer := make(chan reply, 1)
	s.mu.Lock()
	s.next++
	id := "sdk-" + strconv.Itoa(s.next)
	s.requests[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.requests, id)
		s.mu.Unlock()
	}()
	if err := s.write(map[string]any{"type": "control_request", "request_id": id, "request": request}); err != nil {
		return err
	}
	select {
	case r := <-answer:
		if r.err != nil || result == nil {
			return r.err
		}
		return json.Unmarshal(r.data, result)
	case <-s.done:
		return s.ended
	case <-ctx.Done():
		s.write(map[string]any{"type": "control_cancel_request", "request_id": id}) // ok: nobody waits for it
		return context.Cause(ctx)
	}
}

// Close ends the session: adze finishes, which it is given five seconds for, and exits.
func (s *Session) Close() error {
	err := s.process.Stdin.Close()
	timer := time.AfterFunc(closeTimeout, s.process.Kill)
	defer timer.Stop()
	<-s.done
	s.work.Wait()
	return err
}

// write writes a line to adze.
func (s *Session) write(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.process.Stdin.Write(append(data, '\n')); err != nil {
		select {
		case <-s.done:
			return s.ended
		case <-time.After(closeTimeout):
			return err
		}
	}
	return nil
}

// read handles the lines of adze until it ends.
func (s *Session) read(ctx context.Context, cancel func()) {
	in := bufio.NewReader(s.process.Stdout)
	var err error
	for err == nil {
		var data []byte
		if data, err = in.ReadBytes('\n'); len(bytes.TrimSpace(data)) > 0 && err == nil {
			err = s.take(ctx, data)
		}
	}
	cancel()
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		s.process.Kill()
	}
	ended := s.process.Wait()
	s.mu.Lock()
	s.ended = s.stderr.explain(cmp.Or(err, ended))
	s.mu.Unlock()
	close(s.done)
}

// take handles a line.
func (s *Session) take(ctx context.Context, data []byte) error {
	var w struct {
		Type      string          `json:"type"`
		RequestID string          `json:"request_id"`
		Request   json.RawMessage `json:"request"`
		Response  struct {
			RequestID string          `json:"request_id"`
			Response  json.RawMessage `json:"response"`
			Subtype   string          `json:"subtype"`
			Error     string          `json:"error"`
		} `json:"response"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("adze wrote a line that is not valid: %w", err)
	}
	switch w.Type {
	case "control_response":
		r := reply{data: w.Response.Response}
		if w.Response.Subtype != "success" {
			r.err = errors.New(w.Response.Error)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if answer := s.requests[w.Response.RequestID]; answer != nil {
			answer <- r
			delete(s.requests, w.Response.RequestID)
		}
	case "control_request":
		s.answer(ctx, w.RequestID, w.Request)
	case "control_cancel_request":
		s.mu.Lock()
		defer s.mu.Unlock()
		if cancel := s.serving[w.RequestID]; cancel != nil {
			cancel()
		}
	default:
		all, prompt, err := decode(data)
		if err != nil {
			return err
		}
		s.mu.Lock()
		for _, m := range all {
			s.queue = append(s.queue, received{m, prompt})
		}
		s.mu.Unlock()
		select {
		case s.arrived <- struct{}{}:
		default:
		}
	}
	return nil
}

// answer answers a request of adze in the background.
func (s *Session) answer(ctx context.Context, id string, data json.RawMessage) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.serving[id] = cancel
	s.mu.Unlock()
	s.work.Go(func() {
		defer cancel()
		value, err := s.handle(ctx, data)
		s.mu.Lock()
		delete(s.serving, id)
		s.mu.Unlock()
		response := map[string]any{"subtype": "success", "request_id": id, "response": value}
		if err != nil {
			response = map[string]any{"subtype": "error", "request_id": id, "error": err.Error()}
		}
		s.write(map[string]any{"type": "control_response", "response": response}) // ok: adze has ended
	})
}

// handle runs the function of the caller that a request is for. A panic is an error, which
// denies.
func (s *Session) handle(ctx context.Context, data json.RawMessage) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	var w struct {
		Subtype  string          `json:"subtype"`
		Callback string          `json:"callback_id"`
		Input    json.RawMessage `json:"input"`
		Server   string          `json:"server_name"`
		Message  json.RawMessage `json:"message"`
	}
	// The type of message depends on the subtype: a string in a question of a server.
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	switch w.Subtype {
	case "can_use_tool":
		return s.decide(ctx, data)
	case "hook_callback":
		return s.runHook(ctx, w.Callback, w.Input)
	case "mcp_message":
		b := s.servers[w.Server]
		if b == nil {
			return nil, fmt.Errorf("no server %q", w.Server)
		}
		answer, err := b.exchange(ctx, w.Message)
		return map[string]any{"mcp_response": answer}, err
	case "elicitation":
		return map[string]any{"action": "decline"}, nil
	}
	return nil, fmt.Errorf("%s is not supported", w.Subtype)
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// A Session is one conversation's view of the servers. A server's requests go to the conversation
// whose call to it is running.
type Session struct {
	servers *Servers
	client  Client
	running map[*server][]context.Context // running calls
}

// Join adds a conversation. Servers may use the capabilities of client; others are refused.
func (s *Servers) Join(client Client) *Session {
	sh := &Session{servers: s, client: client, running: map[*server][]context.Context{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares = append(s.shares, sh)
	return sh
}

// Leave removes the conversation.
func (sh *Session) Leave() {
	s := sh.servers
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares = slices.DeleteFunc(slices.Clone(s.shares), func(x *Session) bool { return x == sh })
}

// WithResources returns the names of the connected servers that have resources. It is cheaper
// than [Servers.List].
func (sh *Session) WithResources() []string {
	s := sh.servers
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, sv := range s.all() {
		if sv.state == Connected && sv.about.Resources {
			names = append(names, sv.entry.Name)
		}
	}
	return names
}

// Call is [Servers.Call] for the conversation.
func (sh *Session) Call(ctx context.Context, server, tool string, input json.RawMessage, progress func(Progress)) (*Result, error) {
	return callTool(ctx, sh.servers, sh, server, tool, input, progress)
}

// begin records a conversation's call, and returns a function that records its end. Sh may be
// nil.
func (b *hub) begin(ctx context.Context, sh *Session, sv *server) (end func()) {
	if sh == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	sh.running[sv] = append(sh.running[sv], ctx)
	return func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		left := slices.DeleteFunc(sh.running[sv], func(c context.Context) bool { return c == ctx })
		if sh.running[sv] = left; len(left) == 0 {
			delete(sh.running, sv)
		}
	}
}

// asked returns the conversation that handles a server's requests, and the context of its
// latest call, or nil.
func (b *hub) asked(sv *server) (*Session, context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, sh := range slices.Backward(b.shares) {
		if calls := sh.running[sv]; len(calls) > 0 {
			return sh, calls[len(calls)-1]
		}
	}
	return nil, nil
}

// until returns a context that ends when ctx or call does.
func until(ctx, call context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(call, cancel)
	return ctx, func() { stop(); cancel() }
}

// each calls f with the client of each conversation that uses the server.
func (sv *server) each(f func(*Client)) {
	sv.mu.Lock()
	shares := slices.Clone(sv.shares)
	sv.mu.Unlock()
	for _, sh := range shares {
		if sh.servers.has(sv.home) {
			f(&sh.client)
		}
	}
}

// roots returns the directories of all conversations that use the server.
func (sv *server) roots() []string {
	var all []string
	sv.each(func(c *Client) {
		if c.Roots == nil {
			return
		}
		for _, dir := range c.Roots() {
			if !slices.Contains(all, dir) {
				all = append(all, dir)
			}
		}
	})
	return all
}

// elicit asks the user. If no call to the server is running, it declines.
func (b *hub) elicit(ctx context.Context, sv *server, e Elicitation) (Elicited, error) {
	sh, during := b.asked(sv)
	if sh == nil || sh.client.Elicit == nil {
		return Elicited{Action: "decline"}, nil
	}
	ctx, cancel := until(ctx, during)
	defer cancel()
	defer b.pause(sv)()
	e.Server = sv.entry.Name
	return sh.client.Elicit(ctx, e)
}

// sample queries the model.
func (b *hub) sample(ctx context.Context, sv *server, q SampleRequest) (SampleResult, error) {
	sh, during := b.asked(sv)
	if sh == nil || sh.client.Sample == nil {
		return SampleResult{}, errors.New("no conversation can answer")
	}
	ctx, cancel := until(ctx, during)
	defer cancel()
	defer b.pause(sv)()
	q.Server = sv.entry.Name
	return sh.client.Sample(ctx, q)
}

// pause suspends the timeouts of a server's calls until resume is called.
func (b *hub) pause(sv *server) (resume func()) {
	add := func(n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		sv.asking += n
	}
	add(1)
	return func() { add(-1) }
}

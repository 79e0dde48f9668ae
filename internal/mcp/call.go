package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Call calls a tool by the server's own name for it, connecting first if necessary. The call
// fails if it shows no activity for the configured time. If the server no longer knows the
// session, the call is repeated once in a new one. Progress may be nil.
func (s *Servers) Call(ctx context.Context, server, tool string, input json.RawMessage, progress func(Progress)) (*Result, error) {
	return callTool(ctx, s, nil, server, tool, input, progress)
}

// callTool calls a tool for a conversation; sh may be nil.
func callTool(ctx context.Context, s *Servers, sh *Session, server, tool string, input json.RawMessage, progress func(Progress)) (*Result, error) {
	return use(ctx, s, operation[*Result]{server: server, share: sh, do: func(ctx context.Context, c Conn, alive func()) (*Result, error) {
		return c.Call(ctx, tool, input, func(p Progress) {
			alive()
			if progress != nil {
				progress(p)
			}
		})
	}})
}

// Read reads a server's resource.
func (s *Servers) Read(ctx context.Context, server, uri string) ([]Content, error) {
	return use(ctx, s, operation[[]Content]{server: server, do: func(ctx context.Context, c Conn, _ func()) ([]Content, error) {
		return c.Read(ctx, uri)
	}})
}

// Prompt returns the messages of a server's prompt.
func (s *Servers) Prompt(ctx context.Context, server, name string, args map[string]string) ([]PromptMessage, error) {
	return use(ctx, s, operation[[]PromptMessage]{server: server, do: func(ctx context.Context, c Conn, _ func()) ([]PromptMessage, error) {
		return c.Prompt(ctx, name, args)
	}})
}

// An operation is an operation on a connection.
type operation[T any] struct {
	server string
	share  *Session // may be nil
	// do performs the operation. It calls alive when there is activity.
	do func(ctx context.Context, c Conn, alive func()) (T, error)
}

const maxURLs = 3 // limit on repeating a call after the user has opened URLs

// use performs an operation, and repeats it if the session was gone or the user had to open
// URLs first.
func use[T any](ctx context.Context, s *Servers, u operation[T]) (T, error) {
	var none T
	for gone, urls := false, 0; ; {
		sv, conn, err := s.ensure(ctx, u.server)
		if err != nil {
			return none, err
		}
		end := s.begin(ctx, u.share, sv)
		v, err := once(ctx, s, sv, conn, u.do)
		closed := sv.handleError(conn, err)
		var lost *GoneError
		var open *URLError
		switch {
		case err == nil:
			end()
			return v, nil
		case ctx.Err() != nil:
			end()
			return none, context.Cause(ctx)
		case errors.As(err, &lost) && !gone:
			gone = true
		case errors.As(err, &open) && urls < maxURLs:
			urls++
			err := s.openURLs(ctx, sv, open)
			if err != nil {
				end()
				return none, err
			}
		default:
			end()
			if auth := (*AuthError)(nil); closed || errors.As(err, &lost) || errors.As(err, &auth) {
				return none, describe(u.server, err)
			}
			return none, sv.cause(conn, err)
		}
		end()
	}
}

// once performs an operation within the call timeout.
func once[T any](ctx context.Context, s *Servers, sv *server, conn Conn, do func(context.Context, Conn, func()) (T, error)) (T, error) {
	limit := sv.entry.Timeout
	if limit <= 0 {
		limit = s.cfg.Call
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := fmt.Errorf("no response from server %s for %s", sv.entry.Name, span(limit))
	var timer *time.Timer
	start := make(chan struct{})
	timer = time.AfterFunc(limit, func() {
		<-start
		s.mu.Lock()
		asking := sv.asking > 0
		s.mu.Unlock()
		if asking { // waiting for the user does not count
			timer.Reset(limit)
			return
		}
		cancel(silent)
	})
	close(start)
	defer timer.Stop()

	type outcome struct {
		v   T
		err error
	}
	back := make(chan outcome, 1)
	go func() {
		v, err := do(ctx, conn, func() {
			if ctx.Err() == nil {
				timer.Reset(limit)
			}
		})
		back <- outcome{v, err}
	}()
	var none T
	select {
	case o := <-back:
		if o.err != nil && context.Cause(ctx) == silent {
			return none, silent
		}
		return o.v, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-conn.Done():
	}
	// Results that arrived before the connection ended still count.
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case o := <-back:
		return o.v, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-grace.C:
		return none, cmpError(conn.Err(), errors.New("the connection is closed"))
	}
}

// handleError updates the server's state after an operation's error, and closes an unusable
// connection.
func (sv *server) handleError(conn Conn, err error) (closed bool) {
	var (
		auth *AuthError
		gone *GoneError
		lost *LostError
	)
	sv.mu.Lock()
	if sv.conn != conn {
		sv.mu.Unlock()
		return false
	}
	switch {
	case errors.As(err, &auth):
		closed = true
		sv.conn = nil
		sv.forget()
		sv.become(NeedsAuth, err)
		sv.say(sv, SignInAdvice(sv.entry.Name))
	case errors.As(err, &gone):
		closed = true
		sv.conn, sv.lost = nil, 0
		sv.uncache(sv)
		sv.connect(attemptConfig{})
	case errors.As(err, &lost) && sv.entry.Remote():
		if sv.lost++; sv.lost >= maxLost {
			closed = true
			sv.drop(err)
		}
	case err == nil || !errors.Is(err, context.Canceled):
		sv.lost = 0
	}
	if closed {
		sv.spawn(func() { conn.Close() }) // ok: the connection is unusable
	}
	sv.unlock()
	if auth != nil && sv.cfg.Auth != nil {
		sv.cfg.Auth.Note(sv.entry)
	}
	return closed
}

// cause returns the error of a failed operation. For a server that has exited, it includes the
// end of its output.
func (sv *server) cause(conn Conn, err error) error {
	name := sv.entry.Name
	var lost *LostError
	if errors.As(err, &lost) && !sv.entry.Remote() { // a call may notice the program's exit first
		select {
		case <-conn.Done():
		case <-time.After(time.Second):
		}
	}
	select {
	case <-conn.Done():
	default:
		return err
	}
	sv.mu.Lock()
	state, known := sv.state, !sv.gone
	sv.mu.Unlock()
	switch {
	case state == Disabled:
		return fmt.Errorf("the server %s was disabled during the call, which may have taken effect", name)
	case !known:
		return fmt.Errorf("the server %s was closed during the call, which may have taken effect", name)
	}
	text := fmt.Sprintf("the server %s ended during the call: %v; the call may have taken effect, so it was not retried", name, err)
	if log := tail(conn.Log()); log != "" && !strings.Contains(text, log[strings.LastIndexByte(log, '\n')+1:]) {
		text += "\nThe last it printed:\n" + log
	}
	return errors.New(text)
}

// tail returns the last lines of a log, for an error message.
func tail(log string) string {
	const maxLines, maxBytes = 10, 2000
	lines := strings.Split(strings.TrimSpace(log), "\n")
	lines = lines[max(0, len(lines)-maxLines):]
	text := strings.Join(lines, "\n")
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[len(text)-maxBytes:], "")
	}
	return text
}

// openURLs asks the user to open the URLs a call needs.
func (s *Servers) openURLs(ctx context.Context, sv *server, open *URLError) error {
	for _, e := range open.Elicitations {
		e.Await = true
		answer, err := s.elicit(ctx, sv, e)
		if err != nil {
			return fmt.Errorf("asking the user to open a page of the server %s: %w", sv.entry.Name, err)
		}
		if answer.Action != "accept" {
			return fmt.Errorf("the server %s wants the user to open a page first, and they did not: %w", sv.entry.Name, open)
		}
	}
	return nil
}

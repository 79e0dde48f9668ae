package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/mcp/roster"
)

// A batch limits concurrent connection attempts; the others wait in order. The caller holds the
// servers' lock.
type batch struct {
	limit, running int
	queue          []func()
}

// run runs f as soon as a slot is free.
func (b *hub) run(in *batch, f func()) {
	if in.running >= in.limit {
		in.queue = append(in.queue, f)
		return
	}
	in.running++
	b.spawn(func() {
		for f != nil {
			f()
			b.mu.Lock()
			if len(in.queue) == 0 {
				f = nil
				in.running--
			} else {
				f = in.queue[0]
				in.queue = in.queue[1:]
			}
			b.mu.Unlock()
		}
	})
}

// An attempt is a connection attempt, shared by all users of the server.
type attempt struct {
	attemptConfig
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when conn and err are set
	conn   Conn
	err    error
}

// attemptConfig configures an attempt.
type attemptConfig struct {
	fresh bool // requested by the user, ignoring cached state
}

// wait returns the attempt's result.
func (a *attempt) wait(ctx context.Context) (Conn, error) {
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// connect starts connecting to a server, unless an attempt is already running. The caller holds
// the lock.
func (sv *server) connect(c attemptConfig) *attempt {
	if sv.attempt != nil {
		return sv.attempt
	}
	sv.retry.stop()
	a := &attempt{attemptConfig: c, done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(sv.ctx)
	if sv.closed {
		a.err = errClosed
		a.cancel()
		close(a.done)
		return a
	}
	sv.attempt = a
	sv.become(Pending, nil)
	b := &sv.remote
	if sv.entry.Type == roster.Stdio {
		b = &sv.local
	}
	sv.run(b, func() { sv.try(a) })
	return a
}

var errClosed = errors.New("the program is ending")

// try performs an attempt.
func (sv *server) try(a *attempt) {
	defer a.cancel()
	defer close(a.done)
	var got lists
	conn, cached, err := sv.dial(a)
	if err == nil {
		got, err = sv.greet(a.ctx, conn)
	}
	if err != nil && conn != nil {
		conn.Close() // ok: it is not needed
		conn = nil
	}
	if sv.cfg.Auth != nil && !cached && a.ctx.Err() == nil {
		var auth *AuthError
		if errors.As(err, &auth) {
			sv.cfg.Auth.Note(sv.entry)
		} else if err == nil && sv.entry.Remote() {
			sv.cfg.Auth.Clear(sv.entry)
		}
	}

	sv.mu.Lock()
	if sv.attempt != a { // the attempt was canceled
		sv.mu.Unlock()
		if conn != nil {
			conn.Close() // ok: as above
		}
		a.err = errOff
		return
	}
	sv.attempt = nil
	a.conn, a.err = conn, err
	if err != nil {
		sv.failed(err, cached)
	} else {
		sv.connected(conn, got)
	}
	sv.unlock()
}

var errOff = errors.New("the attempt to connect was called off")

func cmpError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// dial connects to the attempt's server within the time limit. Cached means that the server was
// not contacted because it is known to require a sign-in.
func (sv *server) dial(a *attempt) (conn Conn, cached bool, err error) {
	if err := a.ctx.Err(); err != nil {
		return nil, false, err
	}
	e := sv.entry
	if !a.fresh && sv.cfg.Auth != nil && e.Remote() && sv.cfg.Auth.Needed(e) {
		return nil, true, &AuthError{Server: e.Name, Cached: true, Err: errors.New("it asked for that a short while ago")}
	}
	ctx, cancel := sv.bounded(a.ctx)
	defer cancel()
	conn, err = sv.cfg.Dialer.Dial(ctx, e, sv.client())
	return conn, false, sv.explain(ctx, err)
}

// errSlow is the cause of a context whose connect or list timeout has expired.
var errSlow = errors.New("too slow")

// bounded returns a context with the connect timeout.
func (b *hub) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, b.cfg.Connect, errSlow)
}

// explain returns err, or a timeout error if ctx has expired.
func (b *hub) explain(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errSlow {
		slow := fmt.Errorf("it did not answer within %s", span(b.cfg.Connect))
		if silent := (*SilentError)(nil); errors.As(err, &silent) {
			return &SilentError{silent.Printed, slow}
		}
		return slow
	}
	return err
}

// span formats a duration for the user: 10m, not 10m0s.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// connected sets the server's connection. The caller holds the lock.
func (sv *server) connected(conn Conn, got lists) {
	sv.conn, sv.lost, sv.retry = conn, 0, retry{}
	before, changes := sv.lists, got.changes
	sv.lists = got
	sv.changes, sv.subscribed, sv.refreshing = before.changes, before.subscribed, before.refreshing
	sv.dirty, sv.listed = before.dirty, time.Now()
	sv.version++
	sv.become(Connected, nil)
	sv.report(sv, changes)
	sv.spawn(func() {
		select {
		case <-conn.Done():
			sv.ended(conn)
		case <-sv.ctx.Done():
		}
	})
	for uri := range sv.subscribed {
		sv.spawn(func() {
			ctx, cancel := sv.bounded(sv.ctx)
			defer cancel()
			if err := conn.Subscribe(ctx, uri); err != nil && sv.cfg.Log != nil {
				sv.cfg.Log.Debug("mcp resource subscription ended", "server", sv.entry.Name, "uri", uri, "err", err)
			}
		})
	}
	if sv.dirty != 0 {
		sv.schedule()
	}
}

// failed records a failed attempt. The caller holds the lock.
func (sv *server) failed(err error, quiet bool) {
	var auth *AuthError
	switch {
	case errors.As(err, &auth):
		sv.forget()
		sv.become(NeedsAuth, err)
		if !quiet {
			sv.say(sv, SignInAdvice(sv.entry.Name))
		}
	case sv.retry.active && sv.retry.tries < maxTries:
		sv.err = err
		sv.again()
	default:
		sv.retry = retry{}
		sv.forget()
		sv.become(Failed, err)
		sv.say(sv, fmt.Sprintf("the server %s failed: %s", sv.entry.Name, brief(err)))
	}
}

// SignInAdvice returns advice for a server that requires a sign-in.
func SignInAdvice(name string) string {
	return fmt.Sprintf("the server %s wants you to sign in: type /mcp auth %s, or run adze mcp login %s", name, name, name)
}

// say queues a message for the user. The caller holds the lock.
func (b *hub) say(sv *server, text string) {
	b.news = append(b.news, stateChange{server: sv.entry.Name, say: text})
}

// A retry is the state of reconnecting to a remote server.
type retry struct {
	active bool
	tries  int // attempts started
	timer  *time.Timer
}

func (r *retry) stop() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// again schedules the next reconnect attempt. The caller holds the lock.
func (sv *server) again() {
	sv.retry.active = true
	pause := min(firstPause<<sv.retry.tries, maxPause)
	sv.retry.tries++
	sv.retry.timer = time.AfterFunc(pause, func() {
		sv.mu.Lock()
		defer sv.unlock()
		if sv.retry.active && sv.conn == nil && sv.state == Pending && !sv.closed {
			sv.connect(attemptConfig{})
		}
	})
}

// ended handles a lost connection.
func (sv *server) ended(conn Conn) {
	log := conn.Log()
	sv.mu.Lock()
	if sv.conn == conn {
		sv.log = log
		sv.drop(cmpError(conn.Err(), errors.New("the connection is closed")))
	}
	sv.unlock()
	conn.Close() // ok: it is gone
}

// drop marks a server's connection as unusable. The caller holds the lock. A local server is
// restarted when it is next used, unless it died too often; a remote server is retried after a
// pause. Its tools remain available.
func (sv *server) drop(why error) {
	sv.conn, sv.lost = nil, 0
	sv.uncache(sv)
	if sv.entry.Remote() {
		sv.become(Pending, why)
		sv.again()
		return
	}
	now := time.Now()
	sv.deaths = append(slices.DeleteFunc(sv.deaths, func(at time.Time) bool { return now.Sub(at) >= deathSpan }), now)
	if len(sv.deaths) < maxDeaths {
		sv.become(Pending, why)
		return
	}
	sv.forget()
	sv.become(Failed, fmt.Errorf("it ended %d times within %s, the last time with: %w", len(sv.deaths), span(deathSpan), why))
	sv.say(sv, fmt.Sprintf("the server %s failed: %s; /mcp reconnect %s starts it again", sv.entry.Name, brief(sv.err), sv.entry.Name))
}

// forget discards a server's lists. The caller holds the lock.
func (sv *server) forget() {
	sv.uncache(sv)
	sv.lists = lists{changes: sv.changes, subscribed: sv.subscribed, refreshing: sv.refreshing}
	sv.version++
}

// release releases a server's connection and attempts, and returns the connection for the
// caller to close. The caller holds the lock.
func (sv *server) release() []Conn {
	sv.retry.stop()
	sv.retry = retry{}
	if sv.attempt != nil {
		sv.attempt.cancel()
		sv.attempt = nil
	}
	sv.forget()
	conn := sv.conn
	sv.conn, sv.lost = nil, 0
	if conn == nil {
		return nil
	}
	sv.log = conn.Log()
	return []Conn{conn}
}

// ensure returns a connection to a server, connecting if necessary.
func (s *Servers) ensure(ctx context.Context, name string) (*server, Conn, error) {
	for {
		sv, conn, a, err := s.request(name)
		if err != nil || conn != nil {
			return sv, conn, err
		}
		if a == nil { // the connection is gone
			continue
		}
		conn, err = a.wait(ctx)
		if err == errOff {
			continue
		}
		return sv, conn, describe(name, err)
	}
}

// request returns a server's connection, or an attempt to make it. It returns neither if the
// connection was found to be gone.
func (s *Servers) request(name string) (*server, Conn, *attempt, error) {
	s.mu.Lock()
	sv, err := s.find(name)
	if err == nil {
		err = sv.startable()
	}
	if err == nil && sv.state == Failed && len(sv.deaths) >= maxDeaths {
		err = fmt.Errorf("the server %s failed: %w; the user can start it again with /mcp reconnect %s", name, sv.err, name)
	}
	if err != nil {
		s.unlock()
		return nil, nil, nil, err
	}
	conn := sv.conn
	if conn == nil {
		a := sv.connect(attemptConfig{})
		s.unlock()
		return sv, nil, a, nil
	}
	s.unlock()
	select {
	case <-conn.Done():
		sv.ended(conn)
		return nil, nil, nil, nil
	default:
		return sv, conn, nil, nil
	}
}

// describe adds the server's name to an error.
func describe(name string, err error) error {
	var auth *AuthError
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &auth):
		return fmt.Errorf("%s (%w)", SignInAdvice(name), err)
	}
	return fmt.Errorf("the server %s cannot be reached: %w", name, err)
}

// client returns the callbacks a server may use.
func (sv *server) client() Client {
	c := Client{
		Roots:  sv.roots,
		Elicit: func(ctx context.Context, e Elicitation) (Elicited, error) { return sv.elicit(ctx, sv, e) },
		Elicited: func(e Elicitation) {
			e.Server = sv.entry.Name
			sv.each(func(c *Client) { call(c.Elicited, e) })
		},
		Updated: func(uri string) { sv.updated(sv.entry.Name, uri) },
		Changed: func(l List) { sv.changed(l) },
		Logged: func(level, text string) {
			sv.each(func(c *Client) {
				if c.Logged != nil {
					c.Logged(level, text)
				}
			})
			if sv.cfg.Log != nil {
				sv.cfg.Log.Debug("mcp server says", "name", sv.entry.Name, "level", level, "text", text)
			}
		},
	}
	if sv.cfg.Samples != nil && sv.cfg.Samples(sv.entry.Name) {
		c.Sample = func(ctx context.Context, q SampleRequest) (SampleResult, error) { return sv.sample(ctx, sv, q) }
	}
	if sv.cfg.Pushes != nil && sv.cfg.Pushes(sv.entry.Name) {
		c.Pushed = func(p Push) {
			p.Server = sv.entry.Name
			sv.each(func(c *Client) { call(c.Pushed, p) })
		}
	}
	return c
}

func call[T any](f func(T), v T) {
	if f != nil {
		f(v)
	}
}

// brief returns the first line of an error, which may include all of a program's output. /mcp
// NAME shows the rest.
func brief(err error) string {
	text, rest, _ := strings.Cut(err.Error(), "\n")
	if strings.TrimSpace(rest) != "" {
		text += " …"
	}
	return text
}

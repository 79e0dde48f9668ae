// Package client speaks the Model Context Protocol with servers, on the official library and over every transport. All
// that comes from a server is bounded and cleaned here. When to connect and what to do about errors is left to others.
package client

//lint:file-ignore SA1019 roots, sampling and logging are of older revisions, which most servers speak

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/osproc"
)

// A Config says how to reach servers.
type Config struct {
	// Runner runs the programs of servers, in Dir and with Env, to which that of each server is added.
	Runner *osproc.Runner
	Dir    string
	Env    []string
	// HTTP carries the requests to servers that are reached over the network.
	HTTP http.RoundTripper
	// Version is that of this program, which servers are told.
	Version string
	// Timeout is how long a request may take, other than the call of a tool; 0 means a minute.
	Timeout time.Duration
	// Authorize returns what carries the requests to a server: the given one, with the user's token. Its errors may be of
	// type [*mcp.AuthError]. If nil, there are no tokens.
	Authorize func(*roster.Entry, http.RoundTripper) http.RoundTripper
	// Headers returns more headers for a server; it is called for each connection, and may be nil.
	Headers func(context.Context, *roster.Entry) (map[string]string, error)
	// Host has servers of its own; it may be nil.
	Host Host
	// Log is told what a server does wrong; it may be nil.
	Log func(server, line string)
}

// A Dialer connects to servers. It implements [mcp.Dialer].
type Dialer struct{ Config }

// New returns a dialer.
func New(c Config) *Dialer { return &Dialer{c} }

func (d *Dialer) limit() time.Duration {
	if d.Timeout > 0 {
		return d.Timeout
	}
	return time.Minute
}

// The newest version of the protocol is asked for where every request is answered. Elsewhere a server of an older
// version might leave its first request without an answer, so that version comes first.
const olderProtocol = "2025-11-25"

// Dial implements [mcp.Dialer].
func (d *Dialer) Dial(ctx context.Context, e *roster.Entry, client mcp.Client) (mcp.Conn, error) {
	var c *conn
	var err error
	if e.Type == roster.HTTP || e.Type == roster.Proxy {
		c, err = d.dialNewest(ctx, e, client)
	} else if c, err = d.dial(ctx, e, client, olderProtocol); err != nil && wantsNewer(err) {
		c, err = d.dial(ctx, e, client, "")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// patience is how long a server may take to answer a request of the newest protocol, before it is taken for one that
// does not know it and says nothing.
const patience = 10 * time.Second

// dialNewest connects with the newest version of the protocol. A server may answer what it does not know with anything,
// so after an error an older version is tried.
func (d *Dialer) dialNewest(ctx context.Context, e *roster.Entry, client mcp.Client) (*conn, error) {
	soon, cancel := context.WithTimeout(ctx, patience)
	c, err := d.dial(soon, e, client, "")
	cancel()
	var auth *mcp.AuthError
	if err == nil || ctx.Err() != nil || errors.As(err, &auth) {
		return c, err
	}
	return d.dial(ctx, e, client, olderProtocol)
}

// dial connects with a version of the protocol, or the newest.
func (d *Dialer) dial(ctx context.Context, e *roster.Entry, client mcp.Client, version string) (*conn, error) {
	c := &conn{entry: e, ears: ears{client: client, calls: map[string]*running{}}, limit: d.limit(), done: make(chan struct{}), names: map[string]string{}}
	c.log = func(text string) {
		if d.Log != nil {
			d.Log(e.Name, text)
		}
	}
	c.ears.life, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	life := c.ears.life
	g := newGuard(&strikes{log: c.log, end: c.fail}, c.ears.pushed)
	greeting := &inquiry{}
	if err := d.reach(ctx, life, c, g); err != nil {
		c.cancel(err)
		return nil, c.explain(ctx, err, greeting)
	}
	options := &sdk.ClientSessionOptions{ProtocolVersion: version}
	c.library = sdk.NewClient(&sdk.Implementation{Name: "adze", Version: d.Version}, c.ears.options())
	c.syncRoots()
	// The connection outlives the context that it was made with.
	stop := context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })
	session, err := c.library.Connect(greeting.with(life), c.link.transport, options)
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	if !stop() && err == nil {
		go session.Close() // ok: it is gone either way
		err = ctx.Err()
	}
	if err != nil {
		err = c.explain(ctx, err, greeting)
		c.close(err)
		if said := lastWords(c.Log()); said != "" && ctx.Err() != nil {
			err = &mcp.SilentError{Printed: said, Err: err}
		}
		return nil, err
	}
	c.begin()
	return c, nil
}

// reach sets how c reaches its server.
func (d *Dialer) reach(ctx, life context.Context, c *conn, g *guard) error {
	e := c.entry
	switch e.Type {
	case roster.Stdio:
		p, err := d.stdio(e, g.strikes)
		if err != nil {
			return err
		}
		c.link = link{g.guarded(p), p.stop, p.log, p.reason}
	case roster.Host:
		h, err := d.hosted(life, e.Given, g.strikes)
		if err != nil {
			return err
		}
		c.link = link{transport: g.guarded(h), stop: func() { h.fail(errClosed) }}
	case roster.HTTP, roster.Proxy, roster.SSE, roster.SSEIDE, roster.WS, roster.WSIDE:
		r, err := d.remote(ctx, e)
		if err != nil {
			return err
		}
		switch e.Type {
		case roster.WS, roster.WSIDE:
			s := d.socket(life, r, g.strikes)
			c.link = link{transport: g.guarded(s), stop: s.stop}
		case roster.SSE, roster.SSEIDE:
			c.link.transport = g.guarded(&sdk.SSEClientTransport{Endpoint: e.URL, HTTPClient: r.client(), MaxEventSize: maxMessage})
		default:
			r.guard = g
			c.link.transport = &sdk.StreamableClientTransport{Endpoint: e.URL, HTTPClient: r.client(), MaxEventSize: maxMessage}
		}
	default:
		return fmt.Errorf("there is no transport %q", e.Type)
	}
	return nil
}

// syncRoots makes the directories of the conversation those that the library tells.
func (c *conn) syncRoots() {
	if c.ears.client.Roots == nil {
		return
	}
	have := map[string]bool{}
	var roots []*sdk.Root
	for _, dir := range c.ears.client.Roots() {
		uri := fileURI(dir)
		have[uri] = true
		roots = append(roots, &sdk.Root{URI: uri, Name: filepath.Base(dir)})
	}
	c.mu.Lock()
	old := c.roots
	c.roots = have
	c.mu.Unlock()
	var gone []string
	for uri := range old {
		if !have[uri] {
			gone = append(gone, uri)
		}
	}
	c.library.RemoveRoots(gone...)
	c.library.AddRoots(roots...)
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

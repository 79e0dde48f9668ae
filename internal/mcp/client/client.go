// Package client implements a Model Context Protocol client on top of the official SDK, for
// every transport. It bounds and cleans everything that comes from a server.
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
	"adze/internal/platform/proc/osproc"
)

// Config configures a Dialer.
type Config struct {
	// Runner runs server programs, in Dir and with Env plus each server's own environment.
	Runner *osproc.Runner
	Dir    string
	Env    []string
	// HTTP performs requests to remote servers.
	HTTP http.RoundTripper
	// Version is adze's version, sent to servers.
	Version string
	// Timeout limits requests other than tool calls; 0 means a minute.
	Timeout time.Duration
	// Authorize wraps a server's RoundTripper to add the user's token. The wrapper's errors may
	// be of type [*mcp.AuthError]. If nil, no tokens are sent.
	Authorize func(*roster.Entry, http.RoundTripper) http.RoundTripper
	// Headers returns additional headers for a server; it is called for each connection, and
	// may be nil.
	Headers func(context.Context, *roster.Entry) (map[string]string, error)
	// Host provides in-process servers; it may be nil.
	Host Host
	// Log is called with a server's protocol violations; it may be nil.
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

// olderProtocol is the version tried first on transports where a server with an older version
// might not answer its first request. On the others every request is answered, so the newest
// version is tried first.
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

// patience is how long a server may take to answer a request of the newest protocol before it
// is assumed not to support it.
const patience = 10 * time.Second

// dialNewest connects with the newest protocol version. A server may answer an unknown request
// with anything, so after any error an older version is tried.
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

// dial connects with the given protocol version, or the newest if empty.
func (d *Dialer) dial(ctx context.Context, e *roster.Entry, client mcp.Client, version string) (*conn, error) {
	c := &conn{entry: e, handlers: clientHandlers{client: client, calls: map[string]*running{}}, limit: d.limit(), done: make(chan struct{}), names: map[string]string{}}
	c.log = func(text string) {
		if d.Log != nil {
			d.Log(e.Name, text)
		}
	}
	c.handlers.life, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	life := c.handlers.life
	g := newGuard(&violations{log: c.log, end: c.fail}, c.handlers.pushed)
	greeting := &requestState{}
	if err := d.reach(ctx, life, c, g); err != nil {
		c.cancel(err)
		return nil, c.explain(ctx, err, greeting)
	}
	options := &sdk.ClientSessionOptions{ProtocolVersion: version}
	c.library = sdk.NewClient(&sdk.Implementation{Name: "adze", Version: d.Version}, c.handlers.options())
	c.syncRoots()
	// The connection outlives the dial context.
	stop := context.AfterFunc(ctx, func() { c.fail(context.Cause(ctx)) })
	session, err := c.library.Connect(greeting.with(life), c.link.transport, options)
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	if !stop() && err == nil {
		go session.Close() // ok: it is closed either way
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

// reach sets up the transport of c.
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
		return fmt.Errorf("unknown transport %q", e.Type)
	}
	return nil
}

// syncRoots sets the SDK's roots to the conversation's directories.
func (c *conn) syncRoots() {
	if c.handlers.client.Roots == nil {
		return
	}
	have := map[string]bool{}
	var roots []*sdk.Root
	for _, dir := range c.handlers.client.Roots() {
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
		path = "/" + path // path with a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

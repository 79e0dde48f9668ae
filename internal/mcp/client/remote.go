package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
)

const (
	// maxRefusal limits the bytes read of an error response.
	maxRefusal   = 1 << 20
	maxRedirects = 5
	// farewell is the maximum time to end a session.
	farewell = 400 * time.Millisecond
)

var (
	errClosed = errors.New("the connection was closed")
	errSlow   = errors.New("the server did not answer in time")
)

// A remote sends HTTP requests to one server: with its headers and to no other host, within
// time limits, and through the guard, if set.
type remote struct {
	d       *Dialer
	entry   *roster.Entry
	url     *url.URL                          // an http or https URL
	headers atomic.Pointer[map[string]string] // current headers
	next    http.RoundTripper
	guard   *guard // nil if messages are guarded elsewhere
}

func (d *Dialer) remote(ctx context.Context, e *roster.Entry) (*remote, error) {
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not a server URL", e.URL)
	}
	switch u.Scheme {
	case "ws":
		u.Scheme = "http"
	case "wss":
		u.Scheme = "https"
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the URL of a server cannot begin with %s:", u.Scheme)
	}
	if ide := e.Type == roster.SSEIDE || e.Type == roster.WSIDE; ide && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("an editor is on this machine, and %s is not", u.Hostname())
	}
	r := &remote{d: d, entry: e, url: u, next: d.HTTP}
	if d.Authorize != nil && (e.Type == roster.HTTP || e.Type == roster.SSE || e.Type == roster.WS) {
		r.next = d.Authorize(e, r.next)
	}
	return r, r.refresh(ctx)
}

// refresh computes the headers for every request.
func (r *remote) refresh(ctx context.Context) error {
	headers := map[string]string{"User-Agent": "adze/" + r.d.Version}
	maps.Copy(headers, r.entry.Headers)
	if r.d.Headers != nil {
		more, err := r.d.Headers(ctx, r.entry)
		if err != nil {
			return err
		}
		maps.Copy(headers, more)
	}
	r.headers.Store(&headers)
	return nil
}

// client returns an HTTP client for the server.
func (r *remote) client() *http.Client {
	return &http.Client{Transport: r, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return errors.New("the server redirects too often")
		}
		return r.here(req.URL)
	}}
}

// here returns an error if a URL is not on the server.
func (r *remote) here(u *url.URL) error {
	if u.Scheme == r.url.Scheme && strings.EqualFold(u.Host, r.url.Host) {
		return nil
	}
	return fmt.Errorf("the server sends us to %s://%s, which is not followed; if it is right, set the URL to it", line(u.Scheme, nameLimit), line(u.Host, nameLimit))
}

// RoundTrip implements [http.RoundTripper].
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.here(req.URL); err != nil {
		return nil, err
	}
	if req.Method == http.MethodGet && r.guard != nil && req.Header.Get("Last-Event-ID") == "" {
		return r.standing(req), nil
	}
	q := requestStateOf(req.Context())
	var id jsonrpc.ID
	if req.Method != http.MethodPost {
		q = nil
	} else {
		var err error
		req = req.Clone(req.Context())
		if id, err = r.note(req); err != nil {
			return nil, err
		}
	}
	res, err := r.do(req, q, id)
	if err == nil && res.StatusCode == http.StatusUnauthorized && r.entry.Type == roster.Proxy && r.d.Headers != nil {
		res, err = r.again(req, res, q, id)
	}
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		if err = r.refused(req); err != nil {
			res.Body.Close() // ok: the body is not read
		}
	}
	if err != nil {
		q.report(0, err)
		return nil, err
	}
	q.report(res.StatusCode, nil)
	return res, nil
}

// note passes a message to the guard and returns its ID if it is a request. A message other
// than a tool call is sent again on a new connection if the server closes an idle connection at
// the same moment.
func (r *remote) note(req *http.Request) (id jsonrpc.ID, err error) {
	if req.GetBody == nil {
		return id, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return id, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return id, err
	}
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return id, nil // ok: the server reports the error
	}
	call, _ := msg.(*jsonrpc.Request)
	if call == nil || call.Method != "tools/call" {
		req.Header["Idempotency-Key"] = nil // enables retries; not sent, see [http.Transport]
	}
	if r.guard == nil {
		return id, nil
	}
	r.guard.out(req.Context(), msg)
	if call != nil {
		id = call.ID
	}
	return id, nil
}

// again repeats a request with new headers.
func (r *remote) again(req *http.Request, res *http.Response, q *requestState, id jsonrpc.ID) (*http.Response, error) {
	if err := r.refresh(req.Context()); err != nil {
		return res, nil // ok: the refusal is the result
	}
	req = req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return res, nil // ok: as above
		}
		req.Body = body
	}
	res.Body.Close() // ok: the body is not read
	return r.do(req, q, id)
}

// refused returns the error for an unauthorized request.
func (r *remote) refused(req *http.Request) error {
	for name := range *r.headers.Load() {
		if strings.EqualFold(name, "Authorization") {
			return errors.New("the server refuses the Authorization header of its configuration (HTTP 401)")
		}
	}
	return &mcp.AuthError{Server: r.entry.Name, Err: errors.New("HTTP 401")}
}

// do performs a request. A response other than an event stream must be complete within the
// timeout.
func (r *remote) do(req *http.Request, q *requestState, id jsonrpc.ID) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	limit := r.d.limit()
	if req.Method == http.MethodDelete {
		limit = farewell
	}
	timer := time.AfterFunc(limit, func() { cancel(errSlow) })
	if q != nil && q.patient {
		timer.Stop()
	}
	req = req.Clone(ctx)
	for name, value := range *r.headers.Load() {
		req.Header.Set(name, value)
	}
	res, err := r.next.RoundTrip(req)
	if err != nil {
		timer.Stop()
		if context.Cause(ctx) == errSlow {
			err = errSlow
		}
		cancel(nil)
		return nil, err
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		timer.Stop()
		return res, nil
	}
	b := &body{ReadCloser: res.Body, left: maxMessage, ctx: ctx, close: func() { timer.Stop(); cancel(nil) }}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // ok: treated as a different type
	res.Body = b
	switch {
	case res.StatusCode >= 300:
		b.left = maxRefusal
		if r.guard != nil && req.Method == http.MethodPost {
			res.Body = &answer{body: b, guard: r.guard, q: q, id: id}
		}
	case kind == "text/event-stream":
		timer.Stop()
		b.left = -1
		if r.guard != nil {
			res.Body = &events{body: b, guard: r.guard, q: q, id: id}
		}
	case kind == "application/json" && r.guard != nil && req.Method == http.MethodPost:
		res.Body = &answer{body: b, guard: r.guard, q: q, id: id}
	}
	return res, nil
}

// A body is a response body with a size limit.
type body struct {
	io.ReadCloser
	left  int64 // bytes left to read; negative means no limit
	ctx   context.Context
	close func()
}

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errTooLarge
	}
	if b.left > 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	if err != nil && err != io.EOF && context.Cause(b.ctx) == errSlow {
		err = errSlow
	}
	return n, err
}

func (b *body) Close() error {
	b.close()
	return b.ReadCloser.Close()
}

// An answer is a response body with a single message, which passes through the guard.
type answer struct {
	*body
	guard *guard
	q     *requestState
	id    jsonrpc.ID    // ID of the request being answered
	rest  *bytes.Reader // nil before the first Read
}

func (a *answer) Read(p []byte) (int, error) {
	if a.rest == nil {
		data, err := io.ReadAll(a.body)
		if errors.Is(err, errTooLarge) && a.id.IsValid() {
			data, err = jsonrpc.EncodeMessage(tooLarge(a.id))
		}
		if err != nil {
			a.q.report(0, err)
			return 0, err
		}
		if data, _, err = a.guard.through(data); err != nil {
			return 0, err
		}
		a.rest = bytes.NewReader(data)
	}
	return a.rest.Read(p)
}

// loopback reports whether host is the local machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

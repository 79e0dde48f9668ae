package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/model"
)

// maxErrorBody is the maximum number of bytes read from an error response.
const maxErrorBody = 1 << 20

// A client posts requests to one server.
type client struct {
	base    *url.URL
	header  http.Header // headers of every request, without the credentials
	proof   Authorizer
	dialect Dialect
	http    http.Client
	// authHint is the advice for the user if the credentials are rejected.
	authHint string
	limits   limits
}

func newClient(s Service, c Config, base *url.URL, proof Authorizer) *client {
	h := s.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	for name, values := range c.Headers {
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	h.Set("User-Agent", UserAgent(c.Version))
	return &client{
		base: base, header: h, proof: proof, dialect: s.Dialect, authHint: c.AuthHint,
		limits: limits{host: base.Host, note: c.Note},
		http: http.Client{
			Transport: c.Transport,
			// Following a redirect would leak the key to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// UserAgent returns adze's user agent string.
func UserAgent(version string) string {
	return fmt.Sprintf("adze/%s (%s; %s)", version, runtime.GOOS, runtime.GOARCH)
}

// A httpRequest is a request to be sent, by default with POST.
type httpRequest struct {
	method string // empty means POST
	path   string
	header http.Header // added to the client's headers; may be nil
	body   Body
	accept string
}

// send sends m and returns the response with its body unread. If the credentials are rejected,
// they are renewed once, if possible.
func (c *client) send(ctx context.Context, m httpRequest) (*http.Response, error) {
	for renewed := false; ; renewed = true {
		req, err := c.request(ctx, m)
		if err != nil {
			return nil, connectionError(err)
		}
		if err := c.proof.Authorize(req, m.body); err != nil {
			return nil, c.authError(ctx, err)
		}
		res, err := c.http.Do(req)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, connectionError(err)
		}
		if c.limits.read(res.Header); res.StatusCode < 300 {
			return res, nil
		}
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // ok: the status is the error, the text is extra
		res.Body.Close()                                              // ok: nothing depends on it
		e := c.responseError(res, text)
		doubted := res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden
		if renewed || !doubted || !c.proof.Renew(req, e, res.Header) {
			return nil, e
		}
	}
}

// authError returns the error for a request that could not be authorized.
func (c *client) authError(ctx context.Context, err error) error {
	var known *model.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &known):
		return known
	}
	return &model.Error{Kind: model.Auth, Message: err.Error(), Hint: c.authHint, Err: err}
}

// request returns an HTTP request for m, with the body in pieces.
func (c *client) request(ctx context.Context, m httpRequest) (*http.Request, error) {
	at, err := c.base.Parse(m.path)
	if err != nil {
		return nil, err
	}
	if more := c.base.RawQuery; more != "" { // some gateways require a version there
		at.RawQuery = strings.Trim(at.RawQuery+"&"+more, "&")
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(m.method, http.MethodPost), at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	for name, values := range m.header { // joined into one line, since not every server reads more
		req.Header.Set(name, strings.Join(slices.Concat(req.Header.Values(name), values), ","))
	}
	req.Header.Set("Accept", m.accept)
	if m.body == nil {
		return req, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.ContentLength = m.body.Len()
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(m.body.Reader()), nil }
	req.Body, err = req.GetBody()
	return req, err
}

// responseError returns the error for an error response.
func (c *client) responseError(res *http.Response, text []byte) *model.Error {
	if e := foreign(res, text); e != nil {
		return e
	}
	e := ErrorFrom(c.dialect, res.StatusCode, res.Header, text)
	switch {
	case unserved(e.Message):
		e.Kind, e.Hint = model.Refused, unservedHint
	case e.Kind == model.Auth && e.Hint == "":
		e.Hint = c.authHint
		if off := skew(res.Header, time.Now()); off != "" {
			e.Message = strings.TrimPrefix(e.Message+"; "+off, "; ")
		}
	}
	return e
}

// scrub removes the credentials from an error, in case the server repeats them.
func (c *client) scrub(err error) error {
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	secrets := slices.DeleteFunc(c.proof.Secrets(), func(s string) bool { return len(s) < minSecret })
	if !slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(e.Error(), s) }) {
		return err
	}
	clean := *e
	if clean.Message == "" && e.Err != nil {
		clean.Message = e.Err.Error()
	}
	for _, s := range secrets {
		clean.Message = strings.ReplaceAll(clean.Message, s, "***")
	}
	clean.Err = nil
	return &clean
}

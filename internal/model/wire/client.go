package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"adze/internal/model"
)

// maxErrorBody is the most that is read of an error response.
const maxErrorBody = 1 << 20

// A client posts requests to one address.
type client struct {
	base    *url.URL
	header  http.Header // of every request, without the credentials
	key     *credential
	dialect Dialect
	http    http.Client
}

func newClient(s Service, c Config, base *url.URL, key *credential) *client {
	h := s.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	for name, values := range c.Headers {
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	h.Set("User-Agent", fmt.Sprintf("adze/%s (%s; %s)", c.Version, runtime.GOOS, runtime.GOARCH))
	return &client{
		base: base, header: h, key: key, dialect: s.Dialect,
		http: http.Client{
			Transport: c.Transport,
			// Following a redirect would hand the key to another host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// send posts body and returns the response, of which nothing was read yet. A key that is not accepted is
// renewed once, if it can be.
func (c *client) send(ctx context.Context, path string, body Body, accept string) (*http.Response, error) {
	key, err := c.key.get(ctx, "")
	if err != nil {
		return nil, err
	}
	res, err := c.post(ctx, path, body, accept, key)
	var e *model.Error
	if errors.As(err, &e) && e.Status == http.StatusUnauthorized && c.key.renewable() {
		if key, err = c.key.get(ctx, key); err != nil {
			return nil, err
		}
		res, err = c.post(ctx, path, body, accept, key)
	}
	return res, err
}

func (c *client) post(ctx context.Context, path string, body Body, accept, key string) (*http.Response, error) {
	req, err := c.request(ctx, path, body)
	if err != nil {
		return nil, connectionError(err)
	}
	c.key.authorize(req.Header, key)
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, connectionError(err)
	case res.StatusCode >= 300:
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // ok: the status is the error, the text is extra
		return nil, c.refusal(res, text)
	}
	return res, nil
}

// request returns a request with body in its pieces.
func (c *client) request(ctx context.Context, path string, body Body) (*http.Request, error) {
	at, err := c.base.Parse(path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	req.ContentLength = body.Len()
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body.Reader()), nil }
	req.Body, err = req.GetBody()
	return req, err
}

// refusal returns the error for a response that is not an answer.
func (c *client) refusal(res *http.Response, text []byte) *model.Error {
	e := ErrorFrom(c.dialect, res.StatusCode, res.Header, text)
	if res.StatusCode < 400 {
		e.Kind, e.Message = model.Invalid, "the endpoint redirects elsewhere; check the base URL"
	}
	return e
}

// scrub removes the credentials from an error, in case the server repeats them.
func (c *client) scrub(err error) error {
	var e *model.Error
	if !errors.As(err, &e) || !slices.ContainsFunc(c.key.secrets(), func(s string) bool { return strings.Contains(e.Error(), s) }) {
		return err
	}
	clean := *e
	if clean.Message == "" && e.Err != nil {
		clean.Message = e.Err.Error()
	}
	clean.Message = c.key.mask(clean.Message)
	clean.Err = nil
	return &clean
}

package anthropic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"adze/internal/model"
	"adze/internal/model/messages"
)

// maxErrorBody is the most that is read of an error response.
const maxErrorBody = 1 << 20

// send posts body and returns the response, of which nothing was read yet. With a key helper, a key
// that is not accepted is fetched again, once.
func (p *Provider) send(ctx context.Context, path string, body messages.Body, accept string) (*http.Response, error) {
	key, err := p.key.get(ctx, "")
	if err != nil {
		return nil, err
	}
	res, err := p.post(ctx, path, body, accept, key)
	var e *model.Error
	if errors.As(err, &e) && e.Status == http.StatusUnauthorized && p.key.renewable() {
		if key, err = p.key.get(ctx, key); err != nil {
			return nil, err
		}
		res, err = p.post(ctx, path, body, accept, key)
	}
	return res, err
}

func (p *Provider) post(ctx context.Context, path string, body messages.Body, accept, key string) (*http.Response, error) {
	var res *http.Response
	opts := append(p.key.options(key),
		option.WithHeader("Accept", accept), option.WithHeader("Content-Type", "application/json"),
		option.WithMiddleware(carry(body)))
	err := p.client.Execute(ctx, http.MethodPost, path, nil, &res, opts...)
	switch {
	case res != nil && res.StatusCode >= 300:
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // ok: the status is the error, the text is extra
		return nil, refusal(res, text)
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, connectionError(err)
	}
	return res, nil
}

// carry puts body into a request, in its pieces: the client library would copy it first.
func carry(body messages.Body) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		req.ContentLength = body.Len()
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body.Reader()), nil }
		req.Body, _ = req.GetBody() // ok: it cannot fail
		return next(req)
	}
}

// refusal returns the error for a response that is not an answer.
func refusal(res *http.Response, text []byte) *model.Error {
	e := messages.ErrorFrom(res.StatusCode, res.Header, text)
	if res.StatusCode < 400 {
		e.Kind, e.Message = model.Invalid, "the endpoint redirects elsewhere; check the base URL"
	}
	return e
}

// connectionError returns the error for a request that got no response. The URL stays out of it: it is
// no news, and may hold a password.
func connectionError(err error) *model.Error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	e := &model.Error{Kind: model.Network, Message: err.Error(), Err: err}
	var (
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		ca        *badRootCAs
	)
	if errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) || errors.As(err, &ca) ||
		errors.Is(err, http.ErrSchemeMismatch) {
		e.Kind = model.TLS
	}
	return e
}

// guard is the last to see a request and the first to see its response: it takes out what would
// describe us as the client library, and bounds error bodies.
func (p *Provider) guard(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	res, err := next(req)
	if err != nil {
		return res, err
	}
	if res.StatusCode >= 300 {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxErrorBody), res.Body}
	}
	return res, nil
}

// scrub takes the credentials out of an error, in case the other side repeats them.
func (p *Provider) scrub(err error) error {
	var e *model.Error
	if !errors.As(err, &e) || !slices.ContainsFunc(p.key.secrets(), func(s string) bool { return strings.Contains(e.Error(), s) }) {
		return err
	}
	clean := *e
	if clean.Message == "" && e.Err != nil {
		clean.Message = e.Err.Error()
	}
	clean.Message = p.key.mask(clean.Message)
	clean.Err = nil
	return &clean
}

package signin

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/net/browser"
	"adze/internal/tool"
)

// Carry wraps base to add the user's token to requests to the server of e. An expiring or
// rejected token is replaced, and the request is sent once more. If the user has to sign in,
// the error is an [*mcp.AuthError]. Requests that already have an Authorization header, or go
// elsewhere, are unchanged.
func (k *TokenStore) Carry(e *roster.Entry, base http.RoundTripper) http.RoundTripper {
	return &authTransport{k: k, e: e, base: base}
}

type authTransport struct {
	k    *TokenStore
	e    *roster.Entry
	base http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (c *authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	server, err := url.Parse(c.e.URL)
	if err != nil || !sameOrigin(server, req.URL) {
		return c.base.RoundTrip(req)
	}
	if req.Header.Get("Authorization") != "" {
		res, err := c.base.RoundTrip(req)
		if err == nil && res.StatusCode == http.StatusUnauthorized {
			discard(res)
			return nil, errors.New("the server refuses the header Authorization of its configuration (status 401); correct it")
		}
		return res, err
	}
	if req.URL.Scheme != "https" && !browser.Local(req.URL.Hostname()) {
		res, err := c.base.RoundTrip(req)
		if err == nil && res.StatusCode == http.StatusUnauthorized {
			discard(res)
			return nil, errors.New("the server wants a token, and tokens are sent over https only; use https in its address")
		}
		return res, err
	}
	return c.send(req)
}

func (c *authTransport) send(req *http.Request) (*http.Response, error) {
	h := c.k.holder(c.e)
	token, err := h.access(req.Context(), c.e)
	if err != nil {
		shut(req)
		return nil, err
	}
	res, err := c.base.RoundTrip(with(req, token))
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return c.scoped(req, res, err)
	}
	asked := challengeOf(res.Header)
	h.setChallenge(asked)
	again, can := repeat(req)
	if can {
		if token, err = h.renew(req.Context(), c.e, token); err != nil {
			discard(res)
			return nil, err
		}
	}
	discard(res)
	if !can || token == "" {
		return nil, c.wanted(asked, http.StatusUnauthorized)
	}
	res, err = c.base.RoundTrip(with(again, token))
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		asked = challengeOf(res.Header)
		h.setChallenge(asked)
		discard(res)
		return nil, c.wanted(asked, http.StatusUnauthorized)
	}
	return c.scoped(req, res, err)
}

// scoped returns an error if the response reports an insufficient scope.
func (c *authTransport) scoped(req *http.Request, res *http.Response, err error) (*http.Response, error) {
	if err != nil || res.StatusCode != http.StatusForbidden {
		return res, err
	}
	asked := challengeOf(res.Header)
	if asked.code != "insufficient_scope" {
		return res, nil
	}
	h := c.k.holder(c.e)
	h.setChallenge(asked)
	h.want(req.Context(), strings.Fields(asked.scope))
	discard(res)
	return nil, c.wanted(asked, http.StatusForbidden)
}

// wanted returns the error for a server that requires a sign-in.
func (c *authTransport) wanted(asked challenge, status int) error {
	c.k.Cache.note(c.e, &asked)
	text := fmt.Sprintf("it answers with status %d", status)
	if said := strings.TrimSpace(asked.code + " " + asked.text); said != "" {
		text += ": " + tool.OneLine(said, maxSaid)
	}
	e := &mcp.AuthError{Server: c.e.Name, Err: errors.New(text)}
	if asked.code == "insufficient_scope" {
		e.Scope = strings.Join(union(strings.Fields(asked.scope)), " ")
	}
	return e
}

// with returns a request with a token, or without if it is empty.
func with(req *http.Request, token string) *http.Request {
	if token == "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}

// repeat returns a copy of a request to send again, if possible.
func repeat(req *http.Request) (*http.Request, bool) {
	again := req.Clone(req.Context())
	if req.Body == nil || req.Body == http.NoBody {
		return again, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	again.Body = body
	return again, err == nil
}

// shut closes the body of an unsent request.
func shut(req *http.Request) {
	if req.Body != nil {
		req.Body.Close() // ok: nothing is read from it
	}
}

// discard reads the rest of a short response, so that its connection can be reused.
func discard(res *http.Response) {
	io.CopyN(io.Discard, res.Body, 64<<10) // ok: nothing depends on it
	res.Body.Close()
}

package wire

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
)

// keyLifetime is how long a helper's key is cached.
const keyLifetime = 5 * time.Minute

// An Authorizer authenticates requests to a service. It is safe for concurrent use.
type Authorizer interface {
	// Authorize adds credentials to a request that is otherwise complete and will send body. An
	// error other than [*model.Error] counts as [model.Auth].
	Authorize(req *http.Request, body Body) error

	// Renew is called when the server has answered req with status 401 or 403, with the error
	// and the response headers. It reports whether the next credentials will differ, so that
	// one more try is worthwhile.
	Renew(req *http.Request, e *model.Error, answer http.Header) bool

	// Secrets returns everything that must not be shown.
	Secrets() []string
}

// newAuthorizer returns the authorizer for a service.
func newAuthorizer(s Service, c Config) (Authorizer, error) {
	if s.NewAuthorizer == nil {
		return newCredential(s, c)
	}
	own, err := s.NewAuthorizer(c)
	if err != nil {
		return nil, err
	}
	return guarded{own, headerSecrets(c)}, nil
}

// guarded is an authorizer with secrets in the custom headers.
type guarded struct {
	Authorizer
	more []string
}

func (g guarded) Secrets() []string { return append(g.Authorizer.Secrets(), g.more...) }

// A credential provides a key and keeps it from being shown. It implements [Authorizer].
type credential struct {
	fixed   string
	helper  func(context.Context) (string, error) // replaces fixed if non-nil
	origin  string                                // prefix for its errors; may be empty
	headers []string                              // headers for the key
	other   []string                              // secrets in the custom headers

	mu       sync.Mutex
	last     string // last key from the helper
	when     time.Time
	rejected string   // key the server rejected
	past     []string // earlier keys, which are still secret
}

// secretHeaders lists the custom headers that can authenticate a request.
var secretHeaders = [...]string{"Authorization", "X-Api-Key", "Proxy-Authorization", "Cookie"}

// headerSecrets returns the header values that must not be shown: everything the user has set,
// since gateways use their own names for credentials.
func headerSecrets(c Config) (secrets []string) {
	for _, values := range c.Headers {
		for _, v := range values {
			v = strings.TrimSpace(strings.TrimPrefix(v, "Bearer "))
			if v != "" && !slices.Contains(secrets, v) {
				secrets = append(secrets, v)
			}
		}
	}
	return secrets
}

// authenticates reports whether the user has set a header that authenticates requests.
func authenticates(s Service, h http.Header) bool {
	return slices.ContainsFunc(append(secretHeaders[:], s.KeyHeader), func(name string) bool { return h.Get(name) != "" })
}

func newCredential(s Service, c Config) (*credential, error) {
	cr := &credential{other: headerSecrets(c)}
	switch {
	case c.KeyHelper != nil:
		// The key may be meant for the API or for a gateway in front of it, which look in
		// different places.
		cr.helper, cr.headers = c.KeyHelper, []string{s.KeyHeader, "Authorization"}
		cr.origin = "running the key helper: "
	case c.StoredKey != nil:
		cr.helper, cr.headers = c.StoredKey, []string{s.KeyHeader}
	case c.AuthToken != "":
		cr.fixed, cr.headers = c.AuthToken, []string{"Authorization"}
	case c.APIKey != "":
		cr.fixed, cr.headers = c.APIKey, []string{s.KeyHeader}
	case !c.NoKey && !authenticates(s, c.Headers):
		return nil, errors.New("no credentials; set " + s.KeyVariable)
	}
	if strings.ContainsFunc(cr.fixed, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("the API key contains a line break or control character; set it again without")
	}
	return cr, nil
}

// get returns the key to use.
func (c *credential) get(ctx context.Context) (string, error) {
	if c.helper == nil {
		return c.fixed, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != "" && c.last != c.rejected && time.Since(c.when) < keyLifetime {
		return c.last, nil
	}
	key, err := c.helper(ctx)
	key = strings.TrimSpace(key)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", &model.Error{Kind: model.Auth, Message: c.origin + err.Error(), Err: err}
	case key == "":
		return "", &model.Error{Kind: model.Auth, Message: c.origin + "no key"}
	}
	if c.last != "" && c.last != key {
		c.past = append(c.past, c.last)
	}
	c.last, c.when, c.rejected = key, time.Now(), ""
	return key, nil
}

// Authorize implements [Authorizer]: it adds the key, if there is one, to the headers.
func (c *credential) Authorize(req *http.Request, _ Body) error {
	key, err := c.get(req.Context())
	if key == "" || err != nil {
		return err
	}
	for _, name := range c.headers {
		if name == "Authorization" {
			req.Header.Set(name, "Bearer "+key)
		} else {
			req.Header.Set(name, key)
		}
	}
	return nil
}

// Renew implements [Authorizer]: a helper may have a newer key than req.
func (c *credential) Renew(req *http.Request, e *model.Error, _ http.Header) bool {
	if c.helper == nil || e.Status != http.StatusUnauthorized {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejected = strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	return true
}

// minSecret is the minimum length of a value to mask in texts: shorter values are not
// considered secrets, and masking them would garble the text.
const minSecret = 8

// Secrets implements [Authorizer].
func (c *credential) Secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(append(slices.Clone(c.other), c.fixed, c.last), c.past...)
}

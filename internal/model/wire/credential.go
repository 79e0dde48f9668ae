package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
)

// keyLifetime is how long a helper's key is used.
const keyLifetime = 5 * time.Minute

// A credential hands out a key and keeps it from being shown.
type credential struct {
	fixed   string
	helper  func(context.Context) (string, error) // in place of fixed; may be nil
	headers []string                              // where the key goes
	other   []string                              // secrets among the custom headers

	mu   sync.Mutex
	last string // from the helper
	when time.Time
	past []string // earlier keys, which are still secrets
}

// secretHeaders are the custom headers that can authenticate a request.
var secretHeaders = [...]string{"Authorization", "X-Api-Key", "Proxy-Authorization", "Cookie"}

func newCredential(s Service, c Config) (*credential, error) {
	cr := &credential{}
	for _, name := range append(secretHeaders[:], s.KeyHeader) {
		for _, v := range c.Headers.Values(name) {
			v = strings.TrimSpace(strings.TrimPrefix(v, "Bearer "))
			if v != "" && !slices.Contains(cr.other, v) {
				cr.other = append(cr.other, v)
			}
		}
	}
	switch {
	case c.KeyHelper != nil:
		// The key may be meant for the API or for a gateway before it, which look in different places.
		cr.helper, cr.headers = c.KeyHelper, []string{s.KeyHeader, "Authorization"}
	case c.AuthToken != "":
		cr.fixed, cr.headers = c.AuthToken, []string{"Authorization"}
	case c.APIKey != "":
		cr.fixed, cr.headers = c.APIKey, []string{s.KeyHeader}
	case len(cr.other) == 0:
		return nil, errors.New("no credentials; set " + s.KeyVariable)
	}
	if strings.ContainsFunc(cr.fixed, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("the API key contains a line break or control character; set it again without")
	}
	return cr, nil
}

// renewable reports whether another key can be had.
func (c *credential) renewable() bool { return c.helper != nil }

// get returns the key to use. Rejected is the one that was not accepted, or empty.
func (c *credential) get(ctx context.Context, rejected string) (string, error) {
	if c.helper == nil {
		return c.fixed, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != "" && c.last != rejected && time.Since(c.when) < keyLifetime {
		return c.last, nil
	}
	key, err := c.helper(ctx)
	key = strings.TrimSpace(key)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", &model.Error{Kind: model.Auth, Message: fmt.Sprintf("running the key helper: %v", err), Err: err}
	case key == "":
		return "", &model.Error{Kind: model.Auth, Message: "the key helper printed nothing"}
	}
	if c.last != "" && c.last != key {
		c.past = append(c.past, c.last)
	}
	c.last, c.when = key, time.Now()
	return key, nil
}

// authorize adds key, which may be empty, to the headers of a request.
func (c *credential) authorize(h http.Header, key string) {
	if key == "" {
		return
	}
	for _, name := range c.headers {
		if name == "Authorization" {
			h.Set(name, "Bearer "+key)
		} else {
			h.Set(name, key)
		}
	}
}

// minSecret is the length from which a value is looked for in texts: a shorter one is no secret, and
// masking it would garble the text.
const minSecret = 8

// secrets returns everything that must not be shown.
func (c *credential) secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := append(slices.Clone(c.other), c.fixed, c.last)
	all = append(all, c.past...)
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
}

// mask returns text with the secrets replaced.
func (c *credential) mask(text string) string {
	for _, s := range c.secrets() {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

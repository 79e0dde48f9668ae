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

// A Key is what requests are authenticated with. The zero value leaves that to the custom headers.
type Key struct {
	// Value is the key itself.
	Value string
	// Helper returns a key in place of Value. It is asked again after five minutes, and once when the key
	// is not accepted.
	Helper func(context.Context) (string, error)
	// Headers are where the key goes. In Authorization it is a bearer token.
	Headers []string
	// Variable is the environment variable to name when there is no key.
	Variable string
}

// keyLifetime is how long a helper's key is used.
const keyLifetime = 5 * time.Minute

// A credential hands out a key and keeps it from being shown.
type credential struct {
	Key
	other []string // secrets among the custom headers

	mu   sync.Mutex
	last string // from the helper
	when time.Time
	past []string // earlier keys, which are still secrets
}

// secretHeaders are the custom headers that can authenticate a request.
var secretHeaders = [...]string{"Authorization", "X-Api-Key", "Proxy-Authorization", "Cookie"}

func newCredential(k Key, custom http.Header) (*credential, error) {
	c := &credential{Key: k}
	for _, name := range secretHeaders {
		for _, v := range custom.Values(name) {
			v = strings.TrimSpace(strings.TrimPrefix(v, "Bearer "))
			if v != "" {
				c.other = append(c.other, v)
			}
		}
	}
	if k.Helper == nil && k.Value == "" && len(c.other) == 0 {
		return nil, errors.New("no credentials; set " + k.Variable)
	}
	if strings.ContainsFunc(k.Value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("the API key contains a line break or control character; set it again without")
	}
	return c, nil
}

// renewable reports whether another key can be had.
func (c *credential) renewable() bool { return c.Helper != nil }

// get returns the key to use. Rejected is the one that was not accepted, or empty.
func (c *credential) get(ctx context.Context, rejected string) (string, error) {
	if c.Helper == nil {
		return c.Value, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != "" && c.last != rejected && time.Since(c.when) < keyLifetime {
		return c.last, nil
	}
	key, err := c.Helper(ctx)
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
	for _, name := range c.Headers {
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
	all := append(slices.Clone(c.other), c.Value, c.last)
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

package anthropic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"

	"adze/internal/model"
)

// keyLifetime is how long a helper's key is used.
const keyLifetime = 5 * time.Minute

// A credential knows what to authenticate with. It never shows it.
type credential struct {
	kind   credentialKind
	fixed  string
	helper func(context.Context) (string, error)
	other  []string // secrets among the custom headers

	state *helperState
}

type credentialKind uint8

const (
	byHeader credentialKind = iota // a custom header authenticates
	byKey
	byToken
	byHelper
)

// helperState is what the helper said last.
type helperState struct {
	mu   sync.Mutex
	key  string
	when time.Time
	past []string // earlier keys, which are still secrets
}

func newCredential(c Config) (credential, error) {
	cr := credential{state: new(helperState)}
	for _, name := range []string{"Authorization", "X-Api-Key", "Proxy-Authorization", "Cookie"} {
		for _, v := range c.Headers.Values(name) {
			v = strings.TrimSpace(strings.TrimPrefix(v, "Bearer "))
			if v != "" {
				cr.other = append(cr.other, v)
			}
		}
	}
	switch {
	case c.KeyHelper != nil:
		cr.kind, cr.helper = byHelper, c.KeyHelper
	case c.AuthToken != "":
		cr.kind, cr.fixed = byToken, c.AuthToken
	case c.APIKey != "":
		cr.kind, cr.fixed = byKey, c.APIKey
	case len(cr.other) == 0:
		return credential{}, errors.New("no credentials; set ANTHROPIC_API_KEY")
	}
	if strings.ContainsFunc(cr.fixed, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return credential{}, errors.New("the API key contains a line break or control character; set it again without")
	}
	return cr, nil
}

// renewable reports whether another key can be had.
func (c *credential) renewable() bool { return c.kind == byHelper }

// get returns the key to use. rejected is the one that was not accepted, or empty.
func (c *credential) get(ctx context.Context, rejected string) (string, error) {
	if c.kind != byHelper {
		return c.fixed, nil
	}
	s := c.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != "" && s.key != rejected && time.Since(s.when) < keyLifetime {
		return s.key, nil
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
	if s.key != "" && s.key != key {
		s.past = append(s.past, s.key)
	}
	s.key, s.when = key, time.Now()
	return key, nil
}

// options authenticates a request. A helper's key may be meant for the API or for a gateway before it,
// which look in different places.
func (c *credential) options(key string) []option.RequestOption {
	switch c.kind {
	case byKey:
		return []option.RequestOption{option.WithAPIKey(key)}
	case byToken:
		return []option.RequestOption{option.WithAuthToken(key)}
	case byHelper:
		return []option.RequestOption{option.WithAPIKey(key), option.WithAuthToken(key)}
	}
	return nil
}

// secrets returns everything that must not be shown.
func (c *credential) secrets() []string {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	all := append(slices.Clone(c.other), c.fixed, c.state.key)
	all = append(all, c.state.past...)
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
}

// minSecret is the length from which a value is looked for in texts: a shorter one is no secret, and
// masking it would garble what is said.
const minSecret = 8

// mask returns text with the secrets taken out.
func (c *credential) mask(text string) string {
	for _, s := range c.secrets() {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/net/keyring"
)

const (
	// ahead is the maximum time before expiry at which a token is replaced.
	ahead = time.Minute
	// refreshLimit limits a token refresh, which continues if the request that needed it is
	// canceled: the old token is already void.
	refreshLimit = 30 * time.Second
)

// A holder holds the token for one server.
type holder struct {
	keeper          *TokenStore
	key, name, host string

	mu     sync.Mutex
	loaded bool
	grant  *grant // nil if not signed in
	// asked is the server's last challenge, if any.
	asked *challenge
	// flight is non-nil while a refresh is running, and closed when it ends.
	flight chan struct{}
	failed error // error of the last refresh
}

// challenged returns the server's challenge, if known.
func (h *holder) challenged() (challenge, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked == nil {
		return challenge{}, false
	}
	return *h.asked, true
}

// setChallenge stores the server's challenge.
func (h *holder) setChallenge(c challenge) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = &c
}

// granted returns the scopes that the user has already authorized, and the additional ones the
// server requested.
func (h *holder) granted(ctx context.Context, issuer string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.load(ctx); err != nil || h.grant == nil || h.grant.Issuer != issuer {
		return nil
	}
	return strings.Fields(h.grant.Scope + " " + h.grant.Wanted)
}

// want stores that the server requires additional scopes, so that the next sign-in requests
// them, also in another process.
func (h *holder) want(ctx context.Context, scopes []string) {
	unlock, err := h.lock(ctx)
	if err != nil {
		return // ok: the next sign-in requests less, and then happens again
	}
	defer unlock()
	g, err := h.read(ctx)
	if err != nil || g == nil {
		return
	}
	wanted := strings.Join(union(strings.Fields(g.Wanted), scopes), " ")
	if wanted == g.Wanted {
		return
	}
	g.Wanted = wanted
	h.write(ctx, g) // ok: as above
}

// load reads the token, once. The caller holds the lock.
func (h *holder) load(ctx context.Context) error {
	if h.loaded {
		return nil
	}
	g, err := h.read(ctx)
	if err == nil {
		h.grant, h.loaded = g, true
	}
	return err
}

// read returns the stored grant, or nil.
func (h *holder) read(ctx context.Context) (*grant, error) {
	if h.keeper.store == nil {
		return nil, nil
	}
	text, err := h.keeper.store.Get(ctx, h.key)
	switch {
	case errors.Is(err, keyring.ErrNotFound), errors.Is(err, keyring.ErrLost):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var g grant
	if json.Unmarshal([]byte(text), &g) != nil || g.Access == "" {
		return nil, nil // ok: the user signs in again
	}
	return &g, nil
}

// write stores a token in the keyring, or in the file if that fails.
func (h *holder) write(ctx context.Context, g *grant) error {
	if h.keeper.store == nil {
		return nil
	}
	data, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if _, err = h.keeper.store.Set(ctx, h.key, h.host, string(data), keyring.Auto); err != nil {
		_, err = h.keeper.store.Set(ctx, h.key, h.host, string(data), keyring.File)
	}
	return err
}

// take stores a new grant.
func (h *holder) take(ctx context.Context, g *grant) error {
	unlock, err := h.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.write(ctx, g); err != nil {
		return fmt.Errorf("the token cannot be stored: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grant, h.loaded, h.asked = g, true, nil
	return nil
}

// lock prevents other processes from refreshing the token at the same time.
func (h *holder) lock(ctx context.Context) (unlock func(), err error) {
	if h.keeper.store == nil {
		return func() {}, nil
	}
	home := h.keeper.c.Home
	if err := fsys.MkdirPrivate(home); err != nil {
		return nil, err
	}
	dir, err := os.Open(home)
	if err != nil {
		return nil, err
	}
	file, err := h.keeper.locks.Lock(ctx, dir, "token "+h.key)
	if err != nil {
		dir.Close()
		return nil, err
	}
	return func() { file.Unlock(); dir.Close() }, nil
}

// access returns the token to send, or "" if not signed in. A token about to expire is replaced
// first, if possible.
func (h *holder) access(ctx context.Context, e *roster.Entry) (string, error) {
	h.mu.Lock()
	err := h.load(ctx)
	g := h.grant
	h.mu.Unlock()
	if err != nil || g == nil {
		return "", err
	}
	now := h.keeper.c.Now()
	if g.Refresh == "" || g.Expires.IsZero() || now.Before(g.Expires.Add(-min(ahead, g.Expires.Sub(g.Issued)/5))) {
		return g.Access, nil
	}
	another, err := h.renew(ctx, e, g.Access)
	if (err != nil || another == "") && now.Before(g.Expires) {
		return g.Access, nil // still valid
	}
	return another, err
}

// renew returns a replacement for a rejected or expiring token, or "" if the user has to sign
// in. Concurrent requests share it.
func (h *holder) renew(ctx context.Context, e *roster.Entry, rejected string) (string, error) {
	h.mu.Lock()
	if h.grant != nil && h.grant.Access != rejected { // another request was faster
		defer h.mu.Unlock()
		return h.grant.Access, nil
	}
	flight := h.flight
	if flight == nil {
		flight = make(chan struct{})
		h.flight = flight
		go func() {
			background, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshLimit)
			defer cancel()
			g, err := h.another(background, e, rejected)
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.failed = err; err == nil {
				h.grant, h.loaded = g, true
			}
			h.flight = nil
			close(flight)
		}()
	}
	h.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed != nil || h.grant == nil || h.grant.Access == rejected {
		return "", h.failed
	}
	return h.grant.Access, nil
}

// another returns the token that another process has stored in the meantime, or a new one from
// the service, which it stores first. It returns nil if the user has to sign in.
func (h *holder) another(ctx context.Context, e *roster.Entry, rejected string) (*grant, error) {
	unlock, err := h.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	g, err := h.read(ctx)
	if err != nil {
		return nil, err
	}
	if h.keeper.store == nil {
		h.mu.Lock()
		g = h.grant
		h.mu.Unlock()
	}
	if g == nil || g.Access != rejected {
		return g, nil
	}
	if g.Refresh == "" {
		return nil, nil
	}
	f, err := h.keeper.fetcher(ctx, e)
	if err != nil {
		return nil, err
	}
	defer f.close()
	next := *g
	err = next.ask(ctx, f, h.keeper.c.Now(), url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}})
	var status *statusError
	if errors.As(err, &status) && status.status/100 == 4 && status.status != 408 && status.status != 429 {
		return nil, h.remove(ctx) // the token is void
	}
	if err != nil {
		return nil, err
	}
	if err := h.write(ctx, &next); err != nil {
		h.keeper.c.Say(fmt.Sprintf("the token for %s cannot be stored, so that you have to sign in again next time: %v", h.name, err))
	}
	return &next, nil
}

// remove removes the stored grant.
func (h *holder) remove(ctx context.Context) error {
	if h.keeper.store == nil {
		return nil
	}
	if _, err := h.keeper.store.Remove(ctx, h.key); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return err
	}
	return nil
}

// forget removes the token, locally and at the service.
func (h *holder) forget(ctx context.Context) error {
	unlock, err := h.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	g, err := h.read(ctx)
	if err != nil {
		h.keeper.c.Say(fmt.Sprintf("the token for %s is not revoked: %v", h.name, err))
	}
	h.mu.Lock()
	h.grant, h.loaded, h.asked = nil, true, nil
	h.mu.Unlock()
	if err := h.remove(ctx); err != nil {
		return err
	}
	if g == nil || g.RevokeURL == "" {
		return nil
	}
	if err := h.revoke(ctx, g); err != nil {
		h.keeper.c.Say(fmt.Sprintf("the token for %s is removed here, but was not revoked: %v", h.name, err))
	}
	return nil
}

// revoke revokes the token at the service (RFC 7009).
func (h *holder) revoke(ctx context.Context, g *grant) error {
	f, err := h.keeper.fetcher(ctx, &roster.Entry{URL: g.Server})
	if err != nil {
		return err
	}
	defer f.close()
	form := url.Values{"token": {g.Access}, "token_type_hint": {"access_token"}}
	if g.Refresh != "" {
		form = url.Values{"token": {g.Refresh}, "token_type_hint": {"refresh_token"}}
	}
	who := g.identified(form)
	return f.post(ctx, g.RevokeURL, "application/x-www-form-urlencoded", form.Encode(), who, nil)
}

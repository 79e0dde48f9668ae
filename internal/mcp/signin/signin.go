// Package signin signs the user in to MCP servers: it discovers where to sign in, opens a
// browser flow, stores the resulting tokens, and adds them to requests to that server and no
// other. It also runs the commands that print headers for a server.
//
// Servers are not trusted: addresses must be https, or local for a local server; a public
// server cannot refer to a private address; responses are bounded; issuer and resource must
// match the request.
package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/net/keyring"
	"adze/internal/platform/net/transport"
)

// Config configures a [TokenStore].
type Config struct {
	// Home is adze's own directory. If empty, tokens are kept only in memory.
	Home string
	// Network returns the network configuration. It may be nil.
	Network func() transport.Config
	// Dir and Environ are used for commands that print headers. A nil Environ means the
	// process's environment.
	Dir     string
	Environ func() []string
	// Version is adze's version.
	Version string
	// Now returns the time; nil means [time.Now].
	Now func() time.Time
	// Say shows the user a non-fatal problem. It may be nil.
	Say func(string)
}

// A TokenStore manages servers' tokens. It reads nothing before the first request to a server. It
// is safe for concurrent use, also by several processes.
type TokenStore struct {
	c     Config
	locks *replace.Replacer
	store *keyring.Store // nil without a home
	Cache *Cache

	mu      sync.Mutex
	holders map[string]*holder // keyed by keyOf
}

// New returns a keeper.
func New(c Config) *TokenStore {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Say == nil {
		c.Say = func(string) {}
	}
	if c.Network == nil {
		c.Network = func() transport.Config { return transport.Config{} }
	}
	k := &TokenStore{c: c, holders: map[string]*holder{}, Cache: &Cache{home: c.Home, now: c.Now}}
	if c.Home != "" {
		// Token locks need their own directory: locks in a directory may share files, and the
		// store is locked while a token is.
		k.locks = replace.New(filepath.Join(c.Home, "locks", "tokens"))
		k.store = keyring.Open(c.Home, replace.New(filepath.Join(c.Home, "locks")))
	}
	return k
}

// keyOf returns the storage key of a server's token. It includes the address, so that a changed
// address does not get the token.
func keyOf(e *roster.Entry) string {
	sum := sha256.Sum256([]byte(e.URL))
	return keyring.ServerPrefix + e.Name + ":" + hex.EncodeToString(sum[:6])
}

// holder returns the holder of a server's token.
func (k *TokenStore) holder(e *roster.Entry) *holder {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := keyOf(e)
	h := k.holders[key]
	if h == nil {
		h = &holder{keeper: k, key: key, name: e.Name, host: hostOf(e.URL)}
		k.holders[key] = h
	}
	return h
}

// A Login is a server that the user has signed in to.
type Login struct {
	Server string        `json:"server"`
	Host   string        `json:"host"`
	Place  keyring.Place `json:"place"`
	Added  time.Time     `json:"added"`
}

// Logins returns the servers with a token among the stored entries.
func Logins(stored []keyring.Entry) (list []Login) {
	for _, e := range stored {
		if name, ok := serverOf(e.Name); ok {
			list = append(list, Login{name, e.Host, e.Place, e.Added})
		}
	}
	return list
}

// serverOf returns a key's server.
func serverOf(key string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(key, keyring.ServerPrefix)
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return "", false
	}
	return rest[:i], true
}

// ErrNotSignedIn is returned if no token is stored for a server.
var ErrNotSignedIn = errors.New("you are not signed in")

// Logout removes the tokens for the named server, at all addresses, and asks the issuing
// service to revoke them. If the service cannot be reached, it tells the user but returns no
// error. The error is [ErrNotSignedIn] if no token was stored.
func (k *TokenStore) Logout(ctx context.Context, server string) error {
	keys, err := k.keys(server)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return ErrNotSignedIn
	}
	for _, key := range keys {
		k.mu.Lock()
		h := k.holders[key]
		if h == nil {
			h = &holder{keeper: k, key: key, name: server}
			k.holders[key] = h
		}
		k.mu.Unlock()
		if err := h.forget(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stored reports whether a token is stored for the named server, at any address.
func (k *TokenStore) Stored(server string) (bool, error) {
	keys, err := k.keys(server)
	return len(keys) > 0, err
}

// keys returns the storage keys of the named server's tokens.
func (k *TokenStore) keys(server string) (keys []string, err error) {
	if k.store == nil {
		return nil, nil
	}
	entries, err := k.store.List()
	for _, e := range entries {
		if name, ok := serverOf(e.Name); ok && name == server {
			keys = append(keys, e.Name)
		}
	}
	return keys, err
}

// hostOf returns the host of an address, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

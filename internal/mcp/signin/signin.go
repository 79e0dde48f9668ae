// Package signin signs the user in to servers of the Model Context Protocol: it finds out where a server wants that, has
// the user do it in a web browser, keeps the tokens that come of it, and puts them on requests to that server and no
// other. It also runs the commands that print headers for a server.
//
// What servers say is not trusted: addresses are https, or on this machine for a server that is; a public server leads
// to no private address; answers are bounded; issuer and resource must be those that were asked for.
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
	"adze/internal/platform/keyring"
	"adze/internal/platform/replace"
	"adze/internal/platform/transport"
)

// A Config is what a [Keeper] works with.
type Config struct {
	// Home is adze's own folder. If it is empty, tokens are forgotten when the program ends.
	Home string
	// Network says how to reach other machines. It may be nil.
	Network func() transport.Config
	// Dir and Environ are where commands that print headers run. A nil Environ is the environment of the program.
	Dir     string
	Environ func() []string
	// Version is that of the program.
	Version string
	// Now returns the time; nil means that of the machine.
	Now func() time.Time
	// Say tells the user about a problem that stops nothing. It may be nil.
	Say func(string)
}

// A Keeper keeps the tokens of servers. It reads nothing before the first request to a server. It may be used from any
// goroutine, and by several processes.
type Keeper struct {
	c     Config
	locks *replace.Replacer
	store *keyring.Store // nil without a home
	Cache *Cache

	mu      sync.Mutex
	holders map[string]*holder // by key
}

// New returns a keeper.
func New(c Config) *Keeper {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Say == nil {
		c.Say = func(string) {}
	}
	if c.Network == nil {
		c.Network = func() transport.Config { return transport.Config{} }
	}
	k := &Keeper{c: c, holders: map[string]*holder{}, Cache: &Cache{home: c.Home, now: c.Now}}
	if c.Home != "" {
		// Locks share files with others of their directory, and the store is locked while a token is.
		k.locks = replace.New(filepath.Join(c.Home, "locks", "tokens"))
		k.store = keyring.Open(c.Home, replace.New(filepath.Join(c.Home, "locks")))
	}
	return k
}

// keyOf returns the name that the token of a server is kept under. It holds the address: if that changes in the
// configuration, the token is not for the new one.
func keyOf(e *roster.Entry) string {
	sum := sha256.Sum256([]byte(e.URL))
	return keyring.ServerPrefix + e.Name + ":" + hex.EncodeToString(sum[:6])
}

// holder returns the token of a server, so far as it is known.
func (k *Keeper) holder(e *roster.Entry) *holder {
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

// A Login says that the user has signed in to a server.
type Login struct {
	Server string        `json:"server"`
	Host   string        `json:"host"`
	Place  keyring.Place `json:"place"`
	Added  time.Time     `json:"added"`
}

// Logins returns the servers that a token is stored for, of all that is stored.
func Logins(stored []keyring.Entry) (list []Login) {
	for _, e := range stored {
		if name, ok := serverOf(e.Name); ok {
			list = append(list, Login{name, e.Host, e.Place, e.Added})
		}
	}
	return list
}

// serverOf returns the server that a key belongs to.
func serverOf(key string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(key, keyring.ServerPrefix)
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 0 {
		return "", false
	}
	return rest[:i], true
}

// ErrNotSignedIn says that no token is stored for a server.
var ErrNotSignedIn = errors.New("you are not signed in")

// Logout forgets the tokens for the server of that name, at whatever address, and asks the service that issued them to
// do the same. That it could not be reached is said, and no error. The error is [ErrNotSignedIn] if there was none.
func (k *Keeper) Logout(ctx context.Context, server string) error {
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

// Stored reports whether a token is stored for the server of that name, at whatever address.
func (k *Keeper) Stored(server string) (bool, error) {
	keys, err := k.keys(server)
	return len(keys) > 0, err
}

// keys returns what the tokens for the server of that name are kept under.
func (k *Keeper) keys(server string) (keys []string, err error) {
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

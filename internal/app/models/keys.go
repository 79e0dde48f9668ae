package models

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/mcp/signin"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/net/keyring"
	"adze/internal/settings/config"
)

// StoredSource is the source name of stored keys.
const StoredSource = "adze auth login"

// Keys holds the user's stored keys. The zero value has none.
type Keys struct {
	store   *keyring.Store
	entries []keyring.Entry
	servers []signin.Login
	err     error // why keys are not used
}

// OpenKeys returns the keys stored in the state home, which may be empty.
func OpenKeys(home string) Keys {
	if home == "" {
		return Keys{}
	}
	store := openStore(home)
	entries, err := store.List()
	servers := signin.Logins(entries)
	entries = slices.DeleteFunc(entries, func(e keyring.Entry) bool {
		return strings.HasPrefix(e.Name, keyring.ServerPrefix) || strings.HasPrefix(e.Name, keyring.PluginPrefix)
	})
	return Keys{store, entries, servers, err}
}

func openStore(home string) *keyring.Store {
	return keyring.Open(home, replace.New(filepath.Join(home, "locks")))
}

// KeysFile returns the path of the key file used without a keyring, or "" without a state home.
func KeysFile(home string) string {
	if home == "" {
		return ""
	}
	return openStore(home).Path()
}

// Err returns the reason why stored keys are not used, or nil.
func (k Keys) Err() error { return k.err }

// serves reports whether a key is stored for the host that p's requests go to.
func (k Keys) serves(p *provider, s *config.Settings) bool {
	e, ok := k.find(p.name)
	return ok && e.Host == p.host(s)
}

// reader returns a function that reads a provider's key.
func (k Keys) reader(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return k.store.Get(ctx, name) }
}

// find returns the entry of a provider's stored key.
func (k Keys) find(name string) (keyring.Entry, bool) {
	for _, e := range k.entries {
		if e.Name == name {
			return e, true
		}
	}
	return keyring.Entry{}, false
}

func (k Keys) has(name string) bool {
	_, ok := k.find(name)
	return ok
}

// host returns the host that a provider's stored key is for.
func (k Keys) host(name string) string {
	e, _ := k.find(name)
	return e.Host
}

// host returns the lower-case host that p's requests go to, or "".
func (p *provider) host(s *config.Settings) string {
	u, err := url.Parse(p.endpoint(s))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// endpoint returns the URL that p's requests go to, or "".
func (p *provider) endpoint(s *config.Settings) string {
	base := p.address(s)
	if base == "" && p.service != nil {
		return p.service(s, base).Address
	}
	return base
}

// Names returns the providers with a stored key.
func (k Keys) Names() (names []string) {
	for _, e := range k.entries {
		names = append(names, e.Name)
	}
	return names
}

// Remove removes a provider's key and returns its former entry. It returns [keyring.ErrNotFound] if
// no key is stored.
func (k Keys) Remove(ctx context.Context, name string) (keyring.Entry, error) {
	if k.store == nil {
		return keyring.Entry{}, keyring.ErrNotFound
	}
	return k.store.Remove(ctx, name)
}

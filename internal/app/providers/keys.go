package providers

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/mcp/signin"
	"adze/internal/platform/config"
	"adze/internal/platform/keyring"
	"adze/internal/platform/replace"
)

// StoredSource is where a key comes from that the user has stored.
const StoredSource = "adze auth login"

// Keys are the keys that the user has stored. The zero value holds none.
type Keys struct {
	store   *keyring.Store
	entries []keyring.Entry
	servers []signin.Login
	err     error // why none are used
}

// OpenKeys returns the keys that are stored in the state home, which may be empty.
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

// KeysFile returns the file that keys are stored in where there is no keyring, or "" without a state home.
func KeysFile(home string) string {
	if home == "" {
		return ""
	}
	return openStore(home).Path()
}

// Err returns why no stored keys are used, or nil.
func (k Keys) Err() error { return k.err }

// serves reports whether there is a key for the host that requests to p go to.
func (k Keys) serves(p *provider, s *config.Settings) bool {
	e, ok := k.find(p.name)
	return ok && e.Host == p.host(s)
}

// reader returns the function that reads the key of a provider.
func (k Keys) reader(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return k.store.Get(ctx, name) }
}

// find returns what is known of the stored key of a provider.
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

// host returns the host that the stored key of a provider is for.
func (k Keys) host(name string) string {
	e, _ := k.find(name)
	return e.Host
}

// host returns the host that requests to p go to, in lower case, or "".
func (p *provider) host(s *config.Settings) string {
	u, err := url.Parse(p.endpoint(s))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// endpoint returns the address that requests to p go to, or "".
func (p *provider) endpoint(s *config.Settings) string {
	base := p.address(s)
	if base == "" && p.service != nil {
		return p.service(s, base).Address
	}
	return base
}

// Names returns the providers that a key is stored for.
func (k Keys) Names() (names []string) {
	for _, e := range k.entries {
		names = append(names, e.Name)
	}
	return names
}

// Remove removes the key of a provider and returns where it was. The error is [keyring.ErrNone] if there is none.
func (k Keys) Remove(ctx context.Context, name string) (keyring.Entry, error) {
	if k.store == nil {
		return keyring.Entry{}, keyring.ErrNone
	}
	return k.store.Remove(ctx, name)
}

// Package anthropic is the provider for the first-party API and for any endpoint that speaks the same
// protocol.
package anthropic

import (
	"context"
	"net/http"
	"slices"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
)

// Config says how to reach the provider. One of KeyHelper, AuthToken and APIKey must be set, or a custom
// header that authenticates; the first of them counts.
type Config struct {
	// Config holds what all providers have in common. Its Dialect, Address, Key, Protocol and Adapt are
	// set by [New].
	wire.Config

	APIKey    string
	AuthToken string
	// KeyHelper returns a key; see [wire.Key].
	KeyHelper func(context.Context) (string, error)

	// GlobalCache lets cache marks ask for sharing between users. An endpoint that does not know that
	// rejects the request.
	GlobalCache bool
}

// New returns a provider. It does not connect.
func New(c Config) (*wire.Provider, error) {
	c.Dialect = messages.Dialect{}
	c.Address = "https://api.anthropic.com"
	c.Protocol = http.Header{"Anthropic-Version": {"2023-06-01"}}
	c.Key = c.key()
	if !c.GlobalCache {
		c.Adapt = localCache
	}
	return wire.New(c.Config)
}

// key returns what to authenticate with. A helper's key may be meant for the API or for a gateway before
// it, which look in different places.
func (c *Config) key() wire.Key {
	k := wire.Key{Variable: "ANTHROPIC_API_KEY"}
	switch {
	case c.KeyHelper != nil:
		k.Helper, k.Headers = c.KeyHelper, []string{"X-Api-Key", "Authorization"}
	case c.AuthToken != "":
		k.Value, k.Headers = c.AuthToken, []string{"Authorization"}
	default:
		k.Value, k.Headers = c.APIKey, []string{"X-Api-Key"}
	}
	return k
}

// localCache makes req not ask for sharing between users.
func localCache(req *model.Request) {
	if !slices.ContainsFunc(req.Cache, func(m model.Mark) bool { return m.Global }) {
		return
	}
	req.Cache = slices.Clone(req.Cache)
	for i := range req.Cache {
		req.Cache[i].Global = false
	}
}

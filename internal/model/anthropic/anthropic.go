// Package anthropic is the first-party service, and any endpoint that speaks the same protocol.
package anthropic

import (
	"net/http"
	"slices"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
)

// Service describes the provider.
func Service() wire.Service {
	return wire.Service{
		Dialect:     messages.Dialect{},
		Address:     "https://api.anthropic.com",
		KeyHeader:   "X-Api-Key",
		KeyVariable: "ANTHROPIC_API_KEY",
		Header:      http.Header{"Anthropic-Version": {"2023-06-01"}},
		Adapt:       localCache,
	}
}

// localCache keeps req from asking for a cache that is shared between users: an endpoint that does not
// know that rejects the request.
func localCache(req *model.Request) {
	if !slices.ContainsFunc(req.Cache, func(m model.Mark) bool { return m.Global }) {
		return
	}
	req.Cache = slices.Clone(req.Cache)
	for i := range req.Cache {
		req.Cache[i].Global = false
	}
}

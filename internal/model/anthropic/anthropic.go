// Package anthropic describes the first-party service and any endpoint that implements the same
// protocol.
package anthropic

import (
	"net/http"

	"adze/internal/model/messages"
	"adze/internal/model/wire"
)

// Service returns the service description.
func Service() wire.Service {
	return wire.Service{
		Dialect:     messages.Dialect{},
		Address:     "https://api.anthropic.com",
		KeyHeader:   "X-Api-Key",
		KeyVariable: "ANTHROPIC_API_KEY",
		Header:      http.Header{"Anthropic-Version": {"2023-06-01"}},
		Adapt:       messages.LocalCache,
	}
}

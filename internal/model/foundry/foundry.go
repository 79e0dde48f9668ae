// Package foundry implements Microsoft's service for models that use the Messages dialect,
// which is the same as the vendor's.
package foundry

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
	"adze/internal/platform/net/oauth"
)

// Config configures the service.
type Config struct {
	// Env is the source of credentials. It needs no client.
	oauth.Env
	// Resource is the name of the user's resource. BaseURL, if not empty, overrides it.
	Resource, BaseURL string
	// HasKey is true if there is an API key, so that no token is needed.
	HasKey bool
	// SkipAuth is true if a gateway adds the credentials.
	SkipAuth bool
}

// resourceID is the audience of a directory token.
const resourceID = "https://cognitiveservices.azure.com"

// Service returns the service description.
func Service(c Config) (wire.Service, error) {
	s := wire.Service{
		Dialect: Dialect{}, Address: c.BaseURL, KeyHeader: "X-Api-Key", KeyVariable: "ANTHROPIC_FOUNDRY_API_KEY",
		Header: http.Header{"Anthropic-Version": {"2023-06-01"}}, Adapt: messages.LocalCache,
	}
	switch {
	case c.BaseURL != "":
	case c.Resource == "":
		return wire.Service{}, errors.New("no Foundry resource is set; set ANTHROPIC_FOUNDRY_RESOURCE to its name, or ANTHROPIC_FOUNDRY_BASE_URL to its address")
	case strings.Trim(strings.ToLower(c.Resource), "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return wire.Service{}, errors.New("ANTHROPIC_FOUNDRY_RESOURCE is not the name of a resource; an address goes into ANTHROPIC_FOUNDRY_BASE_URL")
	default:
		s.Address = "https://" + c.Resource + ".services.ai.azure.com/anthropic"
	}
	if c.HasKey {
		return s, nil
	}
	s.NewAuthorizer = func(wc wire.Config) (wire.Authorizer, error) {
		if c.SkipAuth {
			return wire.NoAuth{}, nil
		}
		env := c.Env
		env.Client = &http.Client{Transport: wc.AuthTransport}
		return &wire.Bearer{Get: func(ctx context.Context) (string, time.Time, error) {
			t, err := env.Entra(ctx, resourceID)
			return t.Text, t.Expires, err
		}}, nil
	}
	return s, nil
}

// Dialect is the Messages dialect plus the errors of the gateway in front of the models.
type Dialect struct{ messages.Dialect }

// Error implements [wire.Dialect].
func (d Dialect) Error(status int, body []byte) *model.Error {
	e := d.Dialect.Error(status, body)
	var answer struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	json.Unmarshal(body, &answer) // ok: model errors have no code, and proxy errors may not be JSON
	switch code := answer.Error.Code; {
	case code == "DeploymentNotFound" || code == "unknown_model" || code == "ResourceNotFound":
		e.Kind = model.NoModel
		e.Hint = "Deploy the model in your Foundry resource, or use an existing deployment as the model; ANTHROPIC_FOUNDRY_RESOURCE selects the resource"
	case code == "PermissionDenied" || status == http.StatusForbidden && code != "":
		e.Kind = model.Auth
		e.Hint = "Ask for the role Cognitive Services User for the Foundry resource"
	case e.Kind == model.Auth:
		e.Hint = "Check ANTHROPIC_FOUNDRY_API_KEY and that it belongs to the resource, or run `az login`"
	}
	return e
}

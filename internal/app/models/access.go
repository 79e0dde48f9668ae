package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"adze/internal/model"
	"adze/internal/model/local"
	"adze/internal/model/replay"
	"adze/internal/model/wire"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// unavailable is the reason, as a sentence, why a provider cannot be used.
type unavailable string

func (u unavailable) Error() string { return string(u) }

// access opens providers with the user's configuration.
type access struct {
	Config
	chosen choice

	servers *localServers
	// keySource and shared belong to the provider opened first; see [Backend].
	keySource string
	shared    bool

	mu       sync.Mutex
	recorder *replay.Recorder // nil until recording starts
}

// open opens the provider of a row.
func (a *access) open(p *provider) (model.Provider, error) {
	chosen := p == a.chosen.provider
	if err := checkAddresses(a.Settings); err != nil {
		return nil, err
	}
	set := settings.DecodeProviders(a.Settings).Network
	c := wire.Config{Version: a.Version, Idle: set.Idle, AllowInsecure: set.AllowInsecure, Note: a.Say}
	if chosen && p.takesHeaders(set.Headers.Origin) { // headers may hold credentials that other providers must not see
		var err error
		if c.Headers, err = parseHeaders(set.Headers.Text); err != nil {
			a.Say(set.Headers.Origin + ": " + err.Error())
		}
	}
	service, source, err := a.describe(p, &c)
	if err != nil {
		return nil, err
	}
	c.AuthHint = authHint(p, source)
	if chosen {
		c.Betas = a.Betas
		if c.ExtraBody, err = extraBody(set.ExtraBody, set.ExtraOrigin); err != nil {
			a.Say(err.Error())
		}
	}
	if c.Network, err = Network(a.Settings, a.Say); err != nil {
		return nil, err
	}
	if a.Record != "" {
		if c.Transport, err = a.record(c.Network); err != nil {
			return nil, setup.Errorf("--record-requests: %v", err)
		}
	}
	if a.keySource == "" {
		a.keySource, a.shared = source, service.Serves(c.BaseURL)
	}
	opened, err := wire.New(service, c)
	if err != nil || !p.local && !chatsHere(service, c.BaseURL) {
		return opened, err
	}
	return local.Guard(opened, a.servers.model), nil
}

// takesHeaders reports whether the user's custom headers, set by origin, apply to p. Headers from the
// ecosystem's variable are only sent to its own API.
func (p *provider) takesHeaders(origin string) bool {
	return p == &builtIn()[0] || p.use != "" || origin != "ANTHROPIC_CUSTOM_HEADERS"
}

// authHint returns advice for the user when credentials from a source are rejected.
func authHint(p *provider, source string) string {
	switch source {
	case "none":
		return "The server wants a key: store one with `adze auth login " + p.name + "`"
	case StoredSource:
		return "Store another key with `adze auth login " + p.name + "`"
	}
	return "Check the credentials from " + source + "; `adze auth status` lists other credentials"
}

// describe returns p's service, fills in its address and credentials in c, and returns the
// source of the credentials.
func (a *access) describe(p *provider, c *wire.Config) (s wire.Service, source string, err error) {
	if p.connect != nil {
		if s, source, err = p.connect(a, c); err != nil {
			err = unavailable("The provider " + p.name + " cannot be used: " + err.Error() + ".")
		}
		return s, source, err
	}
	if source, err = a.authenticate(p, c); err != nil {
		return s, "", err
	}
	s = p.service(a.Settings, c.BaseURL)
	if c.BaseURL != "" {
		c.BaseURL = normalized(s.Dialect, c.BaseURL)
	}
	return s, source, nil
}

// checkAddresses returns an error if a workspace file sets a provider address: whoever can
// write such a file would receive the user's key and prompts.
func checkAddresses(s *config.Settings) error {
	for _, id := range settings.Addresses() {
		if from, file := s.ScopeOf(id); file && (from == scope.Project || from == scope.Local) {
			k, _ := s.Key(id) // ok: it has a value
			return setup.Errorf("%s sets %s, but workspace files may not choose where your API key and conversation are sent; move it to your user settings or the environment", s.Origin(id), strings.Join(k.Env, " or "))
		}
	}
	return nil
}

// authenticate fills in p's address and credentials, and returns the source of the credentials.
func (a *access) authenticate(p *provider, c *wire.Config) (source string, err error) {
	text := func(key string) string {
		if key == "" {
			return ""
		}
		return a.Settings.Text(key)
	}
	if p.own != nil {
		return a.authenticateOwn(p, c)
	}
	c.BaseURL, c.APIKey, c.AuthToken = p.address(a.Settings), text(p.key), text(p.token)
	switch helper := text(p.helper); {
	case helper != "" && c.AuthToken == "" && c.APIKey == "":
		c.KeyHelper = keyHelper(helper, a.Dir, a.Environ)
		return p.helper, nil
	case c.AuthToken != "":
		return a.Settings.Origin(p.token), nil
	case c.APIKey != "":
		return a.Settings.Origin(p.key), nil
	case c.Headers.Get("Authorization") != "" || c.Headers.Get("X-Api-Key") != "":
		return settings.DecodeProviders(a.Settings).Network.Headers.Origin, nil
	case a.Keys.serves(p, a.Settings):
		c.StoredKey = a.Keys.reader(p.name)
		return StoredSource, nil
	case p.local || wire.IsLocal(c.BaseURL):
		c.NoKey = true
		return "none", nil
	}
	if a.Keys.has(p.name) {
		return "", unavailable(fmt.Sprintf("The stored key of the provider %s is for %s and is not sent to %s: store one for it with `adze auth login %[1]s`.", p.name, a.Keys.host(p.name), p.host(a.Settings)))
	}
	return "", unavailable("The provider " + p.name + " has no credentials.")
}

// authenticateOwn is authenticate for a provider defined in the settings. Without a configured
// key none is sent.
func (a *access) authenticateOwn(p *provider, c *wire.Config) (source string, err error) {
	own := p.own
	c.BaseURL = own.BaseURL
	headers, err := own.headers(a.Getenv)
	if err != nil {
		return "", unavailable("The provider " + p.name + " cannot be used: " + err.Error() + ".")
	}
	maps.Copy(headers, c.Headers)
	c.Headers = headers
	switch {
	case own.APIKeyEnv != "":
		if c.APIKey = a.Getenv(own.APIKeyEnv); c.APIKey == "" {
			return "", unavailable("The provider " + p.name + " has no credentials: " + own.APIKeyEnv + ", which its apiKeyEnv names, is not set.")
		}
		return own.APIKeyEnv, nil
	case own.APIKeyHelper != "":
		c.KeyHelper = keyHelper(own.APIKeyHelper, a.Dir, a.Environ)
		return "apiKeyHelper", nil
	case a.Keys.serves(p, a.Settings):
		c.StoredKey = a.Keys.reader(p.name)
		return StoredSource, nil
	}
	c.NoKey = true
	return "none", nil
}

// record returns a transport that records the requests to all providers.
func (a *access) record(network transport.Config) (http.RoundTripper, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recorder == nil {
		r, err := replay.NewRecorder(a.Record, transport.New(network))
		if err != nil {
			return nil, err
		}
		a.recorder = r
	}
	return a.recorder, nil
}

func (a *access) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recorder == nil {
		return nil
	}
	return a.recorder.Close()
}

// extraBody returns the fields to add to request bodies, which origin set.
func extraBody(raw json.RawMessage, origin string) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, errors.New(origin + " is not a JSON object; it is ignored")
	}
	return raw, nil
}

// parseHeaders parses lines of "Name: value". It skips and reports other lines.
func parseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	var bad []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "":
		case !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(strings.TrimSpace(name), " \t"):
			bad = append(bad, strings.TrimSpace(name))
		default:
			h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	if bad != nil {
		return h, errors.New("ignored, because they are not of the form \"Name: value\": " + strings.Join(bad, ", "))
	}
	return h, nil
}

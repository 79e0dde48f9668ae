package models

import (
	"cmp"

	"adze/internal/mcp/signin"
	"adze/internal/platform/net/keyring"
	"adze/internal/settings"
	"adze/internal/settings/config"
)

// An Auth describes the model credentials, without secrets.
type Auth struct {
	LoggedIn bool `json:"loggedIn"`
	// Method is "none", api_key, auth_token, api_key_helper, or gateway (an address without
	// credentials).
	Method string `json:"authMethod"`
	// API is firstParty for the Anthropic API, otherwise the provider's name.
	API string `json:"apiProvider"`
	// Provider is the provider's name, and Source the source of its credentials; both are empty
	// without credentials.
	Provider string `json:"provider,omitempty"`
	Source   string `json:"source,omitempty"`
	// KeySource is the variable or setting that supplies the credentials, or "".
	KeySource string `json:"apiKeySource,omitempty"`
	// Why is the reason for choosing the provider.
	Why string `json:"selectedBy,omitempty"`
	// Configured lists all credentials; within a provider, the active ones come first.
	Configured []Credential `json:"configured,omitempty"`
	// Servers lists the MCP servers the user has signed in to.
	Servers []signin.Login `json:"mcpServers,omitempty"`
}

// A Credential is one way in which a provider is configured.
type Credential struct {
	Provider string `json:"provider"`
	Method   string `json:"authMethod"`
	Source   string `json:"source"`
	// Key is the end of the key, if it is known without reading a secret store.
	Key string `json:"key,omitempty"`
	// Place is where a stored key is kept, and Host the host it is for.
	Place keyring.Place `json:"place,omitempty"`
	Host  string        `json:"host,omitempty"`
	// Used is true if requests to the provider use it.
	Used bool `json:"used"`
}

const (
	methodKey     = "api_key"
	methodHelper  = "api_key_helper"
	methodGateway = "gateway"
)

// ways returns the settings that supply p's credentials, in order of precedence.
func (p *provider) ways() []struct{ key, method string } {
	return []struct{ key, method string }{
		{p.token, "auth_token"}, {p.key, methodKey}, {p.helper, methodHelper}, {p.baseURL, methodGateway}, {p.use, "cloud"},
	}
}

// credentials returns p's credentials, the active one first.
func (p *provider) credentials(s *config.Settings, keys Keys) (list []Credential) {
	if own := p.own; own != nil {
		c := Credential{Provider: p.name, Method: methodGateway, Source: s.Origin(ownKey)}
		switch {
		case own.APIKeyEnv != "":
			c.Method, c.Source = methodKey, own.APIKeyEnv
		case own.APIKeyHelper != "":
			c.Method = methodHelper
		}
		list = append(list, c)
	}
	for _, way := range p.ways() {
		if way.key == "" || way.key == p.use && !s.Bool(p.use) || way.key != p.use && s.Text(way.key) == "" {
			continue
		}
		c := Credential{Provider: p.name, Method: way.method, Source: s.Origin(way.key)}
		switch way.key {
		case p.key, p.token:
			c.Key = masked(s.Text(way.key))
		case p.helper:
			c.Source = way.key
		case p.baseURL:
			if keys.serves(p, s) {
				continue // the stored key is for the address
			}
		}
		list = append(list, c)
	}
	e, ok := keys.find(p.name)
	if !ok {
		return mark(list)
	}
	c := Credential{Provider: p.name, Method: methodKey, Source: StoredSource, Place: e.Place, Host: e.Host}
	switch {
	case !keys.serves(p, s):
		return append(mark(list), c)
	case p.own != nil && list[0].Method == methodGateway: // the stored key is for the address
		list = nil
	}
	return mark(append(list, c))
}

// mark marks the first credential as used.
func mark(list []Credential) []Credential {
	if len(list) > 0 {
		list[0].Used = true
	}
	return list
}

// masked returns the end of a key, or only an ellipsis if the key is too short to reveal any of
// it.
func masked(key string) string {
	if len(key) < 24 {
		return "…"
	}
	return "…" + key[len(key)-4:]
}

// Status describes the credentials from a project's settings and the stored keys. It sends
// nothing, runs no helper and does not access the keyring.
func Status(p *settings.Project, keys Keys) (Auth, error) {
	s := p.Settings()
	a := Auth{Method: "none", API: builtIn()[0].api, Servers: keys.servers}
	rows := newTable(s, func(string) {}) // errors are reported on open
	for _, p := range rows {
		a.Configured = append(a.Configured, p.credentials(s, keys)...)
	}
	chosen, err := rows.choose("", s, keys)
	if err != nil || chosen.provider == nil {
		return a, err
	}
	row := chosen.provider
	a.LoggedIn = row.local // needs no credentials
	a.API, a.Provider, a.Why = cmp.Or(row.api, row.name), row.name, chosen.why
	for _, c := range a.Configured {
		if c.Provider != row.name || !c.Used {
			continue
		}
		a.LoggedIn, a.Method, a.Source = true, c.Method, c.Source
		if c.Method != methodGateway {
			a.KeySource = c.Source
		}
	}
	return a, nil
}

// KeyVariables returns the sources of a key for the named provider other than the stored key.
func KeyVariables(s *config.Settings, name string) (sources []string) {
	p := newTable(s, func(string) {}).row(name)
	if p == nil {
		return nil
	}
	for _, c := range p.credentials(s, Keys{}) {
		if c.Method != methodGateway {
			sources = append(sources, c.Source)
		}
	}
	return sources
}

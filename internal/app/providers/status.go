package providers

import (
	"cmp"

	"adze/internal/app/settings"
	"adze/internal/mcp/signin"
	"adze/internal/platform/config"
	"adze/internal/platform/keyring"
)

// An Auth is what is known of the credentials for models, without any secret.
type Auth struct {
	LoggedIn bool `json:"loggedIn"`
	// Method is none, api_key, auth_token, api_key_helper, or gateway for an address without credentials.
	Method string `json:"authMethod"`
	// API is firstParty for the Anthropic API, and the name of another provider.
	API string `json:"apiProvider"`
	// Provider is the name of the provider, Source what its credentials come from; both are empty without any.
	Provider string `json:"provider,omitempty"`
	Source   string `json:"source,omitempty"`
	// KeySource is the variable or the setting that gives the credentials, or nothing.
	KeySource string `json:"apiKeySource,omitempty"`
	// Why is what chose the provider.
	Why string `json:"selectedBy,omitempty"`
	// Configured are all credentials there are, those in use first among those of their provider.
	Configured []Credential `json:"configured,omitempty"`
	// Servers are the MCP servers that the user has signed in to.
	Servers []signin.Login `json:"mcpServers,omitempty"`
}

// A Credential is one way in which a provider is configured.
type Credential struct {
	Provider string `json:"provider"`
	Method   string `json:"authMethod"`
	Source   string `json:"source"`
	// Key is the end of the key, if it is known without asking for it.
	Key string `json:"key,omitempty"`
	// Place and Host are where a stored key is kept, and the host that it is for.
	Place keyring.Place `json:"place,omitempty"`
	Host  string        `json:"host,omitempty"`
	// Used says that requests to the provider use it.
	Used bool `json:"used"`
}

const (
	methodKey     = "api_key"
	methodHelper  = "api_key_helper"
	methodGateway = "gateway"
)

// ways are the settings that give credentials for p, the first of which counts.
func (p *provider) ways() []struct{ key, method string } {
	return []struct{ key, method string }{
		{p.token, "auth_token"}, {p.key, methodKey}, {p.helper, methodHelper}, {p.baseURL, methodGateway}, {p.use, "cloud"},
	}
}

// credentials returns what there is for p, the one in use first.
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

// mark says that the first of the credentials is used.
func mark(list []Credential) []Credential {
	if len(list) > 0 {
		list[0].Used = true
	}
	return list
}

// masked returns the end of a key that is long enough for its end to say nothing of the rest.
func masked(key string) string {
	if len(key) < 24 {
		return "…"
	}
	return "…" + key[len(key)-4:]
}

// Status returns which credentials the settings of a project and the stored keys give. Nothing is sent, no helper is run,
// and the keyring is not asked.
func Status(p *settings.Project, keys Keys) (Auth, error) {
	s := p.Settings()
	a := Auth{Method: "none", API: providers[0].api, Servers: keys.servers}
	rows := newTable(s, func(string) {}) // what is wrong is said when they are opened
	for _, p := range rows {
		a.Configured = append(a.Configured, p.credentials(s, keys)...)
	}
	chosen, err := rows.choose("", s, keys)
	if err != nil || chosen.provider == nil {
		return a, err
	}
	row := chosen.provider
	a.LoggedIn = row.local // it needs no credentials
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

// KeyVariables returns where a key for the named provider comes from besides the stored one.
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

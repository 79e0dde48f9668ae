// Package models connects the table of model providers with their services, selects one, opens it, and resolves model
// names. It is the only package that knows providers by name.
package models

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"adze/internal/model/anthropic"
	"adze/internal/model/chat"
	"adze/internal/model/local"
	"adze/internal/model/providers"
	"adze/internal/model/responses"
	"adze/internal/model/wire"
	"adze/internal/platform/text/rank"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// A provider is a row in the provider table.
type provider struct {
	name string
	api  string // name used by ecosystem clients; empty means name
	// service describes the provider at a base URL; empty means its own.
	service func(s *config.Settings, base string) wire.Service
	// use is the setting that selects the provider unconditionally.
	use string
	// key, token, helper and baseURL are the settings for its credentials and address. Any of
	// them selects the provider if nothing else does.
	key, token, helper, baseURL string
	// connect, if set, replaces service. It obtains credentials itself and returns their
	// source.
	connect func(a *access, c *wire.Config) (s wire.Service, source string, err error)
	// hosts is true if the provider serves other vendors' models.
	hosts bool
	// local is true for a server on this machine, which needs no key and is only used if named.
	local   bool
	account providers.Account
	// own is the user's definition of a provider in the settings; nil for a built-in one.
	own *ownRow
}

// builtIn returns the built-in providers in order of preference.
var builtIn = sync.OnceValue(func() []provider {
	services := map[string]func(*config.Settings, string) wire.Service{
		"anthropic": func(*config.Settings, string) wire.Service { return anthropic.Service() },
		"openai":    openAI,
		"ollama":    localServer(local.Ollama, chat.ReplayText),
		"llamacpp":  localServer(local.LlamaCpp, chat.ReplayContent),
		"lmstudio":  localServer(local.LMStudio, chat.ReplaySame),
		"vllm":      localServer(local.VLLM, chat.ReplayContent),
	}
	clouds := map[string]func(*access, *wire.Config) (wire.Service, string, error){
		"bedrock": amazonBedrock, "vertex": googleVertex, "foundry": azureFoundry,
	}
	var all []provider
	for _, r := range providers.All() {
		p := provider{
			name: r.Name, api: r.API, service: services[r.Name], connect: clouds[r.Name], use: r.Use,
			token: r.Token, helper: r.Helper, baseURL: r.BaseURL[0], hosts: r.Hosts, local: r.Local, account: r.Account,
		}
		if len(r.Key) > 0 {
			p.key = r.Key[0]
		}
		if r.Dialect != "" {
			p.service = func(*config.Settings, string) wire.Service { return serviceOf(r) }
		}
		all = append(all, p)
	}
	return all
})

// serviceOf returns the service of a row with a dialect.
func serviceOf(r providers.Row) wire.Service {
	d, err := readDialect(r.Dialect, json.RawMessage(r.Quirks))
	if err != nil {
		panic("models: provider " + r.Name + ": " + err.Error()) // a test opens every row
	}
	return dialectService(d, r.Address, r.Key[min(1, len(r.Key)-1)])
}

// openAI uses the Responses API at its own address, because its models accept tools together
// with reasoning only there. Other servers implementing the API use Chat Completions. A setting
// overrides this.
func openAI(s *config.Settings, base string) wire.Service {
	service := wire.Service{
		Dialect: responses.Dialect{}, Address: "https://api.openai.com/v1", KeyHeader: "Authorization", KeyVariable: "OPENAI_API_KEY",
	}
	own, api := service.Serves(base), settings.DecodeProviders(s).OpenAIAPI
	switch {
	case own && api == "chat":
		service.Dialect = chat.Dialect{Developer: true, CompletionLimit: true, Documents: true, CacheKey: true, NoThinking: "none"}
	case !own && api != "responses":
		service.Dialect = chat.Dialect{Replay: chat.ReplaySame}
	}
	return service
}

// localServer returns a function that describes a local program with a Chat Completions API.
func localServer(k local.Kind, reasoning chat.Replay) func(*config.Settings, string) wire.Service {
	return func(*config.Settings, string) wire.Service {
		return wire.Service{Dialect: chat.Dialect{Replay: reasoning}, Address: k.Address(), KeyHeader: "Authorization"}
	}
}

// address returns the user-configured base URL for p, or "".
func (p *provider) address(s *config.Settings) string {
	switch {
	case p.own != nil:
		return p.own.BaseURL
	case p.baseURL == "":
		return ""
	case p.local:
		return localAddress(s.Text(p.baseURL), p.service(s, "").Address)
	}
	return s.Text(p.baseURL)
}

// configured returns the setting that configures p, or "". A stored key counts if nothing else
// does.
func (p *provider) configured(s *config.Settings, stored Keys) string {
	switch {
	case p.own != nil:
		return s.Origin(ownKey)
	case p.use != "" && s.Bool(p.use):
		return p.use
	}
	for _, key := range []string{p.key, p.token, p.helper, p.baseURL} {
		if p.use == "" && key != "" && s.Text(key) != "" {
			return s.Origin(key)
		}
	}
	if stored.has(p.name) {
		return StoredSource
	}
	return ""
}

// A choice is the provider for model names without one.
type choice struct {
	provider *provider // nil if nothing is configured
	why      string    // reason for the choice
	// firm is true if the user selected the provider rather than only setting its key.
	firm bool
}

// A table holds the built-in and the user's own providers.
type table []*provider

// newTable returns all providers. say reports problems with user-defined ones.
func newTable(s *config.Settings, say func(string)) table {
	var t table
	for i := range builtIn() {
		t = append(t, &builtIn()[i])
	}
	return append(t, ownRows(s, t, say)...)
}

// row returns the named provider, or nil.
func (t table) row(name string) *provider {
	if i := slices.IndexFunc(t, func(p *provider) bool { return p.name == name }); i >= 0 {
		return t[i]
	}
	return nil
}

// choose returns the provider to use.
func (t table) choose(flag string, s *config.Settings, stored Keys) (choice, error) {
	name, why := flag, "--provider"
	if name == "" {
		set := settings.DecodeProviders(s).Provider
		name, why = set.Text, set.Origin
	}
	if name != "" {
		if p := t.row(name); p != nil {
			return choice{p, why, true}, nil
		}
		return choice{}, t.unknown(name, why)
	}
	for _, p := range t {
		if p.use != "" && s.Bool(p.use) {
			return choice{p, p.use, true}, nil
		}
	}
	for _, keys := range []Keys{{}, stored} { // settings take precedence over stored keys, even for another provider
		for _, p := range t {
			if why := p.configured(s, keys); why != "" && !p.local {
				return choice{p, why, false}, nil
			}
		}
	}
	return choice{}, nil
}

// chooseFor is like choose for a model, whose name may determine the provider.
func (t table) chooseFor(c Config, name string) (choice, error) {
	chosen, err := t.choose(c.Provider, c.Settings, c.Keys)
	if prefix, _, ok := strings.Cut(name, "/"); ok && chosen.provider == nil && err == nil && !strings.HasPrefix(name, ReplayPrefix) {
		if t.row(prefix) == nil {
			return choice{}, t.unknown(prefix, "the model "+name)
		}
		chosen = choice{provider: t.row(prefix), why: "the name of the model"}
	}
	return chosen, err
}

// Names returns the names of the built-in providers.
func Names() []string {
	var names []string
	for i := range builtIn() {
		names = append(names, builtIn()[i].name)
	}
	return names
}

func (t table) unknown(name, why string) error {
	var names []string
	for _, p := range t {
		names = append(names, p.name)
	}
	hint := "."
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		hint = "; did you mean " + near[0] + "?"
	}
	return setup.Errorf("unknown provider %q (%s)%s The providers are: %s", name, why, hint, strings.Join(names, ", "))
}

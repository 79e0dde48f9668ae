package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/model"
	"adze/internal/model/anthropic"
	"adze/internal/model/replay"
	"adze/internal/model/retry"
	"adze/internal/model/router"
	"adze/internal/model/wire"
	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
	"adze/internal/platform/transport"
)

// A provider is a row of the table of providers.
type provider struct {
	name string
	// service describes it; nil means that this version does not have it yet.
	service func() wire.Service
	// use is the setting that chooses the provider, whatever else is set.
	use string
	// The settings that hold its credentials and its address. One of them chooses the provider if nothing
	// else does.
	key, token, helper, baseURL string
}

// providers are the providers, in the order in which they are chosen.
var providers = [...]provider{
	{
		name: "anthropic", service: anthropic.Service,
		key: "ADZE_API_KEY", token: "ADZE_AUTH_TOKEN", helper: "apiKeyHelper", baseURL: "ADZE_BASE_URL",
	},
	{name: "bedrock", use: "CLAUDE_CODE_USE_BEDROCK"},
	{name: "vertex", use: "CLAUDE_CODE_USE_VERTEX"},
	{name: "foundry", use: "CLAUDE_CODE_USE_FOUNDRY"},
	{name: "openai", key: "OPENAI_API_KEY"},
	{name: "gemini", key: "GEMINI_API_KEY"},
	{name: "grok", key: "XAI_API_KEY"},
}

// configured returns what configures p, or nothing.
func (p *provider) configured(s *config.Settings) string {
	if p.use != "" && s.Bool(p.use) {
		return p.use
	}
	for _, key := range []string{p.key, p.token, p.helper, p.baseURL} {
		if key != "" && s.Text(key) != "" {
			return s.Origin(key)
		}
	}
	return ""
}

// A choice is the provider for models whose names do not say one.
type choice struct {
	provider *provider // nil if nothing is configured
	why      string    // what chose it
	// firm says that the user chose the provider, and did not only set its key.
	firm bool
}

// chooseProvider returns which provider to use.
func chooseProvider(flag string, s *config.Settings) (choice, error) {
	name, why := flag, "--provider"
	if name == "" {
		name, why = s.Text("provider"), s.Origin("provider")
	}
	if name != "" {
		for i := range providers {
			if providers[i].name == name {
				return choice{&providers[i], why, true}, nil
			}
		}
		return choice{}, unknownProvider(name, why)
	}
	for i := range providers {
		if p := &providers[i]; p.use != "" && s.Bool(p.use) {
			return choice{p, p.use, true}, nil
		}
	}
	for i := range providers {
		if why := providers[i].configured(s); why != "" {
			return choice{&providers[i], why, false}, nil
		}
	}
	return choice{}, nil
}

func unknownProvider(name, why string) error {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
	}
	hint := "."
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		hint = "; did you mean " + near[0] + "?"
	}
	return setup.Errorf("there is no provider %q (%s)%s The providers are: %s", name, why, hint, strings.Join(names, ", "))
}

// replayPrefix marks the name of a model that is a script.
const replayPrefix = "replay:"

// A backend answers the requests of a run.
type backend struct {
	provider model.Provider
	router   *router.Router
	// keySource says where the credentials of the main model's provider come from.
	keySource string
	// scripted says that no model answers.
	scripted bool
	// shared says that what is the same in everybody's prompt is cached as a block of its own.
	shared bool
	// close ends a recording. It may be called once.
	close func() error
}

// openBackend returns what answers the model with the given name, and others. It connects to nothing.
func (w *Workspace) openBackend(m ModelSpec, name string) (*backend, error) {
	s := w.Project.Settings()
	again := retry.Config{Max: s.Int("ADZE_MAX_RETRIES"), Unattended: s.Bool("ADZE_UNATTENDED_RETRY")}
	if again.Max == 0 {
		again.Max = -1 // its zero value means the default
	}
	var b *backend
	var err error
	if file, ok := strings.CutPrefix(name, replayPrefix); ok {
		b, err = openReplay(file, m.Record)
	} else {
		b, err = w.openProviders(m, s, name)
	}
	if err != nil {
		return nil, err
	}
	b.provider = retry.New(b.router, again)
	return b, nil
}

// openReplay returns a script, which answers every model.
func openReplay(file, saveTo string) (*backend, error) {
	script, err := replay.Load(file)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	player := replay.NewPlayer(script)
	if saveTo != "" {
		if err := player.SaveRequests(saveTo); err != nil {
			return nil, setup.Errorf("--record-requests: %v", err)
		}
	}
	row := router.Row{Name: "replay", Open: func() (model.Provider, error) { return player.Provider(), nil }}
	return &backend{
		router:    router.New(router.Config{Rows: []router.Row{row}, Route: func(name string) (string, string) { return row.Name, name }}),
		keySource: "none", scripted: true, shared: true, close: func() error { return nil },
	}, nil
}

// openProviders returns the providers there are, with that of the named model open.
func (w *Workspace) openProviders(m ModelSpec, s *config.Settings, name string) (*backend, error) {
	chosen, err := chooseProvider(m.Provider, s)
	if err != nil {
		return nil, err
	}
	if chosen.provider == nil {
		return nil, noProvider("")
	}
	a := &access{env: w.Env, saveTo: m.Record, s: s, chosen: chosen}
	routes := routing{usual: chosen.provider.name}
	if !chosen.firm {
		routes.home = func(name string) string { m, _ := w.Models.table.Lookup(name); return m.Provider }
	}
	c := router.Config{Route: func(name string) (string, string) { return routes.route(name) }}
	for i := range providers {
		p := &providers[i]
		c.Rows = append(c.Rows, router.Row{Name: p.name, Open: func() (model.Provider, error) { return a.open(p) }})
		if p.configured(s) == "" {
			routes.unset = append(routes.unset, p.name)
		}
		if p.baseURL != "" && s.Text(p.baseURL) != "" {
			routes.gateways = append(routes.gateways, p.name)
		}
	}
	b := &backend{router: router.New(c), close: a.close}
	var missing unavailable
	if err := b.router.Open(name); errors.As(err, &missing) {
		return nil, noProvider(missing.Error())
	} else if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	b.keySource, b.shared = a.keySource, a.shared
	return b, nil
}

// routing says which provider a model is asked of. A request that names one that was not configured goes to the usual
// one if that is a gateway: it has models of many makers, under names of its own.
type routing struct {
	usual           string
	home            func(name string) string // for a bare name; may be nil
	unset, gateways []string
}

// route returns the provider of a model and the name that it has there.
func (r *routing) route(name string) (to, sent string) {
	prefix, rest, ok := strings.Cut(name, "/")
	named := slices.ContainsFunc(providers[:], func(row provider) bool { return row.name == prefix })
	if ok && rest != "" && named {
		switch {
		case slices.Contains(r.unset, prefix) && slices.Contains(r.gateways, r.usual):
			return r.usual, name
		case slices.Contains(r.gateways, prefix):
			return prefix, name
		}
		return prefix, rest
	}
	if r.home != nil {
		if home := r.home(name); home != "" && !slices.Contains(r.unset, home) {
			return home, name
		}
	}
	return r.usual, name
}

// unavailable says, in a sentence, why a provider cannot be used.
type unavailable string

func (u unavailable) Error() string { return string(u) }

// access opens providers with what the user has configured.
type access struct {
	env    Env
	saveTo string // a directory for requests; may be empty
	s      *config.Settings
	chosen choice

	// keySource and shared are those of the provider opened first; see [backend].
	keySource string
	shared    bool

	mu       sync.Mutex
	recorder *replay.Recorder // nil until requests are recorded
}

// open returns the provider of a row.
func (a *access) open(p *provider) (model.Provider, error) {
	chosen := p == a.chosen.provider
	switch {
	case p.service == nil && chosen:
		return nil, unavailable("The provider " + p.name + " is selected by " + a.chosen.why + ", but this version does not support it.")
	case p.service == nil:
		return nil, unavailable("This version does not support the provider " + p.name + ".")
	}
	if err := checkAddresses(a.s); err != nil {
		return nil, err
	}
	c := wire.Config{
		Version:       a.env.Version,
		Idle:          time.Duration(a.s.Int("ADZE_STREAM_IDLE_TIMEOUT_MS")) * time.Millisecond,
		AllowInsecure: a.s.Bool("ADZE_ALLOW_INSECURE_HTTP"),
	}
	if chosen { // headers may hold credentials, which are nothing to the others
		var err error
		if c.Headers, err = parseHeaders(a.s.Text("ADZE_CUSTOM_HEADERS")); err != nil {
			a.env.Say(a.s.Origin("ADZE_CUSTOM_HEADERS") + ": " + err.Error())
		}
	}
	source, err := a.authenticate(p, &c)
	if err != nil {
		return nil, err
	}
	if chosen {
		if c.ExtraBody, err = extraBody(a.s); err != nil {
			a.env.Say(err.Error())
		}
	}
	var rootCAs []byte
	if file := a.s.Text("ADZE_EXTRA_CA_CERTS"); file != "" {
		if rootCAs, err = os.ReadFile(file); err != nil {
			a.env.Say(a.s.Origin("ADZE_EXTRA_CA_CERTS") + ": " + err.Error() + "; only the system's certificates are trusted")
		}
	}
	c.Transport = transport.New(transport.Config{RootCAs: rootCAs})
	if a.saveTo != "" {
		if c.Transport, err = a.record(rootCAs); err != nil {
			return nil, setup.Errorf("--record-requests: %v", err)
		}
	}
	if a.keySource == "" {
		a.keySource, a.shared = source, c.BaseURL == ""
	}
	return wire.New(p.service(), c)
}

// checkAddresses returns an error if a file of the workspace says where requests go: who can write such a file would get
// the user's key, and what the user says.
func checkAddresses(s *config.Settings) error {
	for _, id := range settings.Addresses() {
		if from, file := s.ScopeOf(id); file && (from == scope.Project || from == scope.Local) {
			k, _ := s.Key(id) // ok: it has a value
			return setup.Errorf("%s sets %s, and a file of the workspace cannot say where your API key and your conversation are sent; remove it there, and set it in your own settings or the environment if you want it", s.Origin(id), strings.Join(k.Env, " or "))
		}
	}
	return nil
}

// authenticate fills in the address and the credentials of p, and returns where these come from.
func (a *access) authenticate(p *provider, c *wire.Config) (source string, err error) {
	text := func(key string) string {
		if key == "" {
			return ""
		}
		return a.s.Text(key)
	}
	c.BaseURL, c.APIKey, c.AuthToken = text(p.baseURL), text(p.key), text(p.token)
	switch helper := text(p.helper); {
	case helper != "" && c.AuthToken == "" && c.APIKey == "":
		c.KeyHelper = keyHelper(helper, a.env.Dir, a.env.Environ)
		return p.helper, nil
	case c.AuthToken != "":
		return a.s.Origin(p.token), nil
	case c.APIKey != "":
		return a.s.Origin(p.key), nil
	case c.Headers.Get("Authorization") != "" || c.Headers.Get("X-Api-Key") != "":
		return a.s.Origin("ADZE_CUSTOM_HEADERS"), nil
	case wire.IsLocal(c.BaseURL):
		// A server on this machine needs no key, but the protocol wants one.
		c.APIKey = "none"
		return "none", nil
	}
	return "", unavailable("The provider " + p.name + " has no credentials.")
}

// record returns the transport that records the requests to all providers.
func (a *access) record(rootCAs []byte) (http.RoundTripper, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recorder == nil {
		r, err := replay.NewRecorder(a.saveTo, transport.New(transport.Config{RootCAs: rootCAs}))
		if err != nil {
			return nil, err
		}
		a.recorder = r
	}
	return a.recorder, nil
}

// close ends the recording.
func (a *access) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recorder == nil {
		return nil
	}
	return a.recorder.Close()
}

// extraBody returns the members to add to requests.
func extraBody(s *config.Settings) (json.RawMessage, error) {
	raw := s.Object("ADZE_EXTRA_BODY")
	if len(raw) == 0 {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, errors.New(s.Origin("ADZE_EXTRA_BODY") + " is not a JSON object; it is ignored")
	}
	return raw, nil
}

// parseHeaders reads lines of "Name: value". It leaves out and reports other lines.
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

package providers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/replay"
	"adze/internal/model/retry"
	"adze/internal/model/router"
	"adze/internal/platform/config"
)

// ReplayPrefix marks the name of a model that is a script.
const ReplayPrefix = "replay:"

// A Config says how providers are opened.
type Config struct {
	Settings *config.Settings
	// Keys are those that the user has stored.
	Keys Keys
	// Provider is the one that the command line names; may be empty.
	Provider string
	// Record is a directory for requests; may be empty.
	Record string
	Betas  []string
	// Models describes the models.
	Models catalog.Table
	// Earlier is the id of a model that answered earlier; may be empty.
	Earlier string

	// Dir and Environ are the working directory and the environment of a key helper; a nil Environ means that of the process.
	Dir     string
	Environ func() []string
	Getenv  func(string) string
	Home    string // the user's home directory
	Version string
	// Lifetime ends when the user wants to wait no longer for a server on this machine that loads its model; nil never ends.
	Lifetime context.Context
	// Say tells the user something, as one line.
	Say func(string)
}

func (c *Config) lifetime() context.Context {
	if c.Lifetime == nil {
		return context.Background()
	}
	return c.Lifetime
}

// A Backend answers the requests of a run.
type Backend struct {
	Provider model.Provider
	Router   *router.Router
	// Name is the provider for models whose names say none, Why what chose it.
	Name, Why string
	// KeySource says where the credentials of the main model's provider come from.
	KeySource string
	// Scripted says that no model answers.
	Scripted bool
	// Shared says that what is the same in everybody's prompt is cached as a block of its own.
	Shared bool
	// Models describes the models; aliases without a provider are those of the chosen one.
	Models catalog.Table

	names   *names // nil for a script
	servers *localServers
	close   func() error
}

// Resolve finds the model that the user means by a name. Its id says which provider is asked, which is opened.
func (b *Backend) Resolve(name string) (catalog.Model, error) {
	if b.Scripted {
		return b.Models.Resolve(name)
	}
	name, err := b.servers.open(b.names, name)
	if err != nil {
		return catalog.Model{}, err
	}
	m, err := b.names.resolve(name)
	if err == nil {
		err = b.Router.Open(m.ID)
	}
	return m, err
}

// Small returns the id of the model for small questions at the provider of a model, or nothing if the main model is the one
// to ask.
func (b *Backend) Small(main string) string {
	if b.Scripted {
		return ""
	}
	return b.names.small(main)
}

// Other reports whether the model with an id, which answered earlier, belongs to another provider than that which a name means
// now, and can be asked.
func Other(c Config, name, id string) bool {
	rows := newTable(c.Settings, func(string) {}) // what is wrong is said when they are opened
	chosen, err := rows.choose(c.Provider, c.Settings, c.Keys)
	if err != nil || chosen.provider == nil || strings.HasPrefix(name, ReplayPrefix) {
		return false
	}
	n := newNames(c, rows, chosen)
	was := n.home(id)
	return was != n.route(name).row && was.configured(c.Settings, c.Keys) != ""
}

// CacheKey returns what tells the requests of a session from others to a provider that caches by itself; nothing if caching is off.
func CacheKey(session string, off bool) string {
	if off {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return "adze-" + hex.EncodeToString(sum[:12])
}

// Close ends a recording. It may be called once.
func (b *Backend) Close() error { return b.close() }

// Open returns what answers the model with the given name, and others. It connects to nothing but a server on this machine
// whose model is named: only that server knows how much fits into it.
func Open(c Config, name string) (*Backend, error) {
	again := retry.Config{Max: c.Settings.Int("ADZE_MAX_RETRIES"), Unattended: c.Settings.Bool("ADZE_UNATTENDED_RETRY")}
	if again.Max == 0 {
		again.Max = -1 // its zero value means the default
	}
	var b *Backend
	var err error
	if file, ok := strings.CutPrefix(name, ReplayPrefix); ok {
		b, err = openReplay(file, c)
	} else {
		b, err = openProviders(c, name)
	}
	if err != nil {
		return nil, err
	}
	b.Provider = retry.New(b.Router, again)
	return b, nil
}

// Silent returns a backend that lists models and never answers, to preview requests.
func Silent(c Config) *Backend {
	row := router.Row{Name: "none", Open: func() (model.Provider, error) { return nil, errors.New("no model is asked") }}
	r := router.New(router.Config{Rows: []router.Row{row}, Route: func(name string) (string, string) { return row.Name, name }})
	return &Backend{Router: r, Provider: r, Name: row.Name, KeySource: "none", Scripted: true, Shared: true, Models: c.Models, close: func() error { return nil }}
}

// openReplay returns a script, which answers every model.
func openReplay(file string, c Config) (*Backend, error) {
	script, err := replay.Load(file)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	player := replay.NewPlayer(script)
	if c.Record != "" {
		if err := player.SaveRequests(c.Record); err != nil {
			return nil, setup.Errorf("--record-requests: %v", err)
		}
	}
	row := router.Row{Name: "replay", Open: func() (model.Provider, error) { return player.Provider(), nil }}
	return &Backend{
		Router: router.New(router.Config{Rows: []router.Row{row}, Route: func(name string) (string, string) { return row.Name, name }}),
		Name:   row.Name, Why: "--model", KeySource: "none", Scripted: true, Shared: true, Models: c.Models, close: func() error { return nil },
	}, nil
}

// openProviders returns the providers there are, with that of the named model open.
func openProviders(c Config, name string) (*Backend, error) {
	if err := c.Keys.Err(); err != nil {
		c.Say(err.Error())
	}
	rows := newTable(c.Settings, c.Say)
	chosen, err := rows.chooseFor(c, name)
	if err != nil {
		return nil, err
	}
	if chosen.provider == nil {
		return nil, noProvider(offer(FindLocal(c.lifetime(), c.Settings, c.Version).offered()))
	}
	n := newNames(c, rows, chosen)
	a := &access{Config: c, chosen: chosen, servers: &localServers{Config: c}}
	var routed []router.Row
	for _, p := range rows {
		routed = append(routed, router.Row{Name: p.name, Open: func() (model.Provider, error) { return a.open(p) }, FirstParty: n.firstParty(p)})
	}
	b := &Backend{
		Router: router.New(router.Config{Rows: routed, Route: func(name string) (string, string) {
			to := n.route(name)
			return to.row.name, to.sent
		}}),
		Name: chosen.provider.name, Why: chosen.why, Models: c.Models.For(chosen.provider.name), names: n, servers: a.servers, close: a.close,
	}
	var missing unavailable
	if _, err := b.Resolve(name); err != nil && c.lifetime().Err() != nil {
		return nil, context.Cause(c.lifetime())
	} else if errors.As(err, &missing) {
		return nil, noProvider(missing.Error())
	} else if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	b.KeySource, b.Shared = a.keySource, a.shared
	return b, nil
}

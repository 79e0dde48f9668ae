package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/replay"
	"adze/internal/model/retry"
	"adze/internal/model/router"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// ReplayPrefix marks a model name that is a script.
const ReplayPrefix = "replay:"

// Config configures how providers are opened.
type Config struct {
	Settings *config.Settings
	// Keys are the user's stored keys.
	Keys Keys
	// Provider is the provider named on the command line; may be empty.
	Provider string
	// Record is a directory for recorded requests; may be empty.
	Record string
	// Pause takes the place of a scripted model's pauses; it may be nil.
	Pause func(time.Duration)
	Betas []string
	// Models is the model catalog.
	Models catalog.Table
	// Earlier is the ID of a model that answered earlier; may be empty.
	Earlier string

	// Dir and Environ are the working directory and environment of key helpers; a nil Environ
	// means the process's.
	Dir     string
	Environ func() []string
	Getenv  func(string) string
	Home    string // the user's home directory
	Version string
	// Lifetime is done when the user no longer wants to wait for a local server to load its
	// model; nil never is.
	Lifetime context.Context
	// Say shows the user a one-line message.
	Say func(string)
}

func (c *Config) lifetime() context.Context {
	if c.Lifetime == nil {
		return context.Background()
	}
	return c.Lifetime
}

// A Backend answers model requests.
type Backend struct {
	Provider model.Provider
	Router   *router.Router
	// Name is the provider for model names without one, and Why the reason for choosing it.
	Name, Why string
	// KeySource is the source of the credentials for the main model's provider.
	KeySource string
	// Scripted is true if a script answers instead of a model.
	Scripted bool
	// Shared is true if the part of the prompt common to all users is cached as a separate
	// block.
	Shared bool
	// Models is the model catalog. Aliases without a provider refer to the chosen one.
	Models catalog.Table

	names   *names // nil for a script
	servers *localServers
	close   func() error
}

// Resolve returns the model for a name given by the user, and opens the provider its ID refers
// to.
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

// Small returns the ID of the small model at a model's provider, or "" if the main model should
// be used.
func (b *Backend) Small(main string) string {
	if b.Scripted {
		return ""
	}
	return b.names.small(main)
}

// Other reports whether the model id, which answered earlier, belongs to a different provider
// than the one name resolves to now, and is available.
func Other(c Config, name, id string) bool {
	rows := newTable(c.Settings, func(string) {}) // errors are reported on open
	chosen, err := rows.choose(c.Provider, c.Settings, c.Keys)
	if err != nil || chosen.provider == nil || strings.HasPrefix(name, ReplayPrefix) {
		return false
	}
	n := newNames(c, rows, chosen)
	was := n.home(id)
	return was != n.route(name).row && was.configured(c.Settings, c.Keys) != ""
}

// CacheKey returns the key that identifies a session's requests to a provider with automatic
// caching; "" if caching is off.
func CacheKey(session string, off bool) string {
	if off {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return "adze-" + hex.EncodeToString(sum[:12])
}

// Close ends a recording. It may be called only once.
func (b *Backend) Close() error { return b.close() }

// Open returns a backend for the named model, and others. It connects to nothing except a local
// server whose model is named, because only that server knows the model's context window.
func Open(c Config, name string) (*Backend, error) {
	set := settings.DecodeProviders(c.Settings).Network
	again := retry.Config{Max: set.Retries, Unattended: set.Unattended}
	if again.Max == 0 {
		again.Max = -1 // zero means the default
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

// Silent returns a backend that lists models but never answers, for previews.
func Silent(c Config) *Backend {
	row := router.Backend{Name: "none", Open: func() (model.Provider, error) { return nil, errors.New("no request is sent") }}
	r := router.New(router.Config{Rows: []router.Backend{row}, Route: func(name string) (string, string) { return row.Name, name }})
	return &Backend{Router: r, Provider: r, Name: row.Name, KeySource: "none", Scripted: true, Shared: true, Models: c.Models, close: func() error { return nil }}
}

// openReplay returns a backend whose script answers for every model.
func openReplay(file string, c Config) (*Backend, error) {
	player, err := replay.Open(file)
	if err != nil {
		return nil, setup.Errorf("%v", err)
	}
	player.Pause(c.Pause)
	if c.Record != "" {
		if err := player.SaveRequests(c.Record); err != nil {
			return nil, setup.Errorf("--record-requests: %v", err)
		}
	}
	row := router.Backend{Name: "replay", Open: func() (model.Provider, error) { return player.Provider(), nil }}
	return &Backend{
		Router: router.New(router.Config{Rows: []router.Backend{row}, Route: func(name string) (string, string) { return row.Name, name }}),
		Name:   row.Name, Why: "--model", KeySource: "none", Scripted: true, Shared: true, Models: c.Models, close: func() error { return nil },
	}, nil
}

// openProviders returns a backend for all providers, with the named model's provider open.
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
	var routed []router.Backend
	for _, p := range rows {
		routed = append(routed, router.Backend{Name: p.name, Open: func() (model.Provider, error) { return a.open(p) }, FirstParty: n.firstParty(p)})
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

package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/domain/plugin"
	"adze/internal/feature/plugins/market"
	"adze/internal/platform/text/amount"
)

// markets returns the store's marketplaces.
func (m *Manager) markets() *market.Markets {
	f := m.fetching
	return market.New(market.Config{Store: m.store, Run: f.Runner, Environ: f.Environ, Transport: lazyTransport(f.Network)})
}

// slow is how long a fetch runs before the user is notified.
const slow = time.Second

// waiting notifies the user if a fetch is slow, until the returned function is called.
func (m *Manager) waiting(what string) (done func()) {
	timer := time.AfterFunc(slow, func() { m.cfg.Say("fetching " + plainLine(what)) })
	return func() { timer.Stop() }
}

// A lazyTransport creates its transport on first use.
type lazyTransport func() http.RoundTripper

// RoundTrip implements [http.RoundTripper].
func (t lazyTransport) RoundTrip(r *http.Request) (*http.Response, error) { return t().RoundTrip(r) }

// A Market is a known marketplace.
type Market struct {
	Name        string        `json:"name"`
	Source      string        `json:"source"`
	Commit      string        `json:"commit,omitempty"`
	Description string        `json:"description,omitempty"`
	Plugins     []MarketEntry `json:"plugins"`
	// Problem is the reason why it cannot be used; may be empty.
	Problem string `json:"problem,omitempty"`
}

// A MarketEntry is a plugin offered by a marketplace.
type MarketEntry struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Refused is the reason why it cannot be installed; may be empty.
	Refused string `json:"refused,omitempty"`
}

// Markets returns the known marketplaces.
func (m *Manager) Markets() ([]Market, error) {
	known, err := m.store.Markets()
	if err != nil {
		return nil, err
	}
	all := []Market{}
	for _, k := range known {
		row := Market{Name: k.Name, Source: plainLine(k.Source.String()), Commit: k.Commit, Plugins: []MarketEntry{}}
		if l, err := m.markets().Listing(k.Name); err != nil {
			row.Problem = plainLine(err.Error())
		} else {
			row.Description = plainLine(l.Description)
			for _, e := range l.Plugins {
				entry := MarketEntry{Name: e.Name, Version: e.Version, Description: plainLine(e.Description)}
				if e.Refused != nil {
					entry.Refused = plainLine(e.Refused.Error())
				}
				row.Plugins = append(row.Plugins, entry)
			}
		}
		all = append(all, row)
	}
	return all, nil
}

// AddMarket adds a marketplace. text is a source as users write it, relative to dir. It returns
// a summary.
func (m *Manager) AddMarket(ctx context.Context, text, dir string) (string, error) {
	src, err := market.ParseSource(text, dir, m.cfg.Project.User)
	if err != nil {
		return "", err
	}
	return m.addMarket(ctx, src, "")
}

// addMarket adds a marketplace, which must have the given name unless that is empty.
func (m *Manager) addMarket(ctx context.Context, src plugin.Source, name string) (string, error) {
	if m.cfg.Project.Home == "" {
		return "", errHome
	}
	if why := m.policy(m.cfg.Project.Settings(), &Set{}).forbidsSource(src); why != "" {
		return "", errors.New(why)
	}
	defer m.waiting(src.String())()
	add := m.markets().Add
	if name != "" {
		add = func(ctx context.Context, src plugin.Source) (*market.Listing, error) {
			return m.markets().AddNamed(ctx, src, name)
		}
	}
	l, err := add(ctx, src)
	if err != nil {
		return "", err
	}
	return m.described("added the marketplace", l), nil
}

// described returns a summary of a marketplace.
func (m *Manager) described(done string, l *market.Listing) string {
	text := fmt.Sprintf("%s %s, with %s", done, l.Name, amount.Of(len(l.Plugins), "plugin", "plugins"))
	for _, x := range l.Problems {
		m.cfg.Say(plainLine(x.Error()))
	}
	return text
}

// UpdateMarket refreshes a marketplace's listing, or all without a name. It returns a summary.
func (m *Manager) UpdateMarket(ctx context.Context, name string) (string, error) {
	names := []string{name}
	if name == "" {
		known, err := m.store.Markets()
		if err != nil {
			return "", err
		}
		names = nil
		for _, m := range known {
			names = append(names, m.Name)
		}
	}
	var done []string
	var errs []error
	for _, name := range names {
		if err := m.allowed(plugin.ID{Name: "any", Market: name}); err != nil {
			errs = append(errs, err)
			continue
		}
		arrived := m.waiting("the marketplace " + name)
		l, err := m.markets().Update(ctx, name)
		arrived()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done = append(done, m.described("updated the marketplace", l))
	}
	if len(names) == 0 {
		done = []string{"no marketplaces are known"}
	}
	return strings.Join(done, "\n"), errors.Join(errs...)
}

// RemoveMarket removes a marketplace and returns a summary.
func (m *Manager) RemoveMarket(ctx context.Context, name string) (string, error) {
	if err := m.markets().Remove(ctx, name); err != nil {
		return "", err
	}
	return "removed the marketplace " + name, nil
}

// resolve returns the ID of the marketplace plugin the user means. A marketplace named in
// settings is added when a plugin from it is requested.
func (m *Manager) resolve(ctx context.Context, name string) (plugin.ID, error) {
	if strings.Contains(name, "@") {
		id, err := plugin.ParseID(name)
		if err != nil {
			return id, err
		}
		return id, m.introduce(ctx, id.Market)
	}
	if err := plugin.CheckName(name); err != nil {
		return plugin.ID{}, err
	}
	all, err := m.Markets()
	if err != nil {
		return plugin.ID{}, err
	}
	var found, names []string
	for _, m := range all {
		names = append(names, m.Name)
		if slices.ContainsFunc(m.Plugins, func(e MarketEntry) bool { return e.Name == name }) {
			found = append(found, name+"@"+m.Name)
		}
	}
	switch {
	case len(found) == 1:
		return plugin.ParseID(found[0])
	case len(found) > 1:
		return plugin.ID{}, fmt.Errorf("several marketplaces have a plugin %s: name %s", name, strings.Join(found, " or "))
	case len(all) == 0:
		return plugin.ID{}, errors.New("no marketplaces are known; adze plugin marketplace add SOURCE adds one")
	}
	return plugin.ID{}, fmt.Errorf("no marketplace has a plugin %s (%s); adze plugin marketplace update fetches the lists again", name, strings.Join(names, ", "))
}

// introduce adds a marketplace named in the settings, unless it is known.
func (m *Manager) introduce(ctx context.Context, name string) error {
	known, err := m.store.Markets()
	if err != nil || slices.ContainsFunc(known, func(m plugin.Market) bool { return m.Name == name }) {
		return err
	}
	var extra map[string]struct {
		Source json.RawMessage `json:"source"`
	}
	json.Unmarshal(m.cfg.Project.Settings().Object("extraKnownMarketplaces"), &extra) // ok: it names none then
	x, ok := extra[name]
	if !ok {
		return fmt.Errorf("the marketplace %s is not known; adze plugin marketplace add SOURCE adds one", name)
	}
	src, err := market.DecodeSource(x.Source, m.cfg.Project.Trust.Root)
	if err != nil {
		return fmt.Errorf("extraKnownMarketplaces: %s: %w", name, err)
	}
	m.cfg.Say(fmt.Sprintf("fetching the marketplace %s from %s", name, plainLine(src.String())))
	_, err = m.addMarket(ctx, src, name)
	return err
}

// holdsList reports whether a directory is a marketplace.
func holdsList(dir string) bool {
	return slices.ContainsFunc([]string{".adze-plugin", ".claude-plugin"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name, "marketplace.json"))
		return err == nil
	})
}

// Validate describes the contents of a plugin or marketplace directory and returns its
// problems.
func Validate(ctx context.Context, dir string) (what string, problems []string, err error) {
	if holdsList(dir) {
		l, err := market.Check(dir)
		if err != nil {
			return "", nil, err
		}
		for _, x := range l.Problems {
			problems = append(problems, plainLine(x.Error()))
		}
		for _, e := range l.Plugins {
			if e.Refused != nil {
				problems = append(problems, plainLine(fmt.Sprintf("%s: %v", e.Name, e.Refused)))
			}
		}
		return fmt.Sprintf("marketplace %s, with %s", l.Name, amount.Of(len(l.Plugins), "plugin", "plugins")), problems, nil
	}
	x, found, err := plugin.Read(filepath.Clean(dir), plugin.ID{})
	if err != nil {
		for _, f := range found {
			problems = append(problems, plainLine(f.Error()))
		}
		return "", problems, err
	}
	c := examine(ctx, x, found)
	for _, text := range c.Problems {
		problems = append(problems, plainLine(text))
	}
	if len(c.Lines()) == 0 && len(problems) == 0 {
		problems = append(problems, plainLine(dir+": it brings nothing: there are neither skills, commands, agents, hooks, servers nor output styles where they are looked for"))
	}
	return fmt.Sprintf("plugin %s, with %s", x.Name, amount.Of(len(c.Skills), "skill", "skills")), problems, nil
}

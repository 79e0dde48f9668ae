package models

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"adze/internal/model/catalog"
	"adze/internal/model/wire"
	"adze/internal/settings/config"
)

// names resolves model names. It is safe for concurrent use.
//
// A model's ID determines its provider, also in another process with other settings: it is the
// model's name prefixed with the provider and a slash. A vendor's models at its own provider,
// and unknown models at the first provider, have no prefix.
type names struct {
	rows     table
	settings *config.Settings
	stored   Keys
	chosen   choice
	models   catalog.Table

	mu  sync.Mutex
	ids map[string]destination
}

func newNames(c Config, rows table, chosen choice) *names {
	n := &names{rows: rows, settings: c.Settings, stored: c.Keys, chosen: chosen, models: c.Models, ids: map[string]destination{}}
	if was := n.home(c.Earlier); c.Earlier != "" && was.configured(c.Settings, c.Keys) != "" {
		n.ids[c.Earlier] = destination{was, strings.TrimPrefix(c.Earlier, was.name+"/")}
	}
	return n
}

// home returns the provider of an ID.
func (n *names) home(id string) *provider {
	prefix, _, _ := strings.Cut(id, "/")
	if named := n.rows.row(prefix); named != nil {
		return named
	}
	known, _ := n.models.Lookup(id)
	if home := n.rows.row(known.Provider); home != nil {
		return home
	}
	return n.rows[0]
}

// A destination is a provider and a model name there.
type destination struct {
	row  *provider
	sent string // model name at the provider
}

// route returns the destination of a name, which is an ID or user input.
func (n *names) route(name string) destination {
	n.mu.Lock()
	known, ok := n.ids[name]
	n.mu.Unlock()
	if ok {
		return known
	}
	usual := n.chosen.provider
	prefix, rest, ok := strings.Cut(name, "/")
	if named := n.rows.row(prefix); ok && rest != "" && named != nil {
		set := named.configured(n.settings, n.stored) != ""
		many := usual.own != nil || usual.hosts && usual.connect == nil // serves models of many vendors
		switch {
		case named != usual && (!set && (many || n.gateway(usual)) || many && n.chosen.firm && named.own == nil && !named.local):
			return destination{usual, name}
		case n.gateway(named) && (named == n.rows[0] || !wire.IsLocal(named.address(n.settings))): // may serve many vendors' models with similar names
			return destination{named, name}
		}
		return destination{named, rest}
	}
	if !n.chosen.firm {
		known, _ := n.models.Lookup(name)
		if home := n.rows.row(known.Provider); home != nil && home.configured(n.settings, n.stored) != "" {
			return destination{home, name}
		}
	}
	return destination{usual, name}
}

// gateway reports whether p, a single-vendor provider, is used at an address other than its
// own.
func (n *names) gateway(p *provider) bool {
	base := p.address(n.settings)
	return p.own == nil && !p.hosts && base != "" && !p.service(n.settings, base).Serves(base)
}

// firstParty reports whether p is used at its own address for its vendor's models.
func (n *names) firstParty(p *provider) bool {
	return p.own == nil && !p.hosts && !n.gateway(p)
}

// resolve returns the model for a name given by a user.
func (n *names) resolve(name string) (catalog.Model, error) {
	to := n.route(name)
	literal := isShort(to.sent) && n.literal(name, to)
	unsaid := isShort(to.sent) && !literal
	switch {
	case !unsaid:
	case to.row.own != nil:
		to.sent = n.ownDefault(to)
		unsaid = to.sent == ""
	case to.row == n.rows[0]: // many other servers accept its models' names
		unsaid = false
	default:
		_, known := n.models.For(to.row.name).Lookup(to.sent)
		unsaid = !known || to.row.connect == nil && wire.IsLocal(to.row.address(n.settings))
	}
	if unsaid {
		return catalog.Model{}, fmt.Errorf("no model of %s is named; choose one with --model %s/NAME or ADZE_MODEL", to.row.name, to.row.name)
	}
	m, err := n.models.For(to.row.name).Resolve(to.sent)
	if literal {
		m, err = catalog.Unknown(to.sent), nil
	}
	if err != nil {
		return catalog.Model{}, err
	}
	to.sent = m.ID
	m.ID = n.id(to)
	if exact, ok := n.models.Lookup(m.ID); ok && exact.ID == m.ID { // the user may have configured it further
		exact.Provider = m.Provider
		m = exact
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ids[m.ID] = to
	return m, nil
}

// isShort reports whether a name leaves the model choice to the provider.
func isShort(name string) bool { return name == "default" || name == "small" }

// literal reports whether default or small is a model's actual name: the user prefixed it with
// a provider that has no such alias.
func (n *names) literal(name string, to destination) bool {
	if !strings.HasPrefix(name, to.row.name+"/") {
		return false
	}
	if to.row.own != nil {
		return n.ownDefault(to) == ""
	}
	return to.row.local || n.gateway(to.row)
}

// ownDefault returns the model that default or small means for a user-defined provider, or "".
func (n *names) ownDefault(to destination) string {
	row := to.row.own
	usual := row.Model
	if usual == "" && len(row.Models) == 1 {
		for usual = range row.Models {
		}
	}
	if to.sent == "small" {
		return cmp.Or(row.SmallModel, usual)
	}
	return usual
}

// id returns the model ID for a destination.
func (n *names) id(to destination) string {
	if prefix, _, _ := strings.Cut(to.sent, "/"); n.rows.row(prefix) == nil && n.home(to.sent) == to.row {
		return to.sent
	}
	return to.row.name + "/" + to.sent
}

// small returns the ID of the small model at a model's provider, or "" if none is known.
func (n *names) small(main string) string {
	row := n.route(main).row
	name := ""
	switch {
	case row.own != nil:
		name = row.own.SmallModel
	case !n.gateway(row):
		name = catalog.Small(row.name)
	}
	if name == "" {
		return ""
	}
	m, err := n.resolve(row.name + "/" + name)
	if err != nil {
		return ""
	}
	return m.ID
}

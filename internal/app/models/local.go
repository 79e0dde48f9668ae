package models

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/chat"
	"adze/internal/model/local"
	"adze/internal/model/wire"
	"adze/internal/platform/text/amount"
	"adze/internal/settings/config"
)

// base returns p's base URL.
func (p *provider) base(s *config.Settings) string {
	own := p.service(s, "")
	if base := p.address(s); base != "" {
		return normalized(own.Dialect, base)
	}
	return own.Address
}

// FindLocal returns the model servers on this machine. It only contacts loopback addresses,
// with a short timeout.
func FindLocal(ctx context.Context, s *config.Settings, version string) Servers {
	var addresses []string
	for i := range builtIn() {
		if p := &builtIn()[i]; p.local {
			addresses = append(addresses, p.base(s))
		}
	}
	return local.Client{Agent: wire.UserAgent(version)}.Find(ctx, addresses)
}

// Here returns models that are not in the catalog: the ones on local servers, and the ones
// listed by the chosen provider if it has no aliases.
func Here(ctx context.Context, c Config) (models []catalog.Model) {
	for _, s := range FindLocal(ctx, c.Settings, c.Version) {
		for _, m := range s.Models {
			known := learned(string(s.Kind)+"/"+m.Name, string(s.Kind), m)
			if o, ok := c.Models.Override(known.ID); ok && o.ContextWindow != nil {
				known.ContextWindow = *o.ContextWindow
			}
			models = append(models, known)
		}
	}
	rows := newTable(c.Settings, func(string) {}) // opening them reports problems
	chosen, err := rows.choose(c.Provider, c.Settings, c.Keys)
	if err != nil || chosen.provider == nil || len(c.Models.For(chosen.provider.name).Aliases()) > 0 {
		return models
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	_, ids := Listed(ctx, c)
	for _, id := range ids[:min(len(ids), maxListed)] {
		models = append(models, catalog.Model{ID: id, Name: id})
	}
	return models
}

const (
	// listTime is the timeout for listing a provider's models, and maxListed the maximum number
	// shown.
	listTime  = 3 * time.Second
	maxListed = 200
)

// offer returns the error text for a user without a provider, suggesting models of local
// servers.
func offer(models []string) string {
	var b strings.Builder
	for _, name := range models {
		b.WriteString("\n    adze --model " + name)
	}
	if b.Len() == 0 {
		return ""
	}
	return "no model provider is configured, but a server on this machine answers. To use it:\n" + b.String() + "\n\nOr one of these:"
}

// localServers caches model descriptions from local servers. It is safe for concurrent use.
type localServers struct {
	Config

	mu    sync.Mutex
	known map[string]local.Model // keyed by the name sent
	named map[string]string      // names already queried, with their model IDs
}

// client returns a client for a row's server, with the row's own key.
func (l *localServers) client(row *provider) local.Client {
	c := local.Client{Agent: wire.UserAgent(l.Version)}
	switch {
	case row.own != nil && row.own.APIKeyEnv != "":
		c.Key = l.Getenv(row.own.APIKeyEnv)
	case row.key != "":
		c.Key = l.Settings.Text(row.key)
	}
	return c
}

// model returns the cached description of a model by the name sent.
func (l *localServers) model(name string) (local.Model, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.known[name]
	return m, ok
}

// open queries the local server that a name resolves to about its model, once, and adds it to
// the catalog. It returns a name that needs no further query; a name that resolves elsewhere is
// returned unchanged.
func (l *localServers) open(n *names, name string) (string, error) {
	to := n.route(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok := l.named[name]; ok {
		return id, nil
	}
	if l.named == nil {
		l.named, l.known = map[string]string{}, map[string]local.Model{}
	}
	if !to.row.local {
		l.disguised(n, to)
		l.named[name] = name
		return name, nil
	}
	m, err := l.client(to.row).Open(l.lifetime(), local.Kind(to.row.name), to.row.base(n.settings), to.sent, l.Say)
	if err != nil {
		return "", err
	}
	id := to.row.name + "/" + m.Name
	l.named[name], l.named[id] = id, id
	l.learn(n, id, m.Name, to.row, m)
	return id, nil
}

// disguised queries a local server that the user configured indirectly, such as by another
// provider's base URL. Errors surface when it is used.
func (l *localServers) disguised(n *names, to destination) {
	if to.row.service == nil {
		return
	}
	base := to.row.base(n.settings)
	if !chatsHere(to.row.service(n.settings, base), base) {
		return
	}
	kind, ok := l.client(to.row).At(l.lifetime(), base)
	if !ok {
		return
	}
	if m, err := l.client(to.row).Open(l.lifetime(), kind, base, to.sent, l.Say); err == nil && (m.Name == to.sent || !isShort(to.sent)) {
		l.learn(n, n.id(to), to.sent, to.row, m)
	}
}

// chatsHere reports whether a service uses Chat Completions on this machine.
func chatsHere(s wire.Service, base string) bool {
	_, chats := s.Dialect.(chat.Dialect)
	return chats && wire.IsLocal(base)
}

// learn caches a server's description of a model. sent is its name in requests. The context
// window in the user's settings overrides the server's.
func (l *localServers) learn(n *names, id, sent string, row *provider, m local.Model) {
	if o, ok := n.models.Override(id); ok && o.ContextWindow != nil {
		m.Window, m.Sure = *o.ContextWindow, true
	}
	l.known[sent] = m
	if m.Window > 0 || m.MaxWindow > 0 {
		n.models.Learn(learned(id, row.name, m))
	}
	if advice := m.Advice(); 0 < m.Window && m.Window < narrowLocal && advice != "" {
		l.Say(fmt.Sprintf("%s has a context window of %s tokens%s. %s", id, amount.Grouped(m.Window), unsure(m), advice))
	}
}

// narrowLocal is the context window below which the user gets advice on raising it.
const narrowLocal = 16_000

// unsure returns a qualifier for a window that is only the documented default.
func unsure(m local.Model) string {
	if m.Sure {
		return ""
	}
	return " unless you changed it"
}

// learned returns the catalog entry of a local server's model, with a zero price.
func learned(id, provider string, m local.Model) catalog.Model {
	known := catalog.Unknown(id)
	known.Name, known.Provider, known.Known = m.Name, provider, true
	window := m.MaxWindow
	if m.Sure {
		window = m.Window
	}
	if window > 0 {
		known.ContextWindow, known.MaxOutput = window, window/4
		known.DefaultOutput = min(known.DefaultOutput, known.MaxOutput)
	}
	known.Price, known.Wider = &model.Price{}, m.Advice()
	known.Tools, known.ParallelTools, known.Images, known.Structured = !m.NoTools, !m.NoTools, m.Images, true
	return known
}

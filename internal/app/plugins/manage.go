package plugins

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/config"
	"adze/internal/platform/osproc"
	"adze/internal/platform/scope"
	"adze/internal/plugin"
	"adze/internal/plugin/market"
)

// A Fetch is what plugins are fetched with.
type Fetch struct {
	// Runner runs git, with what Environ returns; Network returns what carries requests.
	Runner  *osproc.Runner
	Environ func() []string
	Network func() http.RoundTripper
}

// A Manager installs, updates and removes plugins for the user.
type Manager struct {
	*Plugins
	fetching Fetch
}

// Manage returns the manager of the plugins.
func (p *Plugins) Manage(f Fetch) *Manager { return &Manager{p, f} }

// errHome says why nothing can be installed.
var errHome = errors.New("there is no state home, where plugins are installed; set HOME or ADZE_HOME")

// SetOption keeps the value of an option of a plugin; an empty one forgets it.
func (m *Manager) SetOption(ctx context.Context, x *plugin.Plugin, o plugin.Option, text string) error {
	return m.options.set(ctx, x, o, text)
}

// An Offer is a plugin that the user is asked about.
type Offer struct {
	ID       plugin.ID
	Plugin   *plugin.Plugin
	Contents *Contents

	candidate *market.Candidate // nil if it is installed already
	approved  *approval         // what the user agreed to before; may be nil
	installed string            // the hash of what is installed; may be empty
	older     string            // the version that is installed, if what is offered comes before it
	update    bool
}

// Discard removes what was fetched for the offer, unless it was accepted.
func (o *Offer) Discard() {
	if o.candidate != nil {
		o.candidate.Discard()
	}
}

// Current reports whether what is offered is what is installed.
func (o *Offer) Current() bool { return o.installed == o.Plugin.Hash }

// Settled reports whether the user need not be asked: they have agreed to this content, or asked for an update of a plugin
// that runs nothing, neither before nor after, and is no older version.
func (o *Offer) Settled() bool {
	if o.approved == nil || o.older != "" {
		return false
	}
	return o.approved.Hash == o.Plugin.Hash || o.update && o.approved.Hash == o.installed && !o.candidate.Difference.Asks()
}

// maxFiles is how many changed files are shown by name.
const maxFiles = 20

// changedFiles returns the files that differ from what is installed, as lines.
func (o *Offer) changedFiles() (lines []string) {
	if o.candidate == nil {
		return nil
	}
	for _, c := range o.candidate.Difference.Changes {
		switch c.Part {
		case plugin.Program, plugin.Skill, plugin.Command, plugin.Agent, plugin.Style:
		default:
			continue // shown as what it does
		}
		how := "changed"
		if c.Old == "" {
			how = "new"
		} else if c.New == "" {
			how = "removed"
		}
		lines = append(lines, plainLine(fmt.Sprintf("%-7s file %s", how, c.Name)))
	}
	if n := len(lines) - maxFiles; n > 0 {
		lines = append(lines[:maxFiles], fmt.Sprintf("and %d more files", n))
	}
	return lines
}

// Title says which plugin it is, and where it comes from.
func (o *Offer) Title() string {
	text := o.ID.String()
	if v := o.Plugin.Version; v != "" {
		text += " " + v
	}
	if d := o.Plugin.Description; d != "" {
		text += ": " + d
	}
	if c := o.Plugin.Commit; c != "" {
		text += fmt.Sprintf(" (commit %s)", c[:min(len(c), 12)])
	}
	return plainLine(text)
}

// Lines say what the plugin brings, or what is different from what the user agreed to.
func (o *Offer) Lines() (lines []string) {
	if o.older != "" {
		lines = append(lines, plainLine("it is older than "+o.older+", which is installed"))
	}
	if o.approved == nil {
		lines = append(lines, o.Contents.Lines()...)
		if len(o.Contents.Effects) == 0 {
			lines = append(lines, "it runs nothing by itself")
		}
	} else if o.approved.Hash == o.Plugin.Hash {
		lines = append(lines, "you have agreed to what it runs")
	} else {
		changed := compare(o.approved.Effects, o.Contents.Effects).Lines()
		if len(changed) == 0 {
			changed = []string{"its hooks, servers and rules are the same, but what they run may have changed:"}
		}
		lines = append(append(lines, changed...), o.changedFiles()...)
	}
	for _, text := range o.Contents.Problems {
		lines = append(lines, plainLine("problem: "+text))
	}
	return lines
}

// Fetch gets a plugin, named NAME or NAME@MARKETPLACE, to be installed. The caller accepts or discards the offer.
func (m *Manager) Fetch(ctx context.Context, name string) (*Offer, error) {
	id, err := m.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.fetch(ctx, id, false)
}

// Update gets what the marketplace of an installed plugin offers now. The caller accepts or discards the offer.
func (m *Manager) Update(ctx context.Context, name string) (*Offer, error) {
	x, err := m.Find(name)
	if err != nil {
		return nil, err
	}
	if x.State == Missing || x.ID.Market == "" {
		return nil, fmt.Errorf("%s is not installed", x.ID)
	}
	if err := m.allowed(x.ID); err != nil {
		return nil, err
	}
	defer m.waiting(x.ID.String())()
	if _, err := m.markets().Update(ctx, x.ID.Market); err != nil {
		return nil, err
	}
	return m.fetch(ctx, x.ID, true)
}

// allowed returns an error if the administrator does not allow the marketplace of a plugin.
func (m *Manager) allowed(id plugin.ID) error {
	if why := m.policy(m.cfg.Project.Settings(), &Set{}).forbids(id); why != "" {
		return fmt.Errorf("%s: %s", id, why)
	}
	return nil
}

func (m *Manager) fetch(ctx context.Context, id plugin.ID, update bool) (*Offer, error) {
	if m.cfg.Project.Home == "" {
		return nil, errHome
	}
	if err := m.allowed(id); err != nil {
		return nil, err
	}
	if !update {
		defer m.waiting(id.String())()
	}
	c, err := m.markets().Fetch(ctx, id)
	if err != nil {
		return nil, err
	}
	o, err := m.offer(ctx, c.Plugin, c.Problems)
	if err != nil {
		c.Discard()
		return nil, err
	}
	for i, text := range o.Contents.Problems {
		o.Contents.Problems[i] = c.Shown(text)
	}
	o.candidate, o.update = c, update
	if c.Old != nil {
		o.installed = c.Old.Hash
		if older(c.Plugin.Version, c.Old.Version) {
			o.older = c.Old.Version
		}
	}
	return o, nil
}

// older reports whether a version comes before another, as far as both are numbers with dots between them.
func older(version, than string) bool {
	a, b := numbers(version), numbers(than)
	return len(a) > 0 && len(b) > 0 && slices.Compare(a, b) < 0
}

// numbers returns the numbers of a version, or nil if it has anything else before what marks a build or a preview.
func numbers(version string) (list []int) {
	version = strings.TrimPrefix(version, "v")
	if i := strings.IndexAny(version, "-+"); i >= 0 {
		version = version[:i]
	}
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// offer returns the offer of a plugin that was read.
func (m *Manager) offer(ctx context.Context, x *plugin.Plugin, problems []plugin.Problem) (*Offer, error) {
	approved, err := m.approved.read()
	if err != nil {
		return nil, err
	}
	o := &Offer{ID: x.ID, Plugin: x, Contents: examine(ctx, x, problems)}
	if a, ok := approved[x.ID.String()]; ok {
		o.approved = &a
	}
	return o, nil
}

// Consider returns the offer of a plugin that is installed, to be enabled.
func (m *Manager) Consider(ctx context.Context, name string) (*Offer, error) {
	found, x, err := m.Look(name)
	switch {
	case err != nil:
		return nil, err
	case x.Market == "":
		return nil, fmt.Errorf("%s is used in this run, because --plugin-dir names it; it is not installed", found.ID)
	}
	if err := m.allowed(x.ID); err != nil {
		return nil, err
	}
	if err := m.store.Verify(x.ID); err != nil {
		return nil, err
	}
	return m.offer(ctx, x, found.Problems)
}

// Accept installs and enables what is offered, and records that the user agrees to what it runs. Without a scope it stays
// enabled or disabled as it is. It returns what was done.
func (m *Manager) Accept(ctx context.Context, o *Offer, to scope.Scope) (string, error) {
	done := "enabled " + o.ID.String()
	if o.candidate != nil {
		installed, err := o.candidate.Install(ctx)
		if err != nil {
			return "", err
		}
		o.Plugin = installed
		done = "installed " + o.ID.String()
		if o.update {
			done = "updated " + o.ID.String()
		}
		if installed.Version != "" {
			done += " " + plainLine(installed.Version)
		}
	}
	// A process that is killed here leaves a plugin that is off until the user agrees to it.
	if err := m.approved.set(ctx, o.ID, &approval{o.Plugin.Hash, o.Contents.Effects}); err != nil {
		return "", err
	}
	if to != "" {
		file, err := m.cfg.Project.SetMember(ctx, m.cfg.Say, to, "enabledPlugins", o.ID.String(), []byte("true"))
		if err != nil {
			return "", err
		}
		done += ", which " + file + " enables"
	}
	m.Reload()
	return done, nil
}

// Disable disables a plugin in a scope, and returns what was done.
func (m *Manager) Disable(ctx context.Context, name string, to scope.Scope) (string, error) {
	x, err := m.Find(name)
	switch {
	case err != nil:
		return "", err
	case x.ID.Market == "":
		return "", fmt.Errorf("%s is used in this run, because --plugin-dir names it", x.ID)
	}
	file, err := m.cfg.Project.SetMember(ctx, m.cfg.Say, to, "enabledPlugins", x.ID.String(), []byte("false"))
	if err != nil {
		return "", err
	}
	m.Reload()
	if now, err := m.Find(x.ID.String()); err == nil && now.State == Used {
		return fmt.Sprintf("%s is disabled in %s, but %s enable it", x.ID, file, now.Scope.Text()), nil
	}
	return fmt.Sprintf("disabled %s in %s", x.ID, file), nil
}

// Uninstall removes a plugin: its files, the settings of the user that name it, and what they agreed to. What it keeps is
// removed only with data. It returns what was done.
func (m *Manager) Uninstall(ctx context.Context, name string, data bool) (string, error) {
	x, err := m.Find(name)
	if err != nil {
		return "", err
	}
	id := x.ID
	all, err := m.Installed()
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(all, func(in plugin.Installed) bool { return in.ID == id }) {
		return "", fmt.Errorf("%s is not installed", id)
	}
	// A process that is killed meanwhile leaves a plugin that is off, and can be uninstalled: it is forgotten last.
	errs := []error{m.approved.set(ctx, id, nil), m.options.forget(ctx, id)}
	for _, to := range []scope.Scope{scope.User, scope.Local} {
		if m.names(to, id) {
			_, err := m.cfg.Project.SetMember(ctx, m.cfg.Say, to, "enabledPlugins", id.String(), nil)
			errs = append(errs, err)
		}
	}
	if err := m.store.Uninstall(ctx, id, data); err != nil {
		return "", errors.Join(append(errs, err)...)
	}
	m.Reload()
	done := "uninstalled " + id.String()
	for _, part := range m.cfg.Project.Settings().Parts("enabledPlugins") {
		if slices.Contains(members(part.JSON), id.String()) {
			done += fmt.Sprintf("; %s still names it", part.File)
		}
	}
	return done, errors.Join(errs...)
}

// names reports whether settings of a scope say something about a plugin.
func (m *Manager) names(from scope.Scope, id plugin.ID) bool {
	return slices.ContainsFunc(m.cfg.Project.Settings().Parts("enabledPlugins"), func(part config.Part) bool {
		return part.Scope == from && slices.Contains(members(part.JSON), id.String())
	})
}

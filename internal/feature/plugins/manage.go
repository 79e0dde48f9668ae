package plugins

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"adze/internal/domain/plugin"
	"adze/internal/feature/plugins/market"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/proc/osproc"
	"adze/internal/settings/config"
)

// A Fetch configures how plugins are fetched.
type Fetch struct {
	// Runner runs git with the environment from Environ; Network returns the HTTP transport.
	Runner  *osproc.Runner
	Environ func() []string
	Network func() http.RoundTripper
}

// A Manager installs, updates and removes plugins for the user.
type Manager struct {
	*Plugins
	fetching Fetch
}

// Manage returns a manager for the plugins.
func (p *Plugins) Manage(f Fetch) *Manager { return &Manager{p, f} }

// errHome reports that plugins cannot be installed without a state home.
var errHome = errors.New("no state home, where plugins are installed; set HOME or ADZE_HOME")

// SetOption stores the value of a plugin's option; an empty text deletes it.
func (m *Manager) SetOption(ctx context.Context, x *plugin.Plugin, o plugin.Option, text string) error {
	return m.options.set(ctx, x, o, text)
}

// An Offer is a plugin presented to the user for approval.
type Offer struct {
	ID       plugin.ID
	Plugin   *plugin.Plugin
	Contents *Contents

	candidate *market.Candidate // nil if already installed
	approved  *approval         // previous approval; may be nil
	installed string            // hash of the installed content; may be empty
	older     string            // installed version, if the offer is a downgrade
	update    bool
}

// Discard removes the fetched files, unless the offer was accepted.
func (o *Offer) Discard() {
	if o.candidate != nil {
		o.candidate.Discard()
	}
}

// Current reports whether the offered content is already installed.
func (o *Offer) Current() bool { return o.installed == o.Plugin.Hash }

// Settled reports whether no prompt is needed: the user has approved this content, or requested
// an update, not a downgrade, of a plugin that runs nothing before or after it.
func (o *Offer) Settled() bool {
	if o.approved == nil || o.older != "" {
		return false
	}
	return o.approved.Hash == o.Plugin.Hash || o.update && o.approved.Hash == o.installed && !o.candidate.Difference.Asks()
}

// maxFiles is the maximum number of changed files listed by name.
const maxFiles = 20

// changedFiles lists the files that differ from the installed ones.
func (o *Offer) changedFiles() (lines []string) {
	if o.candidate == nil {
		return nil
	}
	for _, c := range o.candidate.Difference.Changes {
		switch c.Part {
		case plugin.Program, plugin.Skill, plugin.Command, plugin.Agent, plugin.Style:
		default:
			continue // shown as an effect
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

// Title returns the plugin's ID, version and source.
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

// Lines lists the plugin's contents, or the changes since the last approval.
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
		lines = append(lines, "you have approved this version")
	} else {
		changed := compare(o.approved.Effects, o.Contents.Effects).Lines()
		if len(changed) == 0 {
			changed = []string{"its hooks, servers and rules are unchanged, but the programs they run may differ:"}
		}
		lines = append(append(lines, changed...), o.changedFiles()...)
	}
	for _, text := range o.Contents.Problems {
		lines = append(lines, plainLine("problem: "+text))
	}
	return lines
}

// Fetch downloads a plugin, named NAME or NAME@MARKETPLACE, for installation. The caller must
// accept or discard the offer.
func (m *Manager) Fetch(ctx context.Context, name string) (*Offer, error) {
	id, err := m.resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.fetch(ctx, id, false)
}

// Update downloads the current version of an installed plugin from its marketplace. The caller
// must accept or discard the offer.
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

// allowed returns an error if the administrator does not allow a plugin's marketplace.
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

// older reports whether a version precedes another. Versions that are not dotted numbers are
// never older.
func older(version, than string) bool {
	a, b := numbers(version), numbers(than)
	return len(a) > 0 && len(b) > 0 && slices.Compare(a, b) < 0
}

// numbers returns the numeric components of a version, ignoring a pre-release or build suffix,
// or nil if there is anything else.
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

// offer returns the offer for a loaded plugin.
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

// Consider returns the offer to enable an installed plugin.
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

// Accept installs and enables the offered plugin and records the user's approval of its
// effects. Without a scope, the enabled state is unchanged. It returns a summary.
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
	// If the process is killed here, the plugin stays off until the user approves it.
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

// Disable disables a plugin in a scope and returns a summary.
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

// Uninstall removes a plugin: its files, the user's settings that name it, and the approval.
// The plugin's own data is removed only with data. It returns a summary.
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
	// The installation record is deleted last: if the process is killed before, the plugin is
	// off and can still be uninstalled.
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

// names reports whether the settings of a scope mention a plugin.
func (m *Manager) names(from scope.Scope, id plugin.ID) bool {
	return slices.ContainsFunc(m.cfg.Project.Settings().Parts("enabledPlugins"), func(part config.Part) bool {
		return part.Scope == from && slices.Contains(members(part.JSON), id.String())
	})
}

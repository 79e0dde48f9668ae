// Package plugins manages a workspace's plugins: it installs, updates and removes them, and
// provides their skills, hooks, servers and output styles. No part of a plugin is used before
// the user has approved its effects; when they change, the plugin is off until the user has
// seen the difference.
package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/plugin"
	"adze/internal/feature/startcache"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/net/keyring"
	"adze/internal/settings"
	"adze/internal/settings/config"
)

// Config configures a workspace's plugins.
type Config struct {
	Project *settings.Project
	// Dirs are plugin directories for this run, relative to the working directory.
	Dirs []string
	// Say shows the user a one-line message.
	Say func(string)
}

// Plugins manages a workspace's plugins. It is safe for concurrent use.
type Plugins struct {
	cfg      Config
	store    *plugin.Store
	approved *approvals
	options  *options

	mu   sync.Mutex
	set  *Set
	from *config.Settings // settings the set was built from
	sure bool             // the set's files have been checked
	// recalled is the cached state used before set exists, valid for the settings recalledFor;
	// may be nil.
	recalled    *startcache.Plugins
	recalledFor *config.Settings
}

// Open returns a workspace's plugins. It reads nothing.
func Open(cfg Config) *Plugins {
	home := cfg.Project.Home
	locks := replace.New(filepath.Join(home, "locks"))
	return &Plugins{cfg: cfg, store: plugin.OpenStore(home), approved: openApprovals(home, locks),
		options: &options{cfg.Project, keyring.Open(home, locks), cfg.Say}}
}

// Files returns the files that record installed plugins and approvals, and their index.
func (p *Plugins) Files() (files []string, index string) {
	return []string{p.store.File(), p.approved.path}, p.store.IndexFile()
}

// Close waits briefly for pending writes.
func (p *Plugins) Close() { p.store.Close() }

// A State is the state of a plugin.
type State string

// Plugin states.
const (
	Used       State = "enabled"
	Disabled   State = "disabled"
	Missing    State = "not installed"
	Unapproved State = "not approved"
	Incomplete State = "not configured"
	Broken     State = "broken"
	Forbidden  State = "forbidden"
)

// A Plugin is a plugin that is named in the settings or installed.
type Plugin struct {
	ID    plugin.ID
	State State
	// Why is the reason why it is not used, with a remedy; empty if it is used or disabled.
	Why string
	// Scope is the settings scope that enabled or disabled it; empty if none did, or if it is
	// loaded for this run.
	Scope scope.Scope
	// Read is the loaded plugin; nil if it is disabled or could not be loaded.
	Read     *plugin.Plugin
	Problems []plugin.Problem
}

// A Set is a snapshot of the plugins named by the settings. It is immutable.
type Set struct {
	Plugins []*Plugin
	// Problems lists other problems.
	Problems []string

	by *Plugins
	// early is true if the files were not checked when the set was built; checked holds the
	// plugins checked since.
	early   bool
	checked sync.Map
}

// Set returns the plugins of the current settings. It returns the same value until settings or
// files change, or [Plugins.Reload] is called. Without any plugins it does no I/O.
func (p *Plugins) Set() *Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Project.Settings()
	if p.set != nil && p.from == now && p.sure {
		return p.set
	}
	set := p.load(now, p.store.Load)
	if p.set == nil || p.from != now || !p.set.same(set) {
		p.set = set
	}
	p.from, p.sure = now, true
	return p.set
}

// Early returns the plugins without checking all their files if there are many; [Plugins.Set]
// checks them later. Nothing in such a plugin runs before its files have been checked.
func (p *Plugins) Early() *Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Project.Settings()
	if p.set == nil || p.from != now {
		p.sure = true
		p.set, p.from = p.load(now, func(ids ...plugin.ID) []plugin.LoadResult {
			if all, ok := p.store.Known(ids...); ok {
				p.sure = false
				return all
			}
			return p.store.Load(ids...)
		}), now
		p.set.early = !p.sure
	}
	return p.set
}

// Unsure reports whether some of the set's files have not been checked.
func (s *Set) Unsure() bool { return s.early }

// same reports whether two sets are equivalent.
func (s *Set) same(o *Set) bool {
	return slices.Equal(s.Problems, o.Problems) && slices.EqualFunc(s.Plugins, o.Plugins, func(a, b *Plugin) bool {
		return a.ID == b.ID && a.State == b.State && a.Why == b.Why && a.Scope == b.Scope && a.Read == b.Read && slices.Equal(a.Problems, b.Problems)
	})
}

// check returns nil if a plugin's files match the loaded data. They are checked once.
func (s *Set) check(p *plugin.Plugin) error {
	if !s.early || p.Market == "" || s.by.looked(s) {
		return nil
	}
	if _, ok := s.checked.Load(p.ID); ok {
		return nil
	}
	err := s.by.store.Check(p)
	if err == nil {
		s.checked.Store(p.ID, true)
	}
	return err
}

// looked reports whether all of a set's files have been checked and match.
func (p *Plugins) looked(s *Set) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set == s && p.sure
}

// Reload loads the plugins again.
func (p *Plugins) Reload() *Set {
	p.mu.Lock()
	p.set = nil
	p.mu.Unlock()
	return p.Set()
}

// A finder returns installed plugins, in the order of ids.
type finder func(ids ...plugin.ID) []plugin.LoadResult

// load finds the plugins named by the settings and the command line.
func (p *Plugins) load(s *config.Settings, find finder) *Set {
	set := &Set{by: p}
	wanted := enablements(s, set)
	if len(wanted) > 0 && p.cfg.Project.Home == "" {
		set.Problems = append(set.Problems, "plugins are off: no state home")
		wanted = nil
	}
	p.take(s, set, wanted, find)
	for _, dir := range p.cfg.Dirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.cfg.Project.Source().Dir, dir)
		}
		x := &Plugin{State: Used}
		read, problems, err := plugin.Read(dir, plugin.ID{})
		if err != nil {
			x.ID, x.State, x.Why = plugin.ID{Name: filepath.Base(dir)}, Broken, err.Error()
		} else {
			read.Data = p.store.Data(read.ID)
			x.ID, x.Read, x.Problems = read.ID, read, problems
		}
		set.Plugins = append(set.Plugins, x)
	}
	resolveNames(set)
	return set
}

// An enablement is the settings' entry for one plugin.
type enablement struct {
	id   plugin.ID
	on   bool
	from scope.Scope
}

// enablements returns the entries of the current settings, sorted by ID. A project can disable a
// plugin; it can enable only plugins the user has not disabled. The user's settings for this
// project override the project's.
func enablements(s *config.Settings, set *Set) (list []enablement) {
	type saying struct {
		text string
		enablement
	}
	var all []saying
	for _, part := range s.Parts("enabledPlugins") { // lowest precedence first
		var values map[string]json.RawMessage
		if json.Unmarshal(part.JSON, &values) != nil {
			set.Problems = append(set.Problems, fmt.Sprintf("%s: enabledPlugins is not an object by NAME@MARKETPLACE; it is ignored", part.File))
			continue
		}
		for _, text := range slices.Sorted(maps.Keys(values)) {
			id, err := plugin.ParseID(text)
			value := string(values[text])
			on := value == "true"
			if err == nil && !on && value != "false" && value != "null" {
				err = fmt.Errorf("plugin %q: the value is neither true nor false", text)
			}
			if err != nil {
				set.Problems = append(set.Problems, fmt.Sprintf("%s: enabledPlugins: %v", part.File, err))
				continue
			}
			all = append(all, saying{text, enablement{id, on, part.Scope}})
		}
	}
	slices.SortStableFunc(all, func(a, b saying) int { return strings.Compare(a.text, b.text) })
	for from := 0; from < len(all); {
		var own, project, managed *enablement
		text := all[from].text
		for ; from < len(all) && all[from].text == text; from++ {
			switch w := &all[from].enablement; w.from {
			case scope.Managed:
				managed = w
			case scope.Project:
				project = w
			default:
				own = w
			}
		}
		switch {
		case managed != nil:
			list = append(list, *managed)
		case own == nil:
			list = append(list, *project)
		case project == nil || project.on || own.from != scope.User:
			list = append(list, *own)
		default:
			list = append(list, *project)
		}
	}
	return list
}

// take adds the enabled plugins that are installed.
func (p *Plugins) take(s *config.Settings, set *Set, wanted []enablement, find finder) {
	var ids []plugin.ID
	for _, w := range wanted {
		if w.on {
			ids = append(ids, w.id)
		}
	}
	if len(ids) == 0 {
		for _, w := range wanted {
			set.Plugins = append(set.Plugins, &Plugin{ID: w.id, State: Disabled, Scope: w.from})
		}
		return
	}
	var approved map[string]string
	var unread error
	var reading sync.WaitGroup
	reading.Go(func() { approved, unread = p.approved.hashes() })
	policy := p.policy(s, set)
	configured := p.options.configured()
	loaded := find(ids...)
	if reading.Wait(); unread != nil {
		set.Problems = append(set.Problems, unread.Error())
	}
	for _, w := range wanted {
		x := &Plugin{ID: w.id, State: Disabled, Scope: w.from}
		set.Plugins = append(set.Plugins, x)
		if !w.on {
			continue
		}
		l := loaded[0] // same order as ids
		loaded = loaded[1:]
		x.Problems = l.Problems
		switch hash, ok := approved[w.id.String()]; {
		case errors.Is(l.Err, plugin.ErrNotInstalled):
			x.State, x.Why = Missing, fmt.Sprintf("adze plugin install %s installs it", w.id)
		case l.Err != nil:
			x.State, x.Why = Broken, strings.TrimPrefix(l.Err.Error(), w.id.String()+": ")
		case policy.forbids(w.id) != "":
			x.State, x.Why = Forbidden, policy.forbids(w.id)
		case !ok || hash != l.Plugin.Hash:
			x.State, x.Why = Unapproved, fmt.Sprintf("it runs code that you have not approved; run adze plugin enable %s to review it", w.id)
		default:
			x.State, x.Read = Used, l.Plugin
			if missing := p.options.missing(l.Plugin, configured); len(missing) > 0 {
				x.State, x.Read = Incomplete, nil
				x.Why = fmt.Sprintf("it needs a value for %s; adze plugin configure %s asks for it", strings.Join(missing, ", "), w.id)
			}
		}
	}
}

// resolveNames keeps a single plugin active per name: preferably one loaded for this run, otherwise
// the first.
func resolveNames(set *Set) {
	names := map[string]*Plugin{}
	for _, x := range slices.Backward(set.Plugins) {
		if x.State == Used && x.ID.Market == "" {
			names[strings.ToLower(x.ID.Name)] = x
		}
	}
	for _, x := range set.Plugins {
		key := strings.ToLower(x.ID.Name)
		switch other := names[key]; {
		case x.State != Used || other == x:
		case other == nil:
			names[key] = x
		default:
			x.State, x.Read, x.Why = Broken, nil, fmt.Sprintf("%s has the same name; disable one of the two", other.ID)
		}
	}
}

// used returns the active plugins.
func (s *Set) used() (list []*plugin.Plugin) {
	for _, x := range s.Plugins {
		if x.State == Used {
			list = append(list, x.Read)
		}
	}
	return list
}

// Errors returns the problems of enabled plugins, one per line. Plugins that are not installed
// are omitted, because other programs' settings name many.
func (s *Set) Errors() (lines []string) {
	for _, x := range s.Plugins {
		if x.Why != "" && x.State != Missing {
			lines = append(lines, fmt.Sprintf("plugin %s is not used (%s): %s", x.ID, x.State, x.Why))
		}
	}
	return append(lines, s.Problems...)
}

// Package plugins says which plugins a workspace uses, and brings their skills, hooks, servers and output styles to where the
// program takes such things from. It installs, updates and removes plugins for the user. Nothing of a plugin is used before
// the user has agreed to what it runs; when that changes, the plugin is off until they have seen the difference.
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

	"adze/internal/app/settings"
	"adze/internal/platform/config"
	"adze/internal/platform/keyring"
	"adze/internal/platform/replace"
	"adze/internal/platform/scope"
	"adze/internal/plugin"
)

// A Config is what the plugins of a workspace are found with.
type Config struct {
	Project *settings.Project
	// Dirs are folders of plugins for this run, relative to the working directory.
	Dirs []string
	// Say tells the user something in one line.
	Say func(string)
}

// Plugins are those of a workspace. They are safe for concurrent use.
type Plugins struct {
	cfg      Config
	store    *plugin.Store
	approved *approvals
	options  *options

	mu   sync.Mutex
	set  *Set
	from *config.Settings // that the set was made of
}

// Open returns the plugins of a workspace. It reads nothing.
func Open(cfg Config) *Plugins {
	home := cfg.Project.Home
	locks := replace.New(filepath.Join(home, "locks"))
	return &Plugins{cfg: cfg, store: plugin.OpenStore(home), approved: openApprovals(home, locks),
		options: &options{cfg.Project, keyring.Open(home, locks), cfg.Say}}
}

// Close waits for what is being written, for a short time.
func (p *Plugins) Close() { p.store.Close() }

// A State says whether a plugin is used.
type State string

// The states.
const (
	Used       State = "enabled"
	Disabled   State = "disabled"
	Missing    State = "not installed"
	Unapproved State = "not approved"
	Incomplete State = "not configured"
	Broken     State = "broken"
	Forbidden  State = "forbidden"
)

// A Plugin is one that the settings name, or that is installed.
type Plugin struct {
	ID    plugin.ID
	State State
	// Why says why it is not used, and what to do; empty if it is used, or disabled.
	Why string
	// Scope is what enabled or disabled it; empty if nothing did, or if it is there for this run.
	Scope scope.Scope
	// Read is what was read of it; nil if it could not be, or if it is disabled.
	Read     *plugin.Plugin
	Problems []plugin.Problem
}

// A Set is the plugins that the settings name, as they were found. It does not change.
type Set struct {
	Plugins []*Plugin
	// Problems say what else is wrong.
	Problems []string

	by *Plugins
}

// Set returns the plugins of the settings in force: the same value until settings change or [Plugins.Reload] is called.
// Without any it touches nothing.
func (p *Plugins) Set() *Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Project.Settings()
	if p.set == nil || p.from != now {
		p.set, p.from = p.load(now), now
	}
	return p.set
}

// Reload looks at the plugins again.
func (p *Plugins) Reload() *Set {
	p.mu.Lock()
	p.set = nil
	p.mu.Unlock()
	return p.Set()
}

// load finds the plugins that settings and the command line name.
func (p *Plugins) load(s *config.Settings) *Set {
	set := &Set{by: p}
	wanted := wishes(s, set)
	if len(wanted) > 0 && p.cfg.Project.Home == "" {
		set.Problems = append(set.Problems, "no plugin is used: there is no state home, where they are installed")
		wanted = nil
	}
	p.take(s, set, wanted)
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
	settle(set)
	return set
}

// A wish is what the settings say about one plugin.
type wish struct {
	id   plugin.ID
	on   bool
	from scope.Scope
}

// wishes returns what the settings in force say, in order of ids. A project can disable a plugin; it enables only one that
// the user has not disabled. What the user wants in this project counts before what the project wants.
func wishes(s *config.Settings, set *Set) (list []wish) {
	type said struct{ own, project, managed *wish }
	all := map[string]*said{}
	for _, part := range s.Parts("enabledPlugins") { // the weakest first
		var values map[string]json.RawMessage
		if json.Unmarshal(part.JSON, &values) != nil {
			set.Problems = append(set.Problems, fmt.Sprintf("%s: enabledPlugins is not an object by NAME@MARKETPLACE; it is ignored", part.File))
			continue
		}
		for _, text := range slices.Sorted(maps.Keys(values)) {
			id, err := plugin.ParseID(text)
			var on bool
			if err == nil && json.Unmarshal(values[text], &on) != nil {
				err = fmt.Errorf("plugin %q: the value is neither true nor false", text)
			}
			if err != nil {
				set.Problems = append(set.Problems, fmt.Sprintf("%s: enabledPlugins: %v", part.File, err))
				continue
			}
			x := all[text]
			if x == nil {
				x = &said{}
				all[text] = x
			}
			w := &wish{id, on, part.Scope}
			switch part.Scope {
			case scope.Managed:
				x.managed = w
			case scope.Project:
				x.project = w
			default:
				x.own = w
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(all)) {
		x := all[text]
		switch {
		case x.managed != nil:
			list = append(list, *x.managed)
		case x.own == nil:
			list = append(list, *x.project)
		case x.project == nil || x.project.on || x.own.from != scope.User:
			list = append(list, *x.own)
		default:
			list = append(list, *x.project)
		}
	}
	return list
}

// take adds what the user has installed of what the settings want.
func (p *Plugins) take(s *config.Settings, set *Set, wanted []wish) {
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
	loaded := map[plugin.ID]plugin.Loaded{}
	for _, l := range p.store.Load(ids...) {
		loaded[l.ID] = l
	}
	if reading.Wait(); unread != nil {
		set.Problems = append(set.Problems, unread.Error())
	}
	for _, w := range wanted {
		x := &Plugin{ID: w.id, State: Disabled, Scope: w.from}
		set.Plugins = append(set.Plugins, x)
		l := loaded[w.id]
		if !w.on {
			continue
		}
		x.Problems = l.Problems
		switch hash, ok := approved[w.id.String()]; {
		case errors.Is(l.Err, plugin.ErrNotInstalled):
			x.State, x.Why = Missing, fmt.Sprintf("adze plugin install %s installs it", w.id)
		case l.Err != nil:
			x.State, x.Why = Broken, strings.TrimPrefix(l.Err.Error(), w.id.String()+": ")
		case policy.forbids(w.id) != "":
			x.State, x.Why = Forbidden, policy.forbids(w.id)
		case !ok || hash != l.Plugin.Hash:
			x.State, x.Why = Unapproved, fmt.Sprintf("you have not agreed to what it runs now; adze plugin enable %s shows it and asks", w.id)
		default:
			x.State, x.Read = Used, l.Plugin
			if missing := p.options.missing(l.Plugin, configured); len(missing) > 0 {
				x.State, x.Read = Incomplete, nil
				x.Why = fmt.Sprintf("it needs a value for %s; adze plugin configure %s asks for it", strings.Join(missing, ", "), w.id)
			}
		}
	}
}

// settle leaves one of several plugins with the same name in use: the one for this run, and else the first.
func settle(set *Set) {
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
			x.State, x.Read, x.Why = Broken, nil, fmt.Sprintf("another plugin of the same name is in use, %s; disable one of them", other.ID)
		}
	}
}

// used returns the plugins that are in use.
func (s *Set) used() (list []*plugin.Plugin) {
	for _, x := range s.Plugins {
		if x.State == Used {
			list = append(list, x.Read)
		}
	}
	return list
}

// Errors returns what is wrong with the plugins that are wanted, in lines. Those that are not installed are not among them:
// settings of other programs name many.
func (s *Set) Errors() (lines []string) {
	for _, x := range s.Plugins {
		if x.Why != "" && x.State != Missing {
			lines = append(lines, fmt.Sprintf("plugin %s is not used (%s): %s", x.ID, x.State, x.Why))
		}
	}
	return append(lines, s.Problems...)
}

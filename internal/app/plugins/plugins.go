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

	"adze/internal/app/headstart"
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
	sure bool             // the files of the set were looked at
	// recalled is what is known before there is a set, if the settings are those that it was recalled for; may be nil.
	recalled    *headstart.Plugins
	recalledFor *config.Settings
}

// Open returns the plugins of a workspace. It reads nothing.
func Open(cfg Config) *Plugins {
	home := cfg.Project.Home
	locks := replace.New(filepath.Join(home, "locks"))
	return &Plugins{cfg: cfg, store: plugin.OpenStore(home), approved: openApprovals(home, locks),
		options: &options{cfg.Project, keyring.Open(home, locks), cfg.Say}}
}

// Files returns the files that say which plugins there are and what the user agreed to, and the index of them.
func (p *Plugins) Files() (files []string, index string) {
	return []string{p.store.File(), p.approved.path}, p.store.IndexFile()
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
	// early says that its files were not looked at when it was made, and checked has the plugins whose files were since.
	early   bool
	checked sync.Map
}

// Set returns the plugins of the settings in force: the same value until settings or files change, or [Plugins.Reload] is
// called. Without any it touches nothing.
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

// Early returns the plugins as they are known first: where there are many of them, their files are looked at later, by
// [Plugins.Set]. Nothing of such a plugin runs before its files were looked at.
func (p *Plugins) Early() *Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Project.Settings()
	if p.set == nil || p.from != now {
		p.sure = true
		p.set, p.from = p.load(now, func(ids ...plugin.ID) []plugin.Loaded {
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

// Unsure reports whether files of the set were not looked at.
func (s *Set) Unsure() bool { return s.early }

// same reports whether two sets say the same of the same plugins.
func (s *Set) same(o *Set) bool {
	return slices.Equal(s.Problems, o.Problems) && slices.EqualFunc(s.Plugins, o.Plugins, func(a, b *Plugin) bool {
		return a.ID == b.ID && a.State == b.State && a.Why == b.Why && a.Scope == b.Scope && a.Read == b.Read && slices.Equal(a.Problems, b.Problems)
	})
}

// check returns nil if what was read of a plugin is what its files say. They are looked at once.
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

// looked reports whether all files of a set were looked at, and are as it says.
func (p *Plugins) looked(s *Set) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set == s && p.sure
}

// Reload looks at the plugins again.
func (p *Plugins) Reload() *Set {
	p.mu.Lock()
	p.set = nil
	p.mu.Unlock()
	return p.Set()
}

// A finder returns installed plugins, in the order of the ids.
type finder func(ids ...plugin.ID) []plugin.Loaded

// load finds the plugins that settings and the command line name.
func (p *Plugins) load(s *config.Settings, find finder) *Set {
	set := &Set{by: p}
	wanted := wishes(s, set)
	if len(wanted) > 0 && p.cfg.Project.Home == "" {
		set.Problems = append(set.Problems, "no plugin is used: there is no state home, where they are installed")
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
	type saying struct {
		text string
		wish
	}
	var all []saying
	for _, part := range s.Parts("enabledPlugins") { // the weakest first
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
			all = append(all, saying{text, wish{id, on, part.Scope}})
		}
	}
	slices.SortStableFunc(all, func(a, b saying) int { return strings.Compare(a.text, b.text) })
	for from := 0; from < len(all); {
		var own, project, managed *wish
		text := all[from].text
		for ; from < len(all) && all[from].text == text; from++ {
			switch w := &all[from].wish; w.from {
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

// take adds what the user has installed of what the settings want.
func (p *Plugins) take(s *config.Settings, set *Set, wanted []wish, find finder) {
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
		l := loaded[0] // they are in the order of the ids
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

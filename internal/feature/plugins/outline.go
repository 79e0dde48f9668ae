package plugins

import (
	"context"
	"fmt"

	"adze/internal/domain/plugin"
	"adze/internal/feature/startcache"
	"adze/internal/hook"
	"adze/internal/platform/fs/scope"
)

// Recall makes o the known plugin state until the plugins are loaded or the settings change.
// Nothing in it runs before the plugin has been loaded.
func (p *Plugins) Recall(o *startcache.Plugins) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recalled, p.recalledFor = o, p.cfg.Project.Settings()
}

// Recalled returns the cached plugin state used before loading, or nil.
func (p *Plugins) Recalled() *startcache.Plugins {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set != nil || p.recalledFor != p.cfg.Project.Settings() {
		return nil
	}
	return p.recalled
}

// Remembered returns the hooks of recalled plugins. Each is looked up when it is about to run,
// and runs only if the plugin still has it.
func (p *Plugins) Remembered(o *startcache.Plugins) []hook.Source {
	list := make([]hook.Source, len(o.Hooks))
	all := make([]hook.Plugin, len(o.Hooks)) // preallocated, since there can be many before the first request
	var text []byte
	for i := range o.Hooks {
		text = append(text, o.Hooks[i].JSON...)
	}
	for i := range o.Hooks {
		h := &o.Hooks[i]
		all[i] = hook.Plugin{
			Root: h.Root, Data: h.Data,
			Check: func() error {
				now, err := p.current(h)
				if err != nil {
					return err
				}
				return now.Check()
			},
			Options: func(ctx context.Context) (map[string]string, error) {
				now, err := p.current(h)
				if err != nil {
					return nil, err
				}
				return now.Options(ctx)
			},
		}
		n := len(h.JSON)
		list[i] = hook.Source{Name: "plugin " + h.ID.Name, Scope: scope.User, JSON: text[:n:n], Plugin: &all[i]}
		text = text[n:]
	}
	return list
}

// current returns a plugin for its hooks, if it is active and has these hooks.
func (p *Plugins) current(h *startcache.Hooks) (*hook.Plugin, error) {
	set := p.Early()
	for _, x := range set.used() {
		if x.ID == h.ID && x.Dir == h.Root && x.Data == h.Data && string(x.Hooks) == h.JSON {
			return set.hooks(x).Plugin, nil
		}
	}
	return nil, fmt.Errorf("%s: its hooks have changed since the session began; start a new session to use them", h.ID)
}

// Outline returns the plugin state needed at startup, or nil if it depends on more than
// settings and the store's files.
func (p *Plugins) Outline() *startcache.Plugins {
	if len(p.cfg.Dirs) > 0 {
		return nil
	}
	set := p.Early()
	o := &startcache.Plugins{Errors: set.Errors()}
	for _, x := range set.Plugins {
		if x.Read == nil {
			if x.State == Incomplete {
				return nil // the missing value may be in the keyring
			}
			continue
		}
		if needsSecret(x.Read) {
			return nil
		}
		o.Served = o.Served || len(x.Read.Servers) > 0
		if len(x.Read.Hooks) > 0 {
			o.Hooks = append(o.Hooks, startcache.Hooks{ID: x.ID, Root: x.Read.Dir, Data: x.Read.Data, JSON: string(x.Read.Hooks)})
		}
	}
	return o
}

// Key returns the settings that determine which plugins are used, as a cache key.
func (p *Plugins) Key() []string {
	settings := p.cfg.Project.Settings()
	key := []string{string(settings.Object("pluginConfigs"))}
	for _, name := range []string{"enabledPlugins", "strictKnownMarketplaces"} {
		for _, part := range settings.Parts(name) {
			key = append(key, name, part.Scope.Text(), part.File, string(part.JSON))
		}
	}
	return append(key, p.cfg.Dirs...)
}

// needsSecret reports whether a plugin requires a secret from the keyring.
func needsSecret(x *plugin.Plugin) bool {
	for _, o := range x.Options {
		if o.Required && o.Secret && len(o.Default) == 0 {
			return true
		}
	}
	return false
}

package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/plugin"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/domain/style"
	"adze/internal/hook"
	"adze/internal/lsp"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
)

// roots returns a plugin's directories and files with skills and commands.
func roots(p *plugin.Plugin) (list []library.Root) {
	root := library.Root{Origin: skill.Origin{Kind: skill.Plugin, By: p.ID.String()}, Prefix: p.Name + ":", Fixed: fixed(p)}
	for _, root.Dir = range p.Skills {
		list = append(list, root)
	}
	root.Origin.Command = true
	for _, root.Dir = range p.Commands {
		list = append(list, root)
	}
	return list
}

// fixed reports whether a plugin's files never change: an update uses a new directory.
func fixed(p *plugin.Plugin) bool { return p.Market != "" }

// Roots returns the directories with skills and commands of the active plugins.
func (s *Set) Roots() (list []library.Root) {
	for _, p := range s.used() {
		list = append(list, roots(p)...)
	}
	return list
}

// Vars returns the variables for a plugin skill's text: its directory, its data directory, and
// its non-secret options. It is empty if the plugin is not active.
func (s *Set) Vars(o skill.Origin) skill.Vars {
	for _, p := range s.used() {
		if o.Kind == skill.Plugin && p.ID.String() == o.By {
			keep(p)
			return skill.Vars{PluginRoot: p.Dir, PluginData: p.Data, Options: public(p, s.by.options.configured())}
		}
	}
	return skill.Vars{}
}

// Styles returns the directories and files with output styles of the active plugins.
func (s *Set) Styles() (list []style.Root) {
	for _, p := range s.used() {
		if len(p.Styles) > 0 && s.check(p) != nil {
			continue // reported once all files have been checked
		}
		list = append(list, styleRoots(p)...)
	}
	return list
}

// styleRoots returns a plugin's directories and files with output styles.
func styleRoots(p *plugin.Plugin) (list []style.Root) {
	for _, path := range p.Styles {
		list = append(list, style.Root{Path: path, Origin: "plugin " + p.ID.String(), Prefix: p.Name + ":"})
	}
	return list
}

// Agents returns the directories and files with agents of the active plugins.
func (s *Set) Agents() (list []agentdef.Root) {
	for _, p := range s.used() {
		list = append(list, agentRoots(p)...)
	}
	return list
}

// agentRoots returns a plugin's directories and files with agents.
func agentRoots(p *plugin.Plugin) (list []agentdef.Root) {
	for _, path := range p.Agents {
		list = append(list, agentdef.Root{
			Path: path, Source: agentdef.Source{Kind: agentdef.Plugin, By: p.ID.String()}, Prefix: p.Name + ":", Within: p.Dir, Fixed: fixed(p),
		})
	}
	return list
}

// Hooks returns the hooks of the active plugins.
func (s *Set) Hooks() (list []hook.Source) {
	for _, p := range s.used() {
		if len(p.Hooks) > 0 {
			list = append(list, s.hooks(p))
		}
	}
	return list
}

func (s *Set) hooks(p *plugin.Plugin) hook.Source {
	options := s.options(p)
	return hook.Source{
		Name: "plugin " + p.Name, Scope: scope.User, JSON: p.Hooks,
		Plugin: &hook.Plugin{Root: p.Dir, Data: p.Data, Check: func() error { return s.check(p) }, Options: func(ctx context.Context) (map[string]string, error) {
			keep(p)
			if options == nil {
				return nil, nil
			}
			return options(ctx)
		}},
	}
}

// options returns a function that reads a plugin's option values on demand.
func (s *Set) options(p *plugin.Plugin) func(context.Context) (map[string]string, error) {
	if len(p.Options) == 0 {
		return nil
	}
	var mu sync.Mutex
	var known map[string]string
	return func(ctx context.Context) (map[string]string, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != nil {
			return known, nil
		}
		values, err := s.by.options.values(ctx, p, s.by.options.configured())
		if err == nil {
			known = values
		}
		return values, err
	}
}

// keep creates a plugin's data directory.
func keep(p *plugin.Plugin) {
	_ = fsys.MkdirPrivate(p.Data) // ok: a program that needs it reports the error
}

// serverName returns the name of a plugin's server as used in rules and hooks across the
// ecosystem.
func serverName(id plugin.ID, server string) string { return "plugin:" + id.Name + ":" + server }

// Servers returns the MCP servers of the active plugins, expanded with getenv.
func (p *Plugins) Servers(getenv func(string) string) []*roster.Entry {
	if o := p.Recalled(); o != nil && !o.Served {
		return nil
	}
	return p.Early().servers(getenv)
}

func (s *Set) servers(getenv func(string) string) (list []*roster.Entry) {
	for _, p := range s.used() {
		var raws map[string]json.RawMessage
		if len(p.Servers) == 0 || json.Unmarshal(p.Servers, &raws) != nil || s.check(p) != nil {
			continue // errors were reported on load, or will be once all files are checked
		}
		keep(p)
		own := map[string]string{}
		for _, prefix := range []string{"ADZE_", "CLAUDE_"} {
			own[prefix+"PLUGIN_ROOT"], own[prefix+"PLUGIN_DATA"] = p.Dir, p.Data
		}
		src := roster.Source{Scope: roster.Plugin, File: p.Dir, Getenv: func(name string) string {
			if value, ok := own[name]; ok {
				return value
			}
			return getenv(name)
		}}
		var failed error
		options := s.options(p)
		src.Option = func(name string) (value string, ok bool) {
			if options == nil {
				return "", false
			}
			values, err := options(context.Background())
			if err != nil {
				failed = err
			}
			value, ok = values[name]
			return value, ok
		}
		for _, name := range slices.Sorted(maps.Keys(raws)) {
			failed = nil
			e := src.Entry(serverName(p.ID, name), raws[name])
			if failed != nil {
				e.Problem = fmt.Errorf("its options cannot be read: %w", failed)
			}
			if !e.Remote() {
				env := maps.Clone(own)
				maps.Copy(env, e.Env)
				e.Env = env
			}
			list = append(list, e)
		}
	}
	return list
}

// Languages returns the language servers of the active plugins, expanded with getenv. Invalid ones are
// left out; [Contents] reports them.
func (s *Set) Languages(getenv func(string) string) (list []lsp.Server) {
	for _, p := range s.used() {
		own := map[string]string{}
		for _, prefix := range []string{"ADZE_", "CLAUDE_"} {
			own[prefix+"PLUGIN_ROOT"], own[prefix+"PLUGIN_DATA"] = p.Dir, p.Data
		}
		servers, _ := languageServers(p, func(name string) string { return cmp.Or(own[name], getenv(name)) })
		for _, l := range servers {
			env := maps.Clone(own)
			maps.Copy(env, l.Env)
			l.Env, l.Origin = env, "plugin "+p.ID.String()
			l.Check = func() error {
				keep(p)
				return s.check(p)
			}
			list = append(list, l)
		}
	}
	return list
}

// languageServers returns a plugin's language servers, and the reasons others are invalid.
func languageServers(p *plugin.Plugin, getenv func(string) string) (list []lsp.Server, problems []string) {
	var raws map[string]json.RawMessage
	if len(p.Languages) == 0 || json.Unmarshal(p.Languages, &raws) != nil {
		return nil, nil // ok: it was an object when it was read
	}
	for _, name := range slices.Sorted(maps.Keys(raws)) {
		l, err := lsp.Parse(name, raws[name], func(text string) (string, error) {
			if strings.Contains(text, "${user_config.") {
				return "", errors.New("options of the plugin are not available to language servers")
			}
			return roster.Expand(text, getenv)
		})
		if err != nil {
			if !lsp.IsDisabled(err) {
				problems = append(problems, fmt.Sprintf("the language server %s: %v", roster.Shown(name), err))
			}
			continue
		}
		list = append(list, l)
	}
	return list, problems
}

// languageEffects returns the language servers as effects, with their variables, and records problems
// in c.
func languageEffects(p *plugin.Plugin, c *Contents) (list []Effect) {
	servers, problems := languageServers(p, func(string) string { return p.Dir })
	c.Problems = append(c.Problems, problems...)
	var raws map[string]struct {
		Command string
		Args    []string
		Env     map[string]string
	}
	json.Unmarshal(p.Languages, &raws) // ok: the invalid ones are problems
	for _, l := range servers {
		raw := raws[l.Name]
		text := "runs " + strings.Join(append([]string{cmp.Or(raw.Command, l.Command)}, raw.Args...), " ")
		for _, variable := range slices.Sorted(maps.Keys(raw.Env)) {
			text += fmt.Sprintf(" [%s=%s]", variable, raw.Env[variable])
		}
		list = append(list, Effect{"lsp", l.Name, text})
	}
	return list
}

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/term"
	"adze/internal/platform/text/rank"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// schemaID returns the ID of the settings schema: its address, if the releases have one.
func (env *Env) schemaID() string {
	if env.Downloads == "" {
		return "urn:adze:settings"
	}
	return env.Downloads + "/v" + env.Version + "/settings.schema.json"
}

// configOptions holds the options of adze config.
type configOptions struct {
	project settings.Source
	scope   string
	json    bool
	all     bool
}

func (o *configOptions) flags() []flag {
	return append([]flag{
		flags.OneOf(flag{Name: "scope", Value: "SCOPE", Doc: "with set and unset, which settings to change: user (the default), project or local"},
			&o.scope, "user", "project", "local"),
		{Name: "all", Short: "a", Doc: "with list, all settings and variables with descriptions, not only those in use", Set: flags.SetBool(&o.all)},
		{Name: "json", Doc: "with list, get and path, print JSON", Set: flags.SetBool(&o.json)},
	}, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

func (*configOptions) actions() []action {
	return []action{
		{Name: "list", Doc: "list active settings and their sources; --all lists every setting with its description"},
		{Name: "get", Args: "KEY", Doc: "print a value, and on stderr where it comes from"},
		{Name: "set", Args: "KEY VALUE", Doc: "change a setting"},
		{Name: "unset", Args: "KEY", Doc: "remove a setting"},
		{Name: "path", Doc: "list the settings files"},
		{Name: "schema", Doc: "print a JSON Schema of the settings, for editors"},
	}
}

// offers completes keys, and values of keys that have a fixed set.
func (*configOptions) offers(_ *Env, args []string) (list []offer) {
	keys := settings.Keys()
	for i := range keys {
		k := &keys[i]
		switch {
		case len(args) == 1 && (args[0] == "get" || k.Name != "" && (args[0] == "set" || args[0] == "unset")):
			list = append(list, offer{Word: k.ID(), Doc: k.Doc})
		case len(args) == 2 && args[0] == "set" && args[1] == k.ID():
			choices := k.Choices
			if k.Kind == config.Bool {
				choices = []string{"true", "false"}
			}
			list = append(list, flags.Among(choices...)...)
		}
	}
	return list
}

// run shows and changes settings.
func (o *configOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := actionOf(in, "list")
	t := &configTask{env: env, o: o, args: args}
	actions := map[string]struct {
		args int
		run  func(context.Context) error
	}{
		"list": {0, t.list}, "get": {1, t.get}, "set": {2, t.set}, "unset": {1, t.unset}, "path": {0, t.paths},
		"schema": {0, func(context.Context) error { return env.print(settingsSchema(env.schemaID())) }},
	}
	action, ok := actions[name]
	if !ok || len(args) != action.args {
		text := "usage: adze config list|get KEY|set KEY VALUE|unset KEY|path|schema"
		if near := rank.Closest(name, slices.Sorted(maps.Keys(actions)), 1); !ok && len(near) > 0 {
			text = fmt.Sprintf("unknown command: adze config %s; did you mean %s?", name, near[0])
		}
		return setup.Errorf("%s", text)
	}
	return action.run(ctx)
}

// A configTask is one action on the settings, with its arguments.
type configTask struct {
	env  *Env
	o    *configOptions
	args []string
}

func settingsSchema(id string) string {
	return string(config.Schema(id, "Settings of adze", settings.Keys()))
}

// list prints the settings in effect, with their origin.
func (t *configTask) list(context.Context) error {
	s := openLeniently(t.env, t.o.project).Settings()
	keys := settings.Keys()
	var list []settings.Setting
	for i := range keys {
		if v := settings.Describe(s, &keys[i]); v.Origin != "" || t.o.json {
			list = append(list, v)
		}
	}
	if t.o.json {
		return t.env.printJSON(list)
	}
	if t.o.all {
		return t.env.page(settingsList(s, keys))
	}
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "%-34s %s  (%s)\n", v.Key, term.Sanitize(v.Text()), term.Sanitize(v.Origin))
	}
	return t.env.page(b.String())
}

// settingsList describes every setting: meaning, accepted values, variables and current value.
func settingsList(s *config.Settings, keys []config.Key) string {
	var b strings.Builder
	for i := range keys {
		k := &keys[i]
		v := settings.Describe(s, k)
		fmt.Fprintf(&b, "%s\n    %s\n    accepts %s", k.ID(), k.Doc, k.Accepts())
		if k.Default != "" {
			fmt.Fprintf(&b, "; default %s", k.Default)
		}
		b.WriteString("\n")
		if names := slices.DeleteFunc(slices.Clone(k.Env), func(name string) bool { return name == k.ID() }); len(names) > 0 {
			fmt.Fprintf(&b, "    also %s\n", strings.Join(names, ", "))
		}
		if v.Origin != "" {
			fmt.Fprintf(&b, "    is %s  (%s)\n", term.Sanitize(v.Text()), term.Sanitize(v.Origin))
		}
	}
	return b.String()
}

// get prints a value on standard output and its origin on standard error.
func (t *configTask) get(context.Context) error {
	s := openLeniently(t.env, t.o.project).Settings()
	k, err := settings.Find(s, t.args[0])
	if err != nil {
		return err
	}
	v := settings.Describe(s, k)
	if t.o.json {
		return t.env.printJSON(v)
	}
	t.env.Say(fmt.Sprintf("%s: %s", v.Key, cmp.Or(v.Origin, "the default")))
	return t.env.print(term.Sanitize(v.Text()) + "\n")
}

// set changes a value in a file.
func (t *configTask) set(ctx context.Context) error { return t.change(ctx, &t.args[1]) }

func (t *configTask) unset(ctx context.Context) error { return t.change(ctx, nil) }

// change writes a value for the key in the first argument; nil removes the key.
func (t *configTask) change(ctx context.Context, value *string) error {
	p, _ := settings.Open(t.env.source(t.o.project)) // ok: problems elsewhere don't matter here
	to, err := scope.Parse(cmp.Or(t.o.scope, "user"))
	if err != nil {
		return setup.Errorf("--scope: %v", err)
	}
	_, idle, err := p.Change(ctx, t.env.Say, to, t.args[0], value)
	if idle != "" {
		t.env.Say(idle)
	}
	return err
}

// A listedFile is a settings file in the output.
type listedFile struct {
	Scope string `json:"scope"`
	Path  string `json:"path"`
	State string `json:"state"`
}

// paths prints the settings files, highest precedence first.
func (t *configTask) paths(context.Context) error {
	p, _ := settings.Open(t.env.source(t.o.project)) // ok: problems are shown as such
	var list []listedFile
	files := p.Files()
	slices.SortStableFunc(files, func(a, b config.File) int { return scope.Compare(b.Scope, a.Scope) })
	for _, f := range slices.Backward(files) {
		l := listedFile{f.Scope.String(), f.Path, "read"}
		if _, err := os.Stat(f.Path); err != nil && f.Text == "" {
			l.State = "missing"
		} else if f.Grant == config.Untrusted {
			l.State = "not trusted: only rules that deny or ask count"
		}
		for _, e := range p.Settings().Invalid() {
			if strings.HasPrefix(e.Where, f.Path) {
				l.State = "invalid: " + e.Error()
			}
		}
		list = append(list, l)
	}
	if t.o.json {
		return t.env.printJSON(list)
	}
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "%-16s %s  (%s)\n", l.Scope, term.Sanitize(l.Path), term.Sanitize(l.State))
	}
	return t.env.page(b.String())
}

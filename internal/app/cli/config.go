package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/app/setup"
	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
	"adze/internal/platform/term"
)

// schemaID names the schema of settings.
const schemaID = "urn:adze:settings"

// configOptions belong to adze config.
type configOptions struct {
	project settings.Source
	scope   string
	json    bool
}

func (o *configOptions) flags() []flag {
	return append([]flag{
		{name: "scope", value: "SCOPE", doc: "with set and unset, which settings to change: user (the default), project or local",
			set: setChoice(&o.scope, "user", "project", "local")},
		{name: "json", doc: "with list, get and path, print JSON", set: setBool(&o.json)},
	}, only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings", "trust")...)
}

// run shows and changes settings.
func (o *configOptions) run(ctx context.Context, env *Env, in invocation) error {
	name, args := "list", in.args
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	t := &configTask{env: env, o: o, args: args}
	actions := map[string]struct {
		args int
		run  func(context.Context) error
	}{
		"list": {0, t.list}, "get": {1, t.get}, "set": {2, t.set}, "unset": {1, t.unset}, "path": {0, t.paths},
		"schema": {0, func(context.Context) error { return env.print(settingsSchema()) }},
	}
	action, ok := actions[name]
	if !ok || len(args) != action.args {
		text := "usage: adze config list|get KEY|set KEY VALUE|unset KEY|path|schema"
		if near := spell.Closest(name, slices.Sorted(maps.Keys(actions)), 1); !ok && len(near) > 0 {
			text = fmt.Sprintf("there is no command adze config %s; did you mean %s?", name, near[0])
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

func settingsSchema() string {
	return string(config.Schema(schemaID, "Settings of adze", settings.Keys()))
}

// A setting is a key with its value and where that comes from.
type setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"` // empty for the default
}

// describeSetting returns a key with its value and origin. Secrets are not shown.
func describeSetting(s *config.Settings, k *config.Key) setting {
	v := setting{k.ID(), s.JSON(k.ID()), s.Origin(k.ID())}
	switch {
	case (k.Accepted == secretValue || strings.HasSuffix(k.ID(), "_HEADERS")) && v.Origin != "":
		v.Value = json.RawMessage(`"***"`)
	case k.Kind == config.Vars:
		var names []string
		for _, x := range s.Env() {
			names = append(names, x.Name)
		}
		if parts := s.Parts(k.Name); len(names) > 0 && len(parts) > 0 {
			v.Value, v.Origin = json.RawMessage(fmt.Sprintf("%q", strings.Join(names, ", "))), parts[len(parts)-1].File
		}
	}
	return v
}

// secretValue is the Accepted text of keys whose values are not shown.
const secretValue = "a secret"

// list prints what is set, with its origin.
func (t *configTask) list(context.Context) error {
	s := openLeniently(t.env, t.o.project).Settings()
	keys := settings.Keys()
	var list []setting
	for i := range keys {
		if v := describeSetting(s, &keys[i]); v.Origin != "" || t.o.json {
			list = append(list, v)
		}
	}
	if t.o.json {
		return t.env.print(marshal(list))
	}
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "%-34s %s  (%s)\n", v.Key, term.Sanitize(plainValue(v.Value)), term.Sanitize(v.Origin))
	}
	return t.env.print(b.String())
}

// plainValue writes a text without quotes and anything else as JSON.
func plainValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// get prints a value on standard output and says on standard error where it comes from.
func (t *configTask) get(context.Context) error {
	s := openLeniently(t.env, t.o.project).Settings()
	k, err := findKey(s, t.args[0])
	if err != nil {
		return err
	}
	v := describeSetting(s, k)
	if t.o.json {
		return t.env.print(marshal(v))
	}
	t.env.Say(fmt.Sprintf("%s: %s", v.Key, cmp.Or(v.Origin, "the default")))
	return t.env.print(term.Sanitize(plainValue(v.Value)) + "\n")
}

func findKey(s *config.Settings, name string) (*config.Key, error) {
	if k, ok := s.Key(name); ok {
		return &k, nil
	}
	var names []string
	for _, k := range settings.Keys() {
		names = append(names, k.ID())
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return nil, setup.Errorf("there is no setting %s; did you mean %s?", name, near[0])
	}
	return nil, setup.Errorf("there is no setting %s; docs/reference/settings.md lists all settings", name)
}

// set changes a value in a file.
func (t *configTask) set(ctx context.Context) error {
	return t.change(ctx, func(k *config.Key) (json.RawMessage, error) {
		raw, err := k.Encode(t.args[1])
		if err != nil {
			return nil, setup.Errorf("%s cannot be %q, which %v", k.ID(), t.args[1], err)
		}
		return raw, nil
	})
}

func (t *configTask) unset(ctx context.Context) error {
	return t.change(ctx, func(*config.Key) (json.RawMessage, error) { return nil, nil })
}

// change writes the result of value for the key named by the first argument; nil removes the key.
func (t *configTask) change(ctx context.Context, value func(*config.Key) (json.RawMessage, error)) error {
	p, _ := settings.Open(t.env.source(t.o.project)) // ok: what is wrong elsewhere does not matter here
	k, err := findKey(p.Settings(), t.args[0])
	if err != nil {
		return err
	}
	raw, err := value(k)
	if err != nil {
		return err
	}
	if k.Name == "" {
		return setup.Errorf("%s is an environment variable and cannot be set in a file", k.ID())
	}
	to, err := scope.Parse(cmp.Or(t.o.scope, "user"))
	if err != nil {
		return setup.Errorf("--scope: %v", err)
	}
	file, err := p.Set(ctx, t.env.Say, to, k.Name, raw)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	if at := p.Settings().Origin(k.ID()); raw != nil && !strings.HasPrefix(at, file) {
		t.env.Say(fmt.Sprintf("%s is set in %s, but does not count: %s", k.Name, file, why(p, to, file, at)))
	}
	return nil
}

// why explains why a value that was just written is not in force.
func why(p *settings.Project, to scope.Scope, file, origin string) string {
	switch {
	case origin != "":
		return origin + " wins"
	case !p.Trust.Trusted():
		return "the workspace is not trusted; see adze trust"
	case to == scope.Local && p.Unconfirmed(file) != "":
		return "you have not confirmed what else the file holds; adze trust shows it and asks"
	}
	return "settings of that scope are not read"
}

// A listedFile is a file that settings are read from.
type listedFile struct {
	Scope string `json:"scope"`
	Path  string `json:"path"`
	State string `json:"state"`
}

// paths prints where settings are read from, the strongest first.
func (t *configTask) paths(context.Context) error {
	p, _ := settings.Open(t.env.source(t.o.project)) // ok: what is wrong is shown as such
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
		return t.env.print(marshal(list))
	}
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "%-16s %s  (%s)\n", l.Scope, term.Sanitize(l.Path), term.Sanitize(l.State))
	}
	return t.env.print(b.String())
}

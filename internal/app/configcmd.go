package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
	"adze/internal/platform/term"
)

// schemaID names the schema of settings.
const schemaID = "urn:adze:settings"

func configFlags() []flag {
	flags := []flag{
		{name: "scope", value: "SCOPE", doc: "with set and unset, whose settings to change: user, project or local; user if not given",
			set: setChoice(func(o *options) *string { return &o.scope }, "user", "project", "local")},
		{name: "json", doc: "with list, get and path, print JSON", set: setBool(func(o *options) *bool { return &o.json })},
	}
	for _, f := range supportedFlags() {
		if slices.Contains([]string{"settings", "setting-sources", "managed-settings", "trust", "help"}, f.name) {
			flags = append(flags, f)
		}
	}
	return flags
}

// runConfig shows and changes settings.
func runConfig(ctx context.Context, env *Env, o *options) error {
	actions := map[string]struct {
		args int
		run  func(context.Context, *Env, *options) error
	}{
		"list": {0, listConfig}, "get": {1, getConfig}, "set": {2, setConfig}, "unset": {1, unsetConfig}, "path": {0, listPaths}, "schema": {0, printSchema},
	}
	name := "list"
	if len(o.args) > 0 {
		name = o.args[0]
	}
	action, ok := actions[name]
	if !ok || len(o.args)-1 > action.args || action.args > 0 && len(o.args)-1 < action.args {
		text := "write adze config list, get KEY, set KEY VALUE, unset KEY, path or schema"
		if near := spell.Closest(name, sorted(actions), 1); !ok && len(near) > 0 {
			text = fmt.Sprintf("there is no adze config %s; did you mean %s?", name, near[0])
		}
		return setupErrorf("%s", text)
	}
	return action.run(ctx, env, o)
}

func printSchema(_ context.Context, env *Env, _ *options) error { return env.print(settingsSchema()) }

func settingsSchema() string {
	return string(config.Schema(schemaID, "Settings of adze", settingKeys()))
}

// A setting is a key with its value and where that comes from.
type setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"` // empty for the default
}

// describeSetting returns what is known of a key. Secrets are not shown.
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

// secretValue is what is accepted by keys whose values are not shown.
const secretValue = "a secret"

// listConfig prints what is set, with its origin.
func listConfig(_ context.Context, env *Env, o *options) error {
	s, _, _ := loadSettings(env, o) // ok: without a state home the rest still counts
	keys := settingKeys()
	var list []setting
	for i := range keys {
		if v := describeSetting(s, &keys[i]); v.Origin != "" || o.json {
			list = append(list, v)
		}
	}
	if o.json {
		return env.print(marshal(list))
	}
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "%-34s %s  (%s)\n", v.Key, term.Sanitize(plainValue(v.Value)), term.Sanitize(v.Origin))
	}
	return env.print(b.String())
}

// plainValue writes a text without quotes and anything else as JSON.
func plainValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// getConfig prints a value on standard output and says on standard error where it comes from.
func getConfig(_ context.Context, env *Env, o *options) error {
	s, _, _ := loadSettings(env, o) // ok: without a state home the rest still counts
	k, err := findKey(s, o.args[1])
	if err != nil {
		return err
	}
	v := describeSetting(s, k)
	if o.json {
		return env.print(marshal(v))
	}
	env.say(fmt.Sprintf("%s: %s", v.Key, firstOf(v.Origin, "the default")))
	return env.print(term.Sanitize(plainValue(v.Value)) + "\n")
}

func findKey(s *config.Settings, name string) (*config.Key, error) {
	if k, ok := s.Key(name); ok {
		return &k, nil
	}
	var names []string
	for _, k := range settingKeys() {
		names = append(names, k.ID())
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return nil, setupErrorf("there is no setting %s; did you mean %s?", name, near[0])
	}
	return nil, setupErrorf("there is no setting %s; docs/reference/settings.md lists them", name)
}

// setConfig changes a value in a file.
func setConfig(ctx context.Context, env *Env, o *options) error {
	p, _ := findSettings(env, o) // ok: what is wrong elsewhere does not matter here
	k, err := findKey(p.live.Settings(), o.args[1])
	if err != nil {
		return err
	}
	raw, err := k.Encode(o.args[2])
	if err != nil {
		return setupErrorf("%s cannot be %q, which %v", k.ID(), o.args[2], err)
	}
	return changeConfig(ctx, env, o, p, k, raw)
}

func unsetConfig(ctx context.Context, env *Env, o *options) error {
	p, _ := findSettings(env, o) // ok: what is wrong elsewhere does not matter here
	k, err := findKey(p.live.Settings(), o.args[1])
	if err != nil {
		return err
	}
	return changeConfig(ctx, env, o, p, k, nil)
}

func changeConfig(ctx context.Context, env *Env, o *options, p *preferences, k *config.Key, raw json.RawMessage) error {
	if k.Name == "" {
		return setupErrorf("%s is a variable of the environment and cannot stand in a file", k.ID())
	}
	to, err := scope.Parse(firstOf(o.scope, "user"))
	if err != nil {
		return setupErrorf("--scope: %v", err)
	}
	written, err := p.live.Set(ctx, to, k.Name, raw)
	if err != nil {
		return setupErrorf("%v", err)
	}
	p.keepOut(written, to, env.say)
	s := p.live.Settings()
	if at := s.Origin(k.ID()); raw != nil && !strings.HasPrefix(at, written.File) {
		env.say(fmt.Sprintf("%s is set in %s, but does not count: %s", k.Name, written.File, why(p, to, written.File, at)))
	}
	return nil
}

// why says what stands in the way of a value that was just written.
func why(p *preferences, to scope.Scope, file, origin string) string {
	switch {
	case origin != "":
		return origin + " wins"
	case !p.workspace.Trusted():
		return "the workspace is not trusted; see adze trust"
	case to == scope.Local && !p.workspace.owns(file):
		return "git tracks the file, or it is a link, so it is the project's and not yours"
	}
	return "settings of that scope are not read"
}

// A listedFile is a file that settings are read from.
type listedFile struct {
	Scope string `json:"scope"`
	Path  string `json:"path"`
	State string `json:"state"`
}

// listPaths prints where settings are read from, the strongest first.
func listPaths(_ context.Context, env *Env, o *options) error {
	p, _ := findSettings(env, o) // ok: what is wrong is shown as such
	var list []listedFile
	files := p.layout.Files()
	slices.SortStableFunc(files, func(a, b config.File) int { return scope.Compare(b.Scope, a.Scope) })
	for _, f := range slices.Backward(files) {
		l := listedFile{f.Scope.String(), f.Path, "read"}
		if _, err := os.Stat(f.Path); err != nil && f.Text == "" {
			l.State = "missing"
		} else if f.Grant == config.Untrusted {
			l.State = "not trusted: only rules that deny or ask count"
		}
		for _, e := range p.live.Settings().Invalid() {
			if strings.HasPrefix(e.Where, f.Path) {
				l.State = "invalid: " + e.Error()
			}
		}
		list = append(list, l)
	}
	if o.json {
		return env.print(marshal(list))
	}
	var b strings.Builder
	for _, l := range list {
		fmt.Fprintf(&b, "%-16s %s  (%s)\n", l.Scope, term.Sanitize(l.Path), term.Sanitize(l.State))
	}
	return env.print(b.String())
}

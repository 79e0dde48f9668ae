package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/rank"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// A Setting is a key with its value and origin.
type Setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"` // empty for a default
}

// Text returns the value: strings without quotes, anything else as JSON.
func (s Setting) Text() string {
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		return text
	}
	return string(s.Value)
}

// Describe returns a key with its value and origin. Secrets are masked.
func Describe(s *config.Settings, k *config.Key) Setting {
	v := Setting{k.ID(), s.JSON(k.ID()), s.Origin(k.ID())}
	switch {
	case k.Secret && v.Origin != "":
		v.Value = json.RawMessage(`"***"`)
	case k.Name == "mcpServers" && v.Origin != "": // entries hold tokens
		var servers map[string]json.RawMessage
		json.Unmarshal(v.Value, &servers) // ok: adze mcp list reports errors
		v.Value = json.RawMessage(fmt.Sprintf("%q", strings.Join(slices.Sorted(maps.Keys(servers)), ", ")))
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

// Accepted returns the values a setting accepts, if they are few.
func Accepted(k *config.Key) []string {
	if k.Kind == config.Bool {
		return []string{"true", "false"}
	}
	return k.Choices
}

// Find returns the named key, or an error suggesting the closest match.
func Find(s *config.Settings, name string) (*config.Key, error) {
	if k, ok := s.Key(name); ok {
		return &k, nil
	}
	var names []string
	for _, k := range Keys() {
		names = append(names, k.ID())
	}
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		return nil, setup.Errorf("unknown setting %s; did you mean %s?", name, near[0])
	}
	return nil, setup.Errorf("unknown setting %s; adze config list --all lists all settings", name)
}

// Change writes a value, as typed by the user, to a scope's settings; nil removes it. It
// returns the file and, if the value has no effect there, the reason.
func (p *Project) Change(ctx context.Context, say func(string), to scope.Scope, name string, value *string) (file, idle string, err error) {
	k, err := Find(p.Settings(), name)
	if err != nil {
		return "", "", err
	}
	var raw []byte
	if value != nil {
		if raw, err = k.Encode(*value); err != nil {
			return "", "", setup.Errorf("%s: %q %v", k.ID(), *value, k.Wrong(err))
		}
	}
	if k.Name == "" {
		return "", "", setup.Errorf("%s is an environment variable and cannot be set in a file", k.ID())
	}
	if file, err = p.Set(ctx, say, to, k.Name, raw); err != nil {
		return "", "", setup.Errorf("%v", err)
	}
	if at := p.Settings().Origin(k.ID()); raw != nil && !strings.HasPrefix(at, file) {
		idle = fmt.Sprintf("%s is set in %s, but does not count: %s", k.Name, file, p.why(to, file, at))
	}
	return file, idle, nil
}

// why explains why a value that was just written has no effect.
func (p *Project) why(to scope.Scope, file, origin string) string {
	switch {
	case origin != "":
		return origin + " wins"
	case !p.Trust.Trusted():
		return "the workspace is not trusted; see adze trust"
	case to == scope.Local && p.Unconfirmed(file) != "":
		return "you have not confirmed the file's other content; run adze trust to review it"
	}
	return "settings of that scope are not read"
}

package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"adze/internal/domain/plugin"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/net/keyring"
	"adze/internal/settings"
)

// configs is the pluginConfigs setting.
type configs map[string]struct {
	Options map[string]json.RawMessage `json:"options"`
}

// options manages the users' option values for plugins.
type options struct {
	project *settings.Project
	keys    *keyring.Store
	say     func(string)
}

// configured returns the plugin options from the user's settings.
func (v *options) configured() configs {
	var c configs
	json.Unmarshal(v.project.Values().PluginOptions, &c) // ok: missing values are reported
	return c
}

// secretName returns the keyring entry name of a secret option.
func secretName(id plugin.ID, option string) string {
	return keyring.PluginPrefix + id.String() + ":" + option
}

// missing returns a plugin's required options without a value. It does not read secrets.
func (v *options) missing(x *plugin.Plugin, given configs) (list []string) {
	var stored []keyring.Entry
	for _, o := range x.Options {
		if !o.Required || len(o.Default) > 0 {
			continue
		}
		if o.Secret {
			if stored == nil {
				stored, _ = v.keys.List() // ok: counts as missing then
			}
			if !slices.ContainsFunc(stored, func(e keyring.Entry) bool { return e.Name == secretName(x.ID, o.Name) }) {
				list = append(list, o.Name)
			}
			continue
		}
		if value, ok := given[x.ID.String()].Options[o.Name]; !ok || optionText(value) == "" {
			list = append(list, o.Name)
		}
	}
	return list
}

// values returns the values of a plugin's options, or their defaults.
func (v *options) values(ctx context.Context, x *plugin.Plugin, given configs) (map[string]string, error) {
	values := public(x, given)
	for _, o := range x.Options {
		if !o.Secret {
			continue
		}
		if len(o.Default) > 0 {
			values[o.Name] = optionText(o.Default)
		}
		secret, err := v.keys.Get(ctx, secretName(x.ID, o.Name))
		switch {
		case err == nil:
			values[o.Name] = secret
		case !errors.Is(err, keyring.ErrNotFound):
			return nil, fmt.Errorf("the option %s of %s: %w", o.Name, x.ID, err)
		}
	}
	return values, nil
}

// public returns the values of the non-secret options.
func public(x *plugin.Plugin, given configs) map[string]string {
	values := map[string]string{}
	for _, o := range x.Options {
		if o.Secret {
			continue
		}
		if len(o.Default) > 0 {
			values[o.Name] = optionText(o.Default)
		}
		if value, ok := given[x.ID.String()].Options[o.Name]; ok {
			values[o.Name] = optionText(value)
		}
	}
	return values
}

// optionText returns an option's value as passed to programs.
func optionText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(bytes.TrimSpace(raw))
}

// Option returns a plugin's option by name, or an error that lists the existing ones.
func Option(x *plugin.Plugin, name string) (plugin.Option, error) {
	var all []string
	for _, o := range x.Options {
		if o.Name == name {
			return o, nil
		}
		all = append(all, o.Name)
	}
	if len(all) == 0 {
		return plugin.Option{}, fmt.Errorf("%s has no options", x.ID)
	}
	return plugin.Option{}, fmt.Errorf("%s has no option %q; it has %s", x.ID, name, strings.Join(all, ", "))
}

// CheckOption returns an option's value in JSON form, or an error if it is invalid.
func CheckOption(o plugin.Option, text string) (json.RawMessage, error) {
	switch o.Type {
	case "number":
		if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
			return nil, fmt.Errorf("%s must be a number", o.Name)
		}
		return json.RawMessage(text), nil
	case "boolean":
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("%s must be true or false", o.Name)
		}
		return json.RawMessage(text), nil
	case "directory", "file":
		info, err := os.Stat(text)
		switch {
		case !filepath.IsAbs(text):
			return nil, fmt.Errorf("%s must be an absolute path", o.Name)
		case err != nil:
			return nil, fmt.Errorf("%s: %s %s does not exist", o.Name, o.Type, text)
		case info.IsDir() != (o.Type == "directory"):
			return nil, fmt.Errorf("%s: %s is not a %s", o.Name, text, o.Type)
		}
	}
	if o.Required && text == "" {
		return nil, fmt.Errorf("%s needs a value", o.Name)
	}
	return json.Marshal(text)
}

// set stores an option's value: secrets with the credentials, others in the user's settings. An
// empty text deletes it.
func (v *options) set(ctx context.Context, x *plugin.Plugin, o plugin.Option, text string) error {
	if o.Secret {
		if text == "" {
			if _, err := v.keys.Remove(ctx, secretName(x.ID, o.Name)); err != nil && !errors.Is(err, keyring.ErrNotFound) {
				return err
			}
			return nil
		}
		_, err := v.keys.Set(ctx, secretName(x.ID, o.Name), "", text, keyring.Auto)
		return err
	}
	id := x.ID.String()
	given := map[string]json.RawMessage{}
	for name, value := range v.written(id) {
		given[name] = value
	}
	delete(given, o.Name)
	if text != "" {
		raw, err := CheckOption(o, text)
		if err != nil {
			return err
		}
		given[o.Name] = raw
	}
	return v.write(ctx, id, given)
}

// written returns a plugin's options from the user's own settings file.
func (v *options) written(id string) map[string]json.RawMessage {
	for _, part := range v.project.Settings().Parts("pluginConfigs") {
		var c configs
		if part.Scope == scope.User && json.Unmarshal(part.JSON, &c) == nil && c[id].Options != nil {
			return c[id].Options
		}
	}
	return nil
}

// write writes a plugin's options to the user's settings.
func (v *options) write(ctx context.Context, id string, given map[string]json.RawMessage) error {
	var raw json.RawMessage
	if len(given) > 0 {
		var err error
		if raw, err = json.Marshal(map[string]any{"options": given}); err != nil {
			return err
		}
	}
	_, err := v.project.SetMember(ctx, v.say, scope.User, "pluginConfigs", id, raw)
	return err
}

// forget deletes the values of all of a plugin's options.
func (v *options) forget(ctx context.Context, id plugin.ID) error {
	var errs []error
	if v.written(id.String()) != nil {
		errs = append(errs, v.write(ctx, id.String(), nil))
	}
	stored, err := v.keys.List()
	errs = append(errs, err)
	for _, e := range stored {
		if strings.HasPrefix(e.Name, secretName(id, "")) {
			_, err := v.keys.Remove(ctx, e.Name)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

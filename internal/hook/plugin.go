package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Plugin holds the plugin data available to its hooks.
type Plugin struct {
	// Root is its directory, and Data the directory for its own data.
	Root, Data string
	// Check is called before a hook of any type runs: an error prevents it from running. It may
	// be nil.
	Check func() error
	// Options returns the user's option values, by name. It is called before a hook runs; nil
	// means none.
	Options func(context.Context) (map[string]string, error)
}

// check returns the reason the plugin's hooks may not run, or nil. The plugin may be nil.
func (p *Plugin) check() error {
	if p == nil || p.Check == nil {
		return nil
	}
	return p.Check()
}

// optionPlace starts a placeholder for a plugin option in a command.
const optionPlace = "${user_config."

// pluginValues holds the replacements for ${user_config.NAME} and the plugin's directories in a
// command. Nil has none.
type pluginValues struct {
	plugin  *Plugin
	options map[string]string
}

// values returns the values for a command. A referenced option without a value is an error. The
// plugin may be nil.
func (p *Plugin) values(ctx context.Context, command string) (*pluginValues, error) {
	v := &pluginValues{plugin: p}
	if p != nil && p.Options != nil {
		options, err := p.Options(ctx)
		if err != nil {
			return nil, fmt.Errorf("the plugin's options cannot be read: %w", err)
		}
		v.options = options
	}
	for rest := command; ; {
		_, after, found := strings.Cut(rest, optionPlace)
		if !found {
			return v, nil
		}
		name, _, _ := strings.Cut(after, "}")
		if _, ok := v.options[name]; !ok {
			return nil, fmt.Errorf("${user_config.%s} has no value: set the plugin's option %s", name, name)
		}
		rest = after
	}
}

// optionVariable returns the suffix of the variable name for an option.
func optionVariable(name string) string {
	return "PLUGIN_OPTION_" + strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// environment returns the variables for a plugin's hook. Options appear under their declared
// name and in upper case.
func (v *pluginValues) environment() (env []string) {
	if v.plugin == nil {
		return nil
	}
	twin := func(name, value string) {
		env = append(env, "ADZE_"+name+"="+value, "CLAUDE_"+name+"="+value)
	}
	twin("PLUGIN_ROOT", v.plugin.Root)
	twin("PLUGIN_DATA", v.plugin.Data)
	for _, name := range slices.Sorted(maps.Keys(v.options)) {
		variable := optionVariable(name)
		twin(variable, v.options[name])
		if upper := strings.ToUpper(variable); upper != variable {
			twin(upper, v.options[name])
		}
	}
	return env
}

// fill replaces the placeholders in a text. Replacements are not expanded again.
func (v *pluginValues) fill(text string, with func(variable, value string, at int) string) string {
	if v.plugin == nil {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '}')
		if end < 0 || !strings.HasPrefix(text[at:], "${") {
			b.WriteByte(text[at])
			at++
			continue
		}
		variable, value, ok := v.place(text[at+2 : at+end])
		if !ok {
			b.WriteByte(text[at])
			at++
			continue
		}
		b.WriteString(with(variable, value, at))
		at += end + 1
	}
	return b.String()
}

// place returns the variable and the value for the text between ${ and }.
func (v *pluginValues) place(inner string) (variable, value string, ok bool) {
	for _, prefix := range []string{"ADZE_", "CLAUDE_"} {
		switch strings.TrimPrefix(inner, prefix) {
		case inner:
		case "PLUGIN_ROOT":
			return inner, v.plugin.Root, true
		case "PLUGIN_DATA":
			return inner, v.plugin.Data, true
		}
	}
	name, ok := strings.CutPrefix(inner, "user_config.")
	if !ok {
		return "", "", false
	}
	value, ok = v.options[name]
	return "ADZE_" + optionVariable(name), value, ok
}

// words fills in the words of a command that runs without a shell.
func (v *pluginValues) words(words []string) []string {
	filled := make([]string, len(words))
	for i, word := range words {
		filled[i] = v.fill(word, func(_, value string, _ int) string { return value })
	}
	return filled
}

// shell fills in a command for a POSIX shell: with variables in double quotes, so that a shell
// never interprets a value as part of the command, and never splits it.
func (v *pluginValues) shell(command string) string {
	return v.fill(command, func(variable, _ string, at int) string {
		ref := "${" + variable + "}"
		switch quoteAt(command, at) {
		case '"':
			return ref
		case '\'':
			return `'"` + ref + `"'`
		}
		return `"` + ref + `"`
	})
}

// powerShell fills in a command for PowerShell, which does not split variables' values.
func (v *pluginValues) powerShell(command string) string {
	return v.fill(command, func(variable, _ string, _ int) string { return "${env:" + variable + "}" })
}

// quoteAt returns the quote that is open at a position in a command, or 0. A wrong result, as
// in a here-document, changes how a value is quoted, but never makes it part of the command.
func quoteAt(command string, at int) (open byte) {
	for i := 0; i < at; i++ {
		switch c := command[i]; {
		case c == '\\' && open != '\'':
			i++
		case c == open:
			open = 0
		case open == 0 && (c == '"' || c == '\''):
			open = c
		}
	}
	return open
}

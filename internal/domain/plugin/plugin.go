// Package plugin reads plugins, which are directories of skills, commands, agents, hooks,
// servers and output styles, and manages the store of installed ones. It never runs anything
// from a plugin.
package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An ID identifies a plugin: NAME@MARKETPLACE. The marketplace is empty for plugins from
// --plugin-dir.
type ID struct{ Name, Market string }

// String returns the id as written in settings.
func (id ID) String() string {
	if id.Market == "" {
		return id.Name
	}
	return id.Name + "@" + id.Market
}

// ParseID parses an id as written in settings.
func ParseID(text string) (ID, error) {
	name, market, _ := strings.Cut(text, "@")
	id := ID{name, market}
	if err := CheckName(name); err != nil {
		return ID{}, fmt.Errorf("plugin %q: %w", text, err)
	}
	if err := CheckName(market); err != nil {
		return ID{}, fmt.Errorf("plugin %q: the marketplace: %w; write NAME@MARKETPLACE", text, err)
	}
	return id, nil
}

// maxName bounds a plugin or marketplace name, in bytes.
const maxName = 64

// CheckName returns the reason a name is not valid for a plugin or marketplace, or nil. Names
// are used as directory names and in commands, on every operating system.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name is missing")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d characters", maxName)
	}
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (c != '-' && c != '_' && c != '.' || i == 0 || i == len(name)-1) {
			return fmt.Errorf("the name %q must be of letters, digits, '-', '_' and '.', with a letter or digit at both ends", name)
		}
	}
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return fmt.Errorf("the name %q stands for a device on some systems", name)
	}
	if rest := strings.TrimRight(base, "0123456789"); len(base) == 4 && (rest == "com" || rest == "lpt") {
		return fmt.Errorf("the name %q stands for a device on some systems", name)
	}
	return nil
}

// A Problem is the reason part of a plugin or marketplace is not used as intended.
type Problem struct {
	// File is an absolute path, or the URL it was fetched from.
	File string
	// Field is the invalid field; empty for the whole file.
	Field string
	Text  string
}

// Error returns a one-line message for the user.
func (p Problem) Error() string {
	if p.Field != "" {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Field, p.Text)
	}
	return fmt.Sprintf("%s: %s", p.File, p.Text)
}

// A Plugin is a plugin that was read. It is immutable.
type Plugin struct {
	ID
	// Dir is the plugin's absolute directory. Data is the directory for its own data, which
	// survives updates; it may be empty and need not exist.
	Dir, Data string
	Manifest
	Parts
	// Hash covers all files of the plugin. Commit is the commit it was installed from, if any.
	Hash, Commit string
}

// A Manifest is a plugin's description of itself.
type Manifest struct {
	Version, Description, Author, Homepage, Repository, License string
	Keywords                                                    []string
	// Options are values that the user must provide.
	Options []Option
}

// An Option is a value that the user sets for a plugin. The plugin's components see it as
// ${user_config.NAME}, its programs as CLAUDE_PLUGIN_OPTION_NAME.
type Option struct {
	Name, Title, Description string
	Type                     string // string, number, boolean, directory or file
	Default                  json.RawMessage
	Required                 bool
	// If Secret is true, the value is stored with credentials, never in a settings file.
	Secret bool
}

// Parts are a plugin's components. Paths are absolute and inside its directory, checked with
// symlinks resolved.
type Parts struct {
	Skills   []string // skill directories, or single SKILL.md files
	Commands []string // directories or files
	Agents   []string // directories or files
	Styles   []string // directories or files
	// Hooks maps events to hooks, Servers and Languages map names to MCP and language servers,
	// in the format common to plugins. Nil means none.
	Hooks, Servers, Languages json.RawMessage
}

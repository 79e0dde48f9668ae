// Package plugin knows what plugins are: bundles of skills, commands, agents, hooks, servers and output styles in one
// folder. It reads them, and keeps which are installed, from where and in which state. What their parts do, and whether
// they are used, is left to others: nothing of a plugin is run here.
package plugin

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An ID names a plugin: NAME@MARKETPLACE. The marketplace is empty for one that --plugin-dir names.
type ID struct{ Name, Market string }

// String returns the id as settings hold it.
func (id ID) String() string {
	if id.Market == "" {
		return id.Name
	}
	return id.Name + "@" + id.Market
}

// ParseID reads an id as settings hold it.
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

// maxName bounds the name of a plugin or a marketplace, in bytes.
const maxName = 64

// CheckName returns why a name cannot be that of a plugin or a marketplace, or nil. Names are those of folders and parts of
// commands, on every system.
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

// A Problem is why something of a plugin or a marketplace is not used as it was meant.
type Problem struct {
	// File is absolute, or the address of what was fetched.
	File string
	// Field is the field that is wrong; empty if it is the whole file.
	Field string
	Text  string
}

// Error returns the problem as one line for the user.
func (p Problem) Error() string {
	if p.Field != "" {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Field, p.Text)
	}
	return fmt.Sprintf("%s: %s", p.File, p.Text)
}

// A Plugin is one that was read. It does not change.
type Plugin struct {
	ID
	// Dir is its folder, absolute, and Data the one for what it keeps, which an update leaves alone; Data may be empty, and
	// need not exist.
	Dir, Data string
	Manifest
	Parts
	// Hash is that of all its files, and Commit the one it was installed from; Commit may be empty.
	Hash, Commit string
}

// A Manifest is what a plugin says of itself.
type Manifest struct {
	Version, Description, Author, Homepage, Repository, License string
	Keywords                                                    []string
	// Options are values that the user is asked for.
	Options []Option
}

// An Option is a value that the user sets for a plugin. Its parts see it as ${user_config.NAME}, and its programs as
// CLAUDE_PLUGIN_OPTION_NAME.
type Option struct {
	Name, Title, Description string
	Type                     string // string, number, boolean, directory or file
	Default                  json.RawMessage
	Required                 bool
	// Secret says that it is kept where credentials are, and never in a settings file.
	Secret bool
}

// Parts are what a plugin brings. Paths are absolute and inside of its folder, which was checked through all links.
type Parts struct {
	Skills   []string // folders of skills, or the SKILL.md of single ones
	Commands []string // folders or files of commands
	Agents   []string // folders or files
	Styles   []string // folders or files
	// Hooks maps events to hooks, and Servers and Languages names to MCP and language servers, as files of the ecosystem
	// have them; nil if there are none.
	Hooks, Servers, Languages json.RawMessage
}

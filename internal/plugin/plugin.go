// Package plugin knows what plugins are: bundles of skills, commands, agents, hooks, servers and output styles in one
// folder. It reads them, and keeps which are installed, from where and in which state. What their parts do, and whether
// they are used, is left to others: nothing of a plugin is run here.
package plugin

import "encoding/json"

// An ID names a plugin: NAME@MARKETPLACE. The marketplace is empty for one that --plugin-dir names.
type ID struct{ Name, Market string }

// String returns the id as settings hold it.
func (id ID) String() string {
	if id.Market == "" {
		return id.Name
	}
	return id.Name + "@" + id.Market
}

// A Plugin is one that was read. It does not change.
type Plugin struct {
	ID
	// Dir is its folder, absolute, and Data the one for what it keeps, which an update leaves alone.
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
	Skills   []string // folders of skills
	Commands []string // folders or files of commands
	Agents   []string // folders or files
	Styles   []string // folders or files
	// Hooks maps events to hooks, and Servers and Languages names to MCP and language servers, as files of the ecosystem
	// have them; nil if there are none.
	Hooks, Servers, Languages json.RawMessage
}

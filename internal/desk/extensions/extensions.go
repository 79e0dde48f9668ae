// Package extensions holds the commands for what the user has added to the program: agents, skills, hooks, MCP servers and
// plugins. They are built in like those of package desk, which knows nothing of them.
package extensions

import "adze/internal/desk"

// Sections returns the commands, in the section of /help where they belong.
func Sections() []desk.Section {
	return []desk.Section{{Name: "Extensions", Commands: []desk.Command{
		agentsCommand(),
		skillsCommand(),
		hooksCommand(),
		mcpCommand(),
		ideCommand(),
		pluginCommand(),
		reloadPluginsCommand(),
	}}}
}

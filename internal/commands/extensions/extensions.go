// Package extensions implements the built-in commands for agents, skills, hooks, MCP servers
// and plugins.
package extensions

import "adze/internal/commands"

// Sections returns the commands in their /help section.
func Sections() []commands.Section {
	return []commands.Section{{Name: "Extensions", Commands: []commands.Command{
		agentsCommand(),
		skillsCommand(),
		hooksCommand(),
		mcpCommand(),
		ideCommand(),
		pluginCommand(),
		reloadPluginsCommand(),
	}}}
}

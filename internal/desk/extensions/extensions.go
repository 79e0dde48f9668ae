// Package extensions implements the built-in commands for agents, skills, hooks, MCP servers
// and plugins.
package extensions

import "adze/internal/desk"

// Sections returns the commands in their /help section.
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

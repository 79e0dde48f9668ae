// Package about holds the commands that tell the user about the program and what it has done: what was used, what is
// stored, who was contacted, what is new. They are built in like those of package desk, which knows nothing of them.
package about

import (
	"adze/internal/desk"
)

// A Config is what the commands need besides a desk.
type Config struct{}

// Sections returns the commands, in the sections of /help where they belong.
func Sections(c Config) []desk.Section {
	return []desk.Section{
		{Name: "Program", Commands: []desk.Command{
			statsCommand(),
			privacyCommand(),
		}},
	}
}

// Package about implements the built-in commands that report on the program and its activity:
// usage, stored data, contacted hosts, release notes.
package about

import (
	"context"

	"adze/internal/commands"
	"adze/internal/session/archive"
)

// Config configures the commands.
type Config struct {
	// Variables returns the environment variables that the program reads. Inherit copies an
	// original's files other than the transcript to a fork. Both may be nil.
	Variables func() []Variable
	Inherit   func(ctx context.Context, from *archive.Info, fork string) error
	// Feedback returns the address of the feedback page, or "". It may be nil.
	Feedback func() string
	// StatusLine runs the user's status line command.
	StatusLine StatusLine
}

// Sections returns the commands in their /help sections.
func Sections(c Config) []commands.Section {
	return []commands.Section{
		{Name: "Conversation", Commands: []commands.Command{
			branchCommand(c.Inherit),
			tagCommand(),
		}},
		{Name: "Context", Commands: []commands.Command{filesCommand(), toolsCommand()}},
		{Name: "Permissions", Commands: []commands.Command{sandboxCommand()}},
		{Name: "Program", Commands: []commands.Command{
			usageCommand(),
			statsCommand(),
			insightsCommand(),
			privacyCommand(),
			envCommand(c.Variables),
			releaseNotesCommand(),
			heapdumpCommand(),
			debugToolCallCommand(),
			issueCommand(),
			feedbackCommand(c.Feedback),
			onboardingCommand(),
			statuslineCommand(c.StatusLine),
		}},
	}
}

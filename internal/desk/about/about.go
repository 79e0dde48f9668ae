// Package about holds the commands that tell the user about the program and what it has done: what was used, what is
// stored, who was contacted, what is new. They are built in like those of package desk, which knows nothing of them.
package about

import (
	"context"

	"adze/internal/desk"
	"adze/internal/session/archive"
)

// A Config is what the commands need besides a desk.
type Config struct {
	// Variables returns the environment variables that the program reads, and Inherit gives a fork what its original has
	// beside the transcript. Both may be nil.
	Variables func() []Variable
	Inherit   func(ctx context.Context, from *archive.Info, fork string) error
	// Feedback returns the address of the page for feedback, or "". It may be nil.
	Feedback func() string
	// StatusLine makes the user's status line.
	StatusLine StatusLine
}

// Sections returns the commands, in the sections of /help where they belong.
func Sections(c Config) []desk.Section {
	return []desk.Section{
		{Name: "Conversation", Commands: []desk.Command{
			branchCommand(c.Inherit),
			tagCommand(),
		}},
		{Name: "Context", Commands: []desk.Command{filesCommand(), toolsCommand()}},
		{Name: "Permissions", Commands: []desk.Command{sandboxCommand()}},
		{Name: "Program", Commands: []desk.Command{
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

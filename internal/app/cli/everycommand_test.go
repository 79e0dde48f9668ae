package cli

import (
	"slices"
	"time"

	"adze/internal/app/terminal"
	"adze/internal/commands"
	program "adze/internal/commands/about"
	"adze/internal/commands/display"
	added "adze/internal/commands/extensions"
	"adze/internal/commands/memory"
	"adze/internal/commands/rules"
	"adze/internal/commands/schedule"
	"adze/internal/feature/lsp"
	"adze/internal/feature/tasks"
	"adze/internal/feature/workflows"
	"adze/internal/feature/worktrees"
)

// everyCommand returns a registry with every built-in command.
func everyCommand() *commands.Registry {
	return commands.New(commands.Config{Terminal: true, Env: commands.Env{Keys: terminal.OpenBindings("", "", time.Now).Commands(), Sections: slices.Concat(program.Sections(program.Config{}), added.Sections(), display.Sections(display.Config{}), rules.Sections(), memory.Sections(), schedule.Sections(), worktrees.Sections(nil, nil), (*tasks.Lists)(nil).Sections(), (*lsp.Diagnostics)(nil).Sections(), (*workflows.Workflows)(nil).Sections())}})
}

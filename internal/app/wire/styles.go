package wire

import (
	"context"

	"adze/internal/commands"
	"adze/internal/domain/style"
	"adze/internal/feature/styles"
)

func (w *Workspace) styles() *styles.Chooser {
	return &styles.Chooser{Project: w.Project, Language: w.language, Say: w.Say, Plugins: func() []style.Root { return w.earlyPlugins().Styles() }}
}

// styleCommands gives commands access to output styles.
func (c *Conversation) styleCommands() commands.Styles {
	all := c.ws.styles()
	return commands.Styles{
		All: all.All, Current: func() string { return c.prompt.style },
		Choose: func(ctx context.Context, name string) (string, error) {
			return all.Choose(ctx, name, c.prompt.style, func(path string) string { return shortPath(c.ws.Dir, c.ws.Project.User, path) })
		},
	}
}

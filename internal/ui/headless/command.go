package headless

import (
	"context"

	"adze/internal/commands"
	"adze/internal/session"
	"adze/internal/ui/hostapi"
)

// commands returns the commands that can be sent instead of a prompt.
func (f *Front) commands() []commands.Command {
	if f.cfg.Commands == nil {
		return nil
	}
	return f.cfg.Commands.Commands()
}

// interpret is [hostapi.Interpret]; without commands everything is a prompt.
func (f *Front) interpret(ctx context.Context, p session.Prompt) (session.Prompt, session.Op) {
	if f.cfg.Commands == nil {
		return p, nil
	}
	return hostapi.Interpret(ctx, f.cfg.Commands, p)
}

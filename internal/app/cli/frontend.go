package cli

import (
	"context"
	"errors"

	"adze/internal/app/cli/auth"
	"adze/internal/app/terminal"
	"adze/internal/settings"
	"adze/internal/ui/console"
	"adze/internal/ui/draw"
	"adze/internal/ui/tui/dialog"
	"adze/internal/ui/tui/prelude"
)

// seat returns the front end selection for the user of a conversation.
func (o *runOptions) seat(env *Env, p *settings.Project) terminal.FrontEnd {
	return terminal.FrontEnd{
		Plain: o.plain, Setting: p.Values().Display.UI, Theme: p.Values().Display.Theme,
		In: env.Stdin, Out: env.Stdout, Size: env.size, Keys: env.raw, Getenv: env.Getenv,
	}
}

// dialog returns a function that shows dialogs, or nil if the terminal or the user requires
// lines. Its error is [console.ErrNoDialog] if no dialog was shown. Other text typed in the
// meantime is kept for the conversation.
func (env *Env) dialog(ctx context.Context, s terminal.FrontEnd) func(q console.Choice) (int, error) {
	if !env.StdinTerminal || !env.StdoutTerminal || !s.Asks() {
		return nil
	}
	return func(q console.Choice) (int, error) {
		chosen, typed, err := s.Ask(ctx, dialog.Simple{Text: q.Question, Answers: q.Answers, Marked: q.Marked, Letters: q.Letters, Leaving: q.Leaving})
		if env.messenger != nil {
			env.messenger.typed = append(env.messenger.typed, typed...)
		}
		return chosen, dialogError(err)
	}
}

// dialogError maps a dialog's error for commands.
func dialogError(err error) error {
	switch {
	case errors.Is(err, terminal.ErrKeys):
		return console.ErrNoDialog
	case errors.Is(err, prelude.ErrInterrupted):
		return answered(auth.ErrInterrupted)
	}
	return err
}

// repainter returns a function that rebuilds the palette when the theme has changed, keeping
// its links.
func repainter(now draw.Palette, theme func() string, getenv func(string) string) func() (draw.Palette, bool) {
	last := theme()
	return func() (draw.Palette, bool) {
		name := theme()
		if name == last {
			return now, false
		}
		last, now = name, now.In(draw.PaletteFor(true, name, getenv))
		return now, true
	}
}

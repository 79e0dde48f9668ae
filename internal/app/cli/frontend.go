package cli

import (
	"context"
	"errors"

	"adze/internal/app/console"
	"adze/internal/app/login"
	"adze/internal/app/seat"
	"adze/internal/app/settings"
	"adze/internal/ui/draw"
	"adze/internal/ui/tui/dialog"
	"adze/internal/ui/tui/prelude"
)

// seat returns where the user of a conversation sits.
func (o *runOptions) seat(env *Env, p *settings.Project) seat.Seat {
	return seat.Seat{
		Plain: o.plain, Setting: p.Settings().Text("ui"), Theme: p.Settings().Text("theme"),
		In: env.Stdin, Out: env.Stdout, Size: env.size, Keys: env.raw, Getenv: env.Getenv,
	}
}

// dialog returns a function that asks questions with keys, or nil if the terminal or the user wants lines. Its error is
// [console.ErrNoDialog] if nothing was asked. Text that is typed and not meant for the question is kept for the conversation.
func (env *Env) dialog(ctx context.Context, s seat.Seat) func(q console.Choice) (int, error) {
	if !env.StdinTerminal || !env.StdoutTerminal || !s.Asks() {
		return nil
	}
	return func(q console.Choice) (int, error) {
		chosen, typed, err := s.Ask(ctx, dialog.Simple{Text: q.Question, Answers: q.Answers, Marked: q.Marked, Letters: q.Letters, Leaving: q.Leaving})
		if env.voice != nil {
			env.voice.typed = append(env.voice.typed, typed...)
		}
		return chosen, dialogError(err)
	}
}

// dialogError returns the error of a dialog as commands know it.
func dialogError(err error) error {
	switch {
	case errors.Is(err, seat.ErrKeys):
		return console.ErrNoDialog
	case errors.Is(err, prelude.ErrInterrupted):
		return answered(login.ErrInterrupted)
	}
	return err
}

// repainter returns what makes a palette with the links of another one when the theme has changed.
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

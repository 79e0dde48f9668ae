package cli

import (
	"context"
	"errors"

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

// dialog returns what asks questions as the front end does, or nil if that asks on lines. It returns which answer was chosen,
// or -1 for none. What is typed and not meant for it is kept for the conversation.
func (o *runOptions) dialog(ctx context.Context, env *Env, p *settings.Project) func(q dialog.Simple) (int, error) {
	s := o.seat(env, p)
	if env.voice == nil || !env.StdinTerminal || !env.StdoutTerminal || !s.Asks() {
		return nil
	}
	return func(q dialog.Simple) (int, error) {
		chosen, typed, err := s.Ask(ctx, q)
		env.voice.typed = append(env.voice.typed, typed...)
		if errors.Is(err, prelude.ErrInterrupted) {
			err = login.ErrInterrupted
		}
		return chosen, err
	}
}

// confirmWith returns what asks for a yes or a no with a dialog, or on a line if that cannot be. No is the answer of who gives
// none.
func (env *Env) confirmWith(ask func(q dialog.Simple) (int, error)) func(question string) (bool, error) {
	return func(question string) (bool, error) {
		chosen, err := ask(dialog.Simple{Text: question, Answers: []string{"Yes", "No"}, Marked: 1, Letters: "yn", Leaving: "no"})
		if errors.Is(err, seat.ErrKeys) {
			lines := env.streams()
			lines.Dialog = nil
			return lines.Confirm(question)
		}
		return chosen == 0, answered(err)
	}
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

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
		chosen, typed, err := s.Ask(ctx, dialog.Simple{Title: q.Title, Body: q.Body, Question: q.Question, Answers: q.Answers, Remarks: q.Remarks, Marked: q.Marked, Letters: q.Letters, Leaving: q.Leaving})
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

// A repainter rebuilds the palette when the theme has changed or the terminal has reported its
// background. It is not safe for concurrent use.
type repainter struct {
	now        draw.Palette
	name       string // current theme
	theme      func() string
	getenv     func(string) string
	background draw.Background
	stale      bool // the background has changed
}

// reply handles the terminal's reply to a query.
func (r *repainter) reply(text string) {
	if b, ok := draw.ReadBackground(text); ok && b != r.background {
		r.background, r.stale = b, true
	}
}

// palette returns the palette, which keeps its links, and reports whether it has changed.
func (r *repainter) palette() (draw.Palette, bool) {
	name := r.theme()
	if name == r.name && !r.stale {
		return r.now, false
	}
	r.name, r.stale, r.now = name, false, r.now.In(draw.PaletteOn(r.background, name, r.getenv))
	return r.now, true
}

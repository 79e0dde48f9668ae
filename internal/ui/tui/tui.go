// Package tui is the front end for a user at a terminal that delivers keys. What is complete is written once, into the
// terminal's own scrollback; below it a few live rows show what goes on, questions, what the user types, and the status. Each
// part of these rows is a component in a package of its own; this package hands them the keys and puts their rows together.
// What is entered is carried out by package talk.
package tui

import (
	"context"
	"io"
	"os"
	"time"

	"adze/internal/platform/term"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
	"adze/internal/ui/talk"
	"adze/internal/ui/tui/attention"
	"adze/internal/ui/tui/popup"
	"adze/internal/ui/tui/transcript"
)

// A Config is what the front end needs.
type Config struct {
	talk.Config
	Terminal
	Palette draw.Palette
	Glyphs  draw.Glyphs
	// Repaint returns the palette if the user has chosen another theme since the last call; it may be nil.
	Repaint func() (p draw.Palette, changed bool)
	// Notify returns what to write to the terminal to notify the user of something; it may be nil.
	Notify func(attention.Cause) string
	// Verbose shows all that commands print.
	Verbose bool
	// Thinking reports whether to show what the model thinks; it may be nil.
	Thinking func() bool
	// Dir is the working directory: paths in it are shown relative to it.
	Dir string
	// Home is the user's home directory; it may be empty.
	Home   string
	Typing talk.Typing
}

// A Terminal is where the user is. In, Out, Width and Height are required.
type Terminal struct {
	// In delivers single keys.
	In  io.Reader
	Out io.Writer
	// Width and Height return the size; 0 means unknown. Changes receives the signals of the terminal, see [term.Changes]; it
	// may be nil. Reflows says that the terminal breaks lines again when it becomes narrower.
	Width, Height func() int
	Changes       <-chan os.Signal
	Reflows       bool
	// Suspend stops the program until the user resumes it; it may be nil. Resume takes the terminal again after something
	// else has stopped the program and it is resumed.
	Suspend, Resume func()
}

// A Front is the front end.
type Front struct {
	*talk.Driver
	cfg      Config
	screen   *screen.Screen
	keyboard *keyboard
	script   *transcript.Transcript
	outbox   outbox
	popup    *popup.Popup    // of the conversation that is open
	ctx      context.Context // of Run, for what is done beside
	asked    inquiry
	escaped  time.Time // when Esc was pressed
	resumed  time.Time // when the program was suspended last and resumed; zero once the signal of that has come
	full     *full     // what takes the whole terminal; may be nil
	chose    *full     // the list from which the user has chosen, until a page is opened; may be nil
	footer   footer
	remarks  remarks
	flipped  bool // the user wants to see what the model thinks if the settings hide it, and the other way round
}

// New returns a front end.
func New(cfg Config) *Front {
	cfg.Width, cfg.Height = known(cfg.Width, 80), known(cfg.Height, 24)
	f := &Front{cfg: cfg, keyboard: newKeyboard(cfg.Typing, cfg.Glyphs), Driver: talk.New(cfg.Config)}
	f.screen = screen.New(cfg.Out, func() (int, int) { return cfg.Width(), cfg.Height() }, cfg.Reflows)
	f.script = f.newScript()
	return f
}

// known returns a width or a height, or what is usual if the terminal does not tell.
func known(size func() int, usual int) func() int {
	return func() int {
		if n := size(); n > 0 {
			return n
		}
		return usual
	}
}

// Run runs conversations until the user leaves or ctx is done.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer view{f}.Yield()
	f.ctx = ctx
	go f.read(ctx)
	go f.signals(ctx)
	return f.Driver.Run(ctx, view{f})
}

// signals handles what the terminal tells beside the keys.
func (f *Front) signals(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case s := <-f.cfg.Changes:
			f.Post(ctx, func(context.Context) { f.changed(s) })
		case <-ctx.Done():
		}
	}
}

// afterResume is how long after the user has resumed the program the signal that did so may arrive. It is one: the next says
// that the program was stopped again, however soon.
const afterResume = 500 * time.Millisecond

// changed handles a signal of the terminal. The next frame fits its size.
func (f *Front) changed(s os.Signal) {
	if !term.Resumes(s) {
		return
	}
	known := time.Since(f.resumed) <= afterResume
	f.resumed = time.Time{}
	if !known {
		f.cfg.Resume()
		f.screen.Forget()
		askers{f}.disturb()
	}
}

// repaint takes over the colours that the user has chosen. What is complete stays as it was written.
func (f *Front) repaint() {
	if f.cfg.Repaint == nil {
		return
	}
	if p, changed := f.cfg.Repaint(); changed {
		f.cfg.Palette = p
	}
}

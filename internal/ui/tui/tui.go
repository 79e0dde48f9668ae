// Package tui is the full terminal front end. Completed output is written once, to the
// terminal's own scrollback; below it, a few live rows show the current activity, questions,
// the composer and the status. Each part of these rows is a component in its own package; this
// package routes keys to them and combines their rows. Package controller handles the entered text.
package tui

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"

	"adze/internal/platform/term"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen"
	"adze/internal/ui/tui/attention"
	"adze/internal/ui/tui/popup"
	"adze/internal/ui/tui/transcript"
)

// Config configures a Front.
type Config struct {
	controller.Config
	Terminal
	Palette draw.Palette
	Glyphs  draw.Glyphs
	// Repaint returns the palette if it has changed since the last call, with the theme or the
	// terminal's background; it may be nil.
	Repaint func() (p draw.Palette, changed bool)
	// Reply is called with the terminal's replies to queries, before Repaint; it may be nil.
	Reply func(text string)
	// Notify returns the sequence to write to the terminal to notify the user; it may be nil.
	Notify func(attention.Cause) string
	// Verbose shows all command output.
	Verbose bool
	// Thinking reports whether to show the model's thinking; it may be nil.
	Thinking func() bool
	// Motion reports whether a glyph moves while something runs; it may be nil.
	Motion func() bool
	// Dir is the working directory. Paths in it are shown relative to it.
	Dir string
	// Home is the user's home directory; it may be empty.
	Home   string
	Typing controller.InputConfig
	// Now is the clock for elapsed times; nil means [time.Now].
	Now func() time.Time
}

// A Terminal is the user's terminal. In, Out, Width and Height are required.
type Terminal struct {
	// In delivers single keys.
	In  io.Reader
	Out io.Writer
	// Width and Height return the size; 0 means unknown. Changes receives the signals of the
	// terminal, see [term.Changes]; it may be nil. Reflows is what it does with lines when it
	// becomes narrower.
	Width, Height func() int
	Changes       <-chan os.Signal
	Reflows       term.Reflow
	// Suspend stops the program until the user resumes it; it may be nil. Resume reclaims the
	// terminal after the program was stopped externally and resumed.
	Suspend, Resume func()
}

// A Front is the front end.
type Front struct {
	*controller.Driver
	cfg      Config
	screen   *screen.Screen
	keyboard *keyboard
	script   *transcript.Transcript
	outbox   *outbox
	popup    *popup.Popup // popup of the open conversation
	pages    *pageView
	asked    *questionView
	remarks  *remarks
	footer   footer
	escaped  time.Time              // time of the last Esc
	resumed  time.Time              // time of the last resume from suspension; zero once its signal has arrived
	moves    *controller.Timer      // fires when the glyph moves next; nil if it does not
	early    atomic.Pointer[string] // reply of the terminal before the conversation was opened; may be nil
	flipped  bool                   // inverts the setting for showing thinking
}

// New returns a front end.
func New(cfg Config) *Front {
	cfg.Width, cfg.Height = known(cfg.Width, 80), known(cfg.Height, 24)
	f := &Front{cfg: cfg, keyboard: newKeyboard(cfg), Driver: controller.New(cfg.Config)}
	f.screen = screen.New(cfg.Out, func() (int, int) { return cfg.Width(), cfg.Height() }, cfg.Reflows)
	f.script = f.newScript()
	f.outbox = &outbox{driver: f.Driver, keyboard: f.keyboard, script: f.script}
	f.pages = &pageView{driver: f.Driver, cfg: &f.cfg, screen: f.screen, keyboard: f.keyboard, script: f.script, suspend: f.suspend}
	f.asked = &questionView{driver: f.Driver, cfg: &f.cfg, screen: f.screen, keyboard: f.keyboard, script: f.script, outbox: f.outbox}
	f.remarks = &remarks{driver: f.Driver, keyboard: f.keyboard, outbox: f.outbox, script: f.script, watch: &f.footer.watch}
	return f
}

// known returns size with a default for an unknown value.
func known(size func() int, usual int) func() int {
	return func() int {
		if n := size(); n > 0 {
			return n
		}
		return usual
	}
}

// Run runs conversations until the user quits or ctx is done.
func (f *Front) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.Yield()
	go f.read(ctx)
	go f.signals(ctx)
	return f.Driver.Run(ctx, f)
}

// signals handles signals from the terminal.
func (f *Front) signals(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case s := <-f.cfg.Changes:
			f.Post(ctx, func(context.Context) { f.changed(s) })
		case <-ctx.Done():
		}
	}
}

// afterResume is how long after the user has resumed the program its SIGCONT may arrive. Only
// one signal is expected: the next one means that the program was stopped again, however soon.
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
		f.asked.disturb()
	}
}

// repaint applies a theme change. Completed output keeps its colors.
func (f *Front) repaint() {
	if f.cfg.Repaint == nil {
		return
	}
	if text := f.early.Swap(nil); text != nil && f.cfg.Reply != nil {
		f.cfg.Reply(*text)
	}
	if p, changed := f.cfg.Repaint(); changed {
		f.cfg.Palette = p
	}
}
